#include "app/document/document.h"

#include <gtest/gtest.h>

#include "app/document/interaction.h"
#include "app/document/steps.h"
#include "core/graph/stage_table.h"
#include "core/session/comparisons.h"
#include "core/session/examples.h"

namespace attnscope {
namespace {

class DocumentTest : public ::testing::Test {
protected:
    void set(const std::function<void(Experiment&)>& edit, const std::string& gesture = {}) {
        document.change([&](Session& session) { edit(session.experiment); }, gesture);
    }
    void pin(const Experiment& experiment) {
        document.change([&](Session& session) { session.pinned = Pinned{experiment, {}, 1}; });
    }
    void settle() { document.settle(); }

    Document document{Session{}, {}, {}};
};

TEST_F(DocumentTest, IsStaleUntilItsTraceIsThere) {
    EXPECT_TRUE(document.stale());
    settle();
    ASSERT_TRUE(document.trace());
    EXPECT_FALSE(document.stale());
    EXPECT_EQ(document.trace()->experiment, document.experiment());
    set([](Experiment& e) { e.weights.seed = 124; });
    EXPECT_TRUE(document.stale());
    settle();
    EXPECT_FALSE(document.stale());
}

TEST_F(DocumentTest, TheNextUpdateWaitsAfterAChangeOfWhatIsShownAndOnlyThen) {
    EXPECT_FALSE(document.next_update_waits()) << "nothing is shown";
    settle();
    EXPECT_FALSE(document.next_update_waits());
    set([](Experiment& e) { e.weights.seed = 124; });
    EXPECT_TRUE(document.next_update_waits());
    settle();
    EXPECT_FALSE(document.next_update_waits());
    document.change([](Session& session) { session.presentation.mass = 0.7; });
    EXPECT_FALSE(document.next_update_waits()) << "nothing is computed";
}

TEST_F(DocumentTest, ItsComparisonsAreThoseOfTheSessionAsItIs) {
    const auto expected = [&] { return offered_comparisons(document.session()); };
    const std::vector<OfferedComparison> before = document.comparisons();
    EXPECT_EQ(before, expected());
    EXPECT_FALSE(before.empty());
    set([](Experiment& e) { e.weighting.mask = {MaskRule{.kind = MaskForm::causal}}; });
    EXPECT_NE(document.comparisons(), before) << "the mask is causal already";
    EXPECT_EQ(document.comparisons(), expected());
    document.undo();
    EXPECT_EQ(document.comparisons(), before);
    document.open(load_example("bahdanau-alignment"), "");
    EXPECT_EQ(document.comparisons(), expected());
}

TEST_F(DocumentTest, ChangingTheLookAloneComputesNothing) {
    settle();
    const auto before = document.trace();
    document.change([](Session& s) {
        s.presentation.theme = ThemeKind::light;
        s.presentation.stage = "query"_stage;
        s.presentation.locked = Cell{1, 1};
    });
    EXPECT_FALSE(document.busy());
    EXPECT_FALSE(document.stale());
    settle();
    EXPECT_EQ(document.trace(), before);
}

TEST_F(DocumentTest, AnEmptySentenceKeepsTheLastTraceAndIsNotAnError) {
    settle();
    const auto before = document.trace();
    for (const char* nothing : {"", "   ", "\t"}) {
        set([&](Experiment& e) { e.input.text = nothing; });
        settle();
        EXPECT_EQ(document.trace(), before);
        EXPECT_TRUE(document.stale());
        EXPECT_FALSE(document.busy());
        EXPECT_EQ(document.problem(), "");
    }
    set([](Experiment& e) { e.input.text = "back"; });
    settle();
    EXPECT_FALSE(document.stale());
    EXPECT_EQ(document.trace()->rows, std::vector<std::string>{"back"});
}

TEST_F(DocumentTest, WhatIsOnShowIsComputedAgainWhileTheSentenceIsEmpty) {
    settle();
    set([](Experiment& e) { e.attention.heads = 2; });
    settle();
    const auto before = document.trace();
    set([](Experiment& e) { e.input.text = " "; });
    settle();
    document.compute_again();
    settle();
    EXPECT_NE(document.trace(), before);
    EXPECT_EQ(document.trace()->experiment, before->experiment);
}

/// A frame waits for what takes less than a moment: at the first attempt, unless the machine is busy.
TEST_F(DocumentTest, AHeadOfFewCellsIsThereInTheFrameInWhichItIsChosen) {
    document.share_cpu_with_drawing();
    set([](Experiment& e) { e.attention.heads = 2; });
    settle();
    const Buffer& weights = document.trace()->find("weights"_stage)->buffer;
    EXPECT_TRUE(weights.is_omitted(1));
    document.change([](Session& s) { s.presentation.head = {HeadChoice::Kind::one, 1}; });
    document.update();
    EXPECT_FALSE(weights.is_omitted(1));
    EXPECT_FALSE(weights.known_mean());
    document.change([](Session& s) { s.presentation.head = {HeadChoice::Kind::mean}; });
    document.update();
    EXPECT_TRUE(weights.known_mean());
}

TEST_F(DocumentTest, WhatTheOpenViewFindsInATraceIsThereInTheFrameOfTheChange) {
    document.share_cpu_with_drawing();
    settle();
    std::int64_t seed = 0;
    const auto open = [&](ViewKind view) {
        document.change([&](Session& s) { s.presentation.view = view; });
        settle();
        set([&](Experiment& e) { e.weights.seed = ++seed; });
        document.update();
        ASSERT_FALSE(document.stale());
    };
    open(ViewKind::heads);
    EXPECT_EQ(document.survey()->of.trace, document.trace());
    open(ViewKind::lines);
    EXPECT_EQ(document.lines()->of.trace, document.trace());
    pin(document.session().experiment);
    open(ViewKind::compare);
    EXPECT_EQ(document.comparison()->of.b.trace, document.trace());
}

TEST_F(DocumentTest, MeansAreComputedWhenTheyAreChosen) {
    set([](Experiment& e) {
        e.attention.heads = 2;
        e.input.text.clear();
        for (int i = 0; i < 600; ++i) e.input.text += "w ";
    });
    settle();
    const auto trace = document.trace();
    EXPECT_FALSE(trace->find("weights"_stage)->buffer.known_mean());
    document.change([](Session& s) { s.presentation.head = {HeadChoice::Kind::mean}; });
    settle();
    EXPECT_TRUE(trace->find("weights"_stage)->buffer.known_mean());
    EXPECT_EQ(document.trace(), trace) << "nothing is computed again";
}

TEST_F(DocumentTest, PercentilesAreComputedWhenTheyAreChosen) {
    settle();
    const auto trace = document.trace();
    const Buffer& weights = trace->find("weights"_stage)->buffer;
    EXPECT_FALSE(weights.known_percentiles(0));
    document.change([](Session& s) { s.presentation.range = {RangeChoice::Kind::percentile}; });
    settle();
    EXPECT_TRUE(weights.known_percentiles(0));
    EXPECT_EQ(document.trace(), trace) << "nothing is computed again";
}

TEST_F(DocumentTest, TheStepsOfARowAreKept) {
    settle();
    const Stage& weights = *document.trace()->find("weights"_stage);
    const RowStep* first = document.steps_of_row(weights, 0, 1).steps.data();
    EXPECT_EQ(document.steps_of_row(weights, 0, 1).steps.data(), first) << "made again";
    EXPECT_EQ(document.steps_of_row(weights, 0, 2).row, 2);
    document.change([](Session& s) { s.experiment.weighting.temperature = 2; });
    document.settle();
    const Stage& other = *document.trace()->find("weights"_stage);
    EXPECT_EQ(document.steps_of_row(other, 0, 2).weights.front(), double{other.buffer.at(0, 2, 0)});
}

TEST_F(DocumentTest, AProofIsMadeOnceForACellOfATrace) {
    settle();
    const Stage& weights = *document.trace()->find("weights"_stage);
    const ProofBar* row = document.proof(weights, 0, {1, 2}).row.data();
    EXPECT_EQ(document.proof(weights, 0, {1, 2}).row.data(), row) << "made again";
    EXPECT_EQ(document.proof(weights, 0, {1, 2}).value, weights.buffer.at(0, 1, 2));
    EXPECT_EQ(document.proof(weights, 0, {2, 2}).value, weights.buffer.at(0, 2, 2));
    EXPECT_EQ(document.proof(*document.trace()->find("scores"_stage), 0, {2, 2}).value,
              document.trace()->find("scores"_stage)->buffer.at(0, 2, 2));
    set([](Experiment& e) { e.weights.seed = 9; });
    settle();
    const Stage& other = *document.trace()->find("weights"_stage);
    EXPECT_EQ(document.proof(other, 0, {2, 2}).value, other.buffer.at(0, 2, 2));
}

TEST_F(DocumentTest, AProofThatIsUsedIsNotTheOneThatMakesRoom) {
    settle();
    const Stage& weights = *document.trace()->find("weights"_stage);
    const Proof& used = document.proof(weights, 0, {0, 0});
    for (int row = 1; row < 8; ++row) {
        document.proof(weights, 0, {row, 0});
        EXPECT_EQ(&document.proof(weights, 0, {0, 0}), &used) << row;
    }
}

TEST_F(DocumentTest, TheProofsOfAComparisonAreMadeOnce) {
    settle();
    const Stage& weights = *document.trace()->find("weights"_stage);
    const std::array<Cell, 4> cells{{{0, 0}, {0, 1}, {1, 0}, {1, 1}}};
    std::vector<const Proof*> made;
    for (const Cell& cell : cells) made.push_back(&document.proof(weights, 0, cell));
    for (std::size_t i = 0; i < cells.size(); ++i)
        EXPECT_EQ(&document.proof(weights, 0, cells[i]), made[i]) << "the next frame asks again";
    for (std::size_t i = 0; i < cells.size(); ++i)
        EXPECT_EQ(made[i]->value, weights.buffer.at(0, cells[i].row, cells[i].column));
}

TEST_F(DocumentTest, WhatIsStillComparedKeepsItFromBeingStopped) {
    Experiment large;
    large.input.text.clear();
    for (int i = 0; i < 900; ++i) large.input.text += "w" + std::to_string(i) + " ";
    document.change([&](Session& s) { s.experiment = large; });
    settle();
    document.change([](Session& s) {
        s.pinned = Pinned{s.experiment, {}, 1};
        s.presentation.view = ViewKind::compare;
    });
    document.settle();
    document.stop();
    while (!document.stopped()) std::this_thread::yield();
    EXPECT_FALSE(document.comparing());
}

TEST_F(DocumentTest, StartsWithAnEmptySentence) {
    Session empty;
    empty.experiment.input.text.clear();
    Document nothing(empty, {}, {});
    nothing.settle();
    EXPECT_FALSE(nothing.trace());
    EXPECT_TRUE(nothing.stale());
    EXPECT_EQ(nothing.problem(), "");
}

TEST_F(DocumentTest, InvalidUtf8IsAProblemFromTheStart) {
    Session broken;
    broken.experiment.input.text = "one \xFF two";
    Document document_of_bytes(broken, {}, {});
    document_of_bytes.settle();
    EXPECT_NE(document_of_bytes.problem().find("UTF-8"), std::string::npos) << document_of_bytes.problem();
    settle();
    const auto before = document.trace();
    set([](Experiment& e) { e.input.text = "one \xFF two"; });
    settle();
    EXPECT_EQ(document.trace(), before);
    EXPECT_NE(document.problem().find("UTF-8"), std::string::npos) << document.problem();
}

TEST_F(DocumentTest, MaskLengthsThatDoNotFitKeepTheLastPictureAndSayBothShapes) {
    settle();
    const auto before = document.trace();
    ASSERT_EQ(before->rows.size(), 8U);
    set([](Experiment& e) { e.weighting.mask = {{MaskForm::valid, {3, 2, 1}}}; });
    settle();
    EXPECT_EQ(document.trace(), before);
    EXPECT_TRUE(document.stale());
    EXPECT_NE(document.problem().find("3 lengths"), std::string::npos) << document.problem();
    EXPECT_NE(document.problem().find("8 queries"), std::string::npos) << document.problem();
}

TEST_F(DocumentTest, AMaskThatNoLongerFitsTheSentenceKeepsTheLastPicture) {
    set([](Experiment& e) { e.weighting.mask = {{MaskForm::valid, {1, 2, 3, 4, 5, 6, 7, 8}}}; });
    settle();
    ASSERT_EQ(document.problem(), "");
    const auto before = document.trace();
    set([](Experiment& e) { e.input.text += " today"; });
    settle();
    EXPECT_EQ(document.trace(), before);
    EXPECT_NE(document.problem().find("8 lengths"), std::string::npos) << document.problem();
    EXPECT_NE(document.problem().find("9 queries"), std::string::npos) << document.problem();
    document.undo();
    settle();
    EXPECT_EQ(document.problem(), "");
    EXPECT_FALSE(document.stale());
}

TEST_F(DocumentTest, AProblemGoesWithItsExperiment) {
    set([](Experiment& e) { e.weighting.mask = {{MaskForm::valid, {3, 2, 1}}}; });
    settle();
    ASSERT_NE(document.problem(), "");
    document.undo();
    EXPECT_EQ(document.problem(), "");
    settle();
    EXPECT_EQ(document.problem(), "");
    document.redo();
    settle();
    EXPECT_NE(document.problem(), "");
}

TEST_F(DocumentTest, AnOlderErrorIsNotTheCurrentExperiments) {
    set([](Experiment& e) { e.weighting.mask = {{MaskForm::valid, {3, 2, 1}}}; });
    set([](Experiment& e) { e.weighting.mask.clear(); });
    settle();
    EXPECT_EQ(document.problem(), "");
    EXPECT_FALSE(document.stale());
}

TEST_F(DocumentTest, UndoTakesBackTheExperimentTheHeadAndTheStage) {
    set([](Experiment& e) { e.attention.heads = 4; });
    document.change([](Session& s) { s.presentation.head = {HeadChoice::Kind::one, 3}; });
    document.change([](Session& s) { s.presentation.stage = "scores"_stage; });
    document.undo();
    EXPECT_EQ(document.presentation().stage, "weights"_stage);
    document.undo();
    EXPECT_EQ(document.presentation().head, HeadChoice{});
    document.undo();
    EXPECT_EQ(document.experiment().attention.heads, 1);
    EXPECT_FALSE(document.can_undo());
    document.redo();
    document.redo();
    document.redo();
    EXPECT_EQ(document.experiment().attention.heads, 4);
    EXPECT_EQ(document.presentation().head.head, 3);
    EXPECT_EQ(document.presentation().stage, "scores"_stage);
    settle();
    EXPECT_FALSE(document.stale());
}

TEST_F(DocumentTest, ChangingTheLookIsNotAnUndoStep) {
    document.change([](Session& s) {
        s.presentation.theme = ThemeKind::light;
        s.presentation.colormap = ColormapKind::magma;
        s.presentation.range = {RangeChoice::Kind::all};
        s.presentation.locked = Cell{1, 1};
        s.presentation.values = false;
        s.presentation.cell_size = 10;
    });
    EXPECT_FALSE(document.can_undo());
    set([](Experiment& e) { e.weights.seed = 9; });
    document.undo();
    EXPECT_EQ(document.presentation().theme, ThemeKind::light);
    EXPECT_EQ(document.presentation().colormap, ColormapKind::magma);
}

TEST_F(DocumentTest, AGestureIsOneUndoStep) {
    for (int seed = 1; seed <= 30; ++seed) set([&](Experiment& e) { e.weights.seed = seed; }, "drag 1");
    document.undo();
    EXPECT_EQ(document.experiment().weights.seed, Seed(123));
    EXPECT_FALSE(document.can_undo());
}

TEST_F(DocumentTest, AHeadThatIsGoneIsTheLastOne) {
    set([](Experiment& e) { e.attention.heads = 8; });
    document.change([](Session& s) { s.presentation.head = {HeadChoice::Kind::one, 7}; });
    set([](Experiment& e) { e.attention.heads = 2; });
    EXPECT_EQ(document.presentation().head.head, 1);
}

TEST_F(DocumentTest, ClampingAHeadIsNotAStepOfItsOwn) {
    set([](Experiment& e) { e.attention.heads = 8; });
    document.change([](Session& s) { s.presentation.head = {HeadChoice::Kind::one, 7}; });
    set([](Experiment& e) { e.attention.heads = 2; });
    document.change([](Session& s) { s.presentation.theme = ThemeKind::light; });
    document.undo();
    EXPECT_EQ(document.experiment().attention.heads, 8);
    EXPECT_EQ(document.presentation().head.head, 7);
}

TEST_F(DocumentTest, ASessionWithAHeadItLacksOpensWithItsLast) {
    Session session;
    session.experiment.attention.heads = 2;
    session.presentation.head = {HeadChoice::Kind::one, 5};
    EXPECT_EQ(Document(session, {}, {}).presentation().head.head, 1);
    document.open(session, "");
    EXPECT_EQ(document.presentation().head.head, 1);
    EXPECT_FALSE(document.modified());
    document.change([](Session& s) { s.presentation.theme = ThemeKind::light; });
    document.undo();
    EXPECT_EQ(document.experiment(), Experiment{}) << "clamping made a step of its own";
}

TEST_F(DocumentTest, ALockedCellBeyondTheMatrixComesBackWithItsPlace) {
    settle();
    document.change([](Session& s) { s.presentation.locked = Cell{7, 6}; });
    set([](Experiment& e) { e.input.text = "one two three"; });
    settle();
    EXPECT_EQ(locked_cell(document.presentation(), document.trace().get()), std::nullopt);
    document.undo();
    settle();
    EXPECT_EQ(locked_cell(document.presentation(), document.trace().get()), (Cell{7, 6}));
    document.change([](Session& s) { s.presentation.locked = Cell{99, -4}; });
    EXPECT_EQ(locked_cell(document.presentation(), document.trace().get()), std::nullopt);
}

TEST_F(DocumentTest, ALockedCellSurvivesWhatKeepsItsMatrix) {
    settle();
    document.change([](Session& s) { s.presentation.locked = Cell{7, 6}; });
    set([](Experiment& e) { e.weights.seed = 3; });
    settle();
    EXPECT_EQ(document.presentation().locked, (Cell{7, 6}));
}

TEST_F(DocumentTest, UndoOfAStageLeavesItsLockThere) {
    settle();
    document.change([](Session& s) { s.presentation.stage = "query"_stage; });
    document.change([](Session& s) { s.presentation.locked = Cell{2, 15}; });
    document.undo();
    EXPECT_EQ(document.presentation().stage, "weights"_stage);
    EXPECT_EQ(document.presentation().locked_stage(), "query"_stage);
    EXPECT_EQ(locked_cell(document.presentation(), document.trace().get()), std::nullopt);
}

TEST_F(DocumentTest, OpeningIsAnUndoStepAndUnmodified) {
    set([](Experiment& e) { e.input.text = "mine"; }, "type 1");
    Session other;
    other.experiment.input.text = "another";
    document.open(other, "/somewhere/other.json");
    EXPECT_EQ(document.file(), "/somewhere/other.json");
    EXPECT_FALSE(document.modified());
    document.undo();
    EXPECT_EQ(document.experiment().input.text, "mine");
    EXPECT_TRUE(document.modified());
}

TEST_F(DocumentTest, UndoAcrossAnOpeningBringsTheFileBack) {
    document.saved_as("/somewhere/mine.json");
    Session other;
    other.experiment.input.text = "another";
    document.open(other, "/somewhere/other.json");
    set([](Experiment& e) { e.weights.seed = 5; });
    document.undo();
    EXPECT_EQ(document.file(), "/somewhere/other.json");
    EXPECT_FALSE(document.modified());
    document.undo();
    EXPECT_EQ(document.file(), "/somewhere/mine.json") << "saving would write over the other file";
    EXPECT_FALSE(document.modified());
    document.redo();
    EXPECT_EQ(document.file(), "/somewhere/other.json");
}

TEST_F(DocumentTest, UndoAfterSavingKeepsTheFile) {
    set([](Experiment& e) { e.weights.seed = 5; });
    document.saved_as("/somewhere/mine.json");
    document.undo();
    EXPECT_EQ(document.file(), "/somewhere/mine.json");
    EXPECT_TRUE(document.modified());
}

TEST_F(DocumentTest, TypingAfterOpeningIsAStepOfItsOwn) {
    Session other;
    other.experiment.input.text = "another";
    set([](Experiment& e) { e.input.text = "mine"; }, "type 1");
    document.open(other, "");
    set([](Experiment& e) { e.input.text = "another!"; }, "type 1");
    document.undo();
    EXPECT_EQ(document.experiment().input.text, "another");
}

TEST_F(DocumentTest, IsModifiedUntilSaved) {
    EXPECT_FALSE(document.modified());
    set([](Experiment& e) { e.weights.seed = 5; });
    EXPECT_TRUE(document.modified());
    document.saved_as("/somewhere/a.json");
    EXPECT_FALSE(document.modified());
    document.change([](Session& s) { s.presentation.theme = ThemeKind::light; });
    EXPECT_TRUE(document.modified());
}

TEST_F(DocumentTest, IsModifiedWhereItsFileHoldsSomethingElse) {
    Session on_disk;
    on_disk.experiment.weights.seed = 99;
    document.belongs_to("/somewhere/a.json");
    EXPECT_EQ(document.file(), "/somewhere/a.json");
    EXPECT_FALSE(document.modified()) << "nothing is known yet";
    document.file_was_read(on_disk);
    EXPECT_EQ(document.file(), "/somewhere/a.json");
    EXPECT_TRUE(document.modified());
    set([](Experiment& e) { e.weights.seed = 99; });
    EXPECT_FALSE(document.modified());
}

TEST_F(DocumentTest, AFirstFileThatIsReadLateDoesNotConcernAnotherSession) {
    document.belongs_to("/somewhere/a.json");
    document.open(Session{}, "/somewhere/b.json");
    document.file_was_read(std::nullopt);
    EXPECT_EQ(document.file(), "/somewhere/b.json");
    EXPECT_FALSE(document.modified());
    document.undo();
    EXPECT_EQ(document.file(), "") << "a file that cannot be read is none";
}

TEST_F(DocumentTest, WhatIsPinnedHasASlotOfItsOwnAndStaysWhileTheSessionChanges) {
    settle();
    EXPECT_EQ(document.slot(SlotName::live)->trace, document.trace());
    EXPECT_EQ(document.slot(SlotName::pinned), nullptr);
    Experiment other = document.experiment();
    other.input.text += " again";
    pin(other);
    ASSERT_NE(document.slot(SlotName::pinned), nullptr);
    EXPECT_TRUE(document.slot(SlotName::pinned)->stale());
    EXPECT_FALSE(document.stale());
    settle();
    const Slot& pinned = *document.slot(SlotName::pinned);
    ASSERT_TRUE(pinned.trace);
    EXPECT_FALSE(pinned.stale());
    EXPECT_EQ(pinned.trace->experiment, other);
    EXPECT_EQ(document.trace()->experiment, document.experiment());
    EXPECT_TRUE(document.modified()) << "what is pinned is saved";

    const Stage& weights = *pinned.trace->find("weights"_stage);
    EXPECT_EQ(document.proof(weights, 0, {1, 2}, SlotName::pinned).value, weights.buffer.at(0, 1, 2));

    set([](Experiment& e) { e.weights.seed = 7; });
    settle();
    EXPECT_EQ(document.trace()->experiment.weights.seed, Seed(7));
    EXPECT_EQ(pinned.trace->experiment, other);

    document.undo();
    document.undo();
    EXPECT_EQ(document.slot(SlotName::pinned), nullptr) << "pinning is a step of undo";
    EXPECT_EQ(document.comparison(), nullptr);
    document.redo();
    settle();
    EXPECT_EQ(document.slot(SlotName::pinned)->trace->experiment, other);
}

TEST_F(DocumentTest, TheComparisonFollowsWhatIsShown) {
    set([](Experiment& e) { e.attention.heads = 2; });
    settle();
    EXPECT_EQ(document.comparison(), nullptr);
    pin(document.experiment());
    settle();
    ASSERT_TRUE(document.comparison());
    EXPECT_EQ(document.comparison()->first_difference(), nullptr) << "nothing has changed yet";
    set([](Experiment& e) { e.weighting.temperature = 2; });
    settle();
    ASSERT_TRUE(document.comparison()->first_difference());
    EXPECT_EQ(document.comparison()->first_difference()->key, "scaled"_stage);
    EXPECT_EQ(document.comparison()->of.b.trace, document.trace());
    document.change([](Session& s) { s.presentation.focus("context"_stage); });
    settle();
    EXPECT_EQ(document.comparison()->of.key, "context"_stage);
    EXPECT_EQ(document.comparison()->difference->facts.key, "context"_stage);
    document.undo();
    document.change([](Session& s) { s.presentation.head = {HeadChoice::Kind::one, 1}; });
    settle();
    EXPECT_EQ(document.comparison()->first_difference()->key, "query_heads"_stage)
        << "two heads of one trace";
    document.change([](Session& s) { s.pinned.reset(); });
    EXPECT_EQ(document.comparison(), nullptr);
}

TEST_F(DocumentTest, WhatIsWrongWithASlotIsSaidOfItAlone) {
    settle();
    Experiment wrong = document.experiment();
    wrong.input.table_size = -7;
    pin(wrong);
    settle();
    EXPECT_NE(document.slot(SlotName::pinned)->problem, "");
    EXPECT_EQ(document.problem(), "");
    EXPECT_FALSE(document.stale());
    pin(document.experiment());
    EXPECT_EQ(document.slot(SlotName::pinned)->problem, "");
    settle();
    EXPECT_EQ(document.slot(SlotName::pinned)->trace->find("weights"_stage),
              document.trace()->find("weights"_stage))
        << "what is equal is computed once";
}

TEST_F(DocumentTest, ACardThatIsLostLeavesNoSlotATrace) {
    pin(document.experiment());
    settle();
    document.leave_card("the card is lost");
    EXPECT_FALSE(document.slot(SlotName::live)->trace);
    EXPECT_FALSE(document.slot(SlotName::pinned)->trace);
    settle();
    EXPECT_TRUE(document.slot(SlotName::live)->trace);
    EXPECT_TRUE(document.slot(SlotName::pinned)->trace);
}

TEST_F(DocumentTest, TheShownLayerIsOneThatExists) {
    document.change([](Session& s) {
        s.experiment.mechanism = MechanismKind::transformer;
        s.experiment.transformer.layers = 4;
        s.presentation.focus({"weights"_stage, 3});
    });
    EXPECT_EQ(document.presentation().layer(), 3);
    document.change([](Session& s) { s.experiment.transformer.layers = 2; });
    EXPECT_EQ(document.presentation().layer(), 2);
    EXPECT_EQ(document.presentation().stage, (StageKey{"weights"_stage, 2}));
    document.undo();
    EXPECT_EQ(document.presentation().stage, (StageKey{"weights"_stage, 3}));
}

TEST_F(DocumentTest, RopeKeptFromAttentionDoesNotHinderSequenceToSequence) {
    document.change([](Session& s) {
        s.experiment.attention.position = Position::rope;
        s.experiment.input.dim = 6;
        s.experiment.mechanism = MechanismKind::seq2seq;
        s.experiment.attention.heads = 6;
    });
    EXPECT_NO_THROW(check_edit(document.experiment()));
}

}  // namespace
}  // namespace attnscope
