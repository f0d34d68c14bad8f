#include "app/document/history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "core/graph/stage_table.h"
#include "core/session/comparisons.h"

namespace attnscope {
namespace {

Session with_seed(std::int64_t seed) {
    Session session;
    session.experiment.weights.seed = seed;
    return session;
}

UndoPoint seed_point(std::int64_t seed) { return undo_point(with_seed(seed)); }

TEST(HistoryTest, UndoAndRedoWalkAlongTheChanges) {
    History history(seed_point(0));
    EXPECT_FALSE(history.can_undo());
    EXPECT_FALSE(history.can_redo());
    history.record(seed_point(1));
    history.record(seed_point(2));
    history.undo();
    EXPECT_EQ(history.present(), seed_point(1));
    history.undo();
    EXPECT_EQ(history.present(), seed_point(0));
    EXPECT_FALSE(history.can_undo());
    history.redo();
    history.redo();
    EXPECT_EQ(history.present(), seed_point(2));
    EXPECT_FALSE(history.can_redo());
}

TEST(HistoryTest, AtItsEndsUndoAndRedoStay) {
    History history(seed_point(7));
    history.undo();
    history.redo();
    EXPECT_EQ(history.present(), seed_point(7));
}

TEST(HistoryTest, AChangeAfterUndoDropsWhatCouldBeRedone) {
    History history(seed_point(0));
    history.record(seed_point(1));
    history.undo();
    history.record(seed_point(2));
    EXPECT_FALSE(history.can_redo());
    history.undo();
    EXPECT_EQ(history.present(), seed_point(0));
}

TEST(HistoryTest, AChangeOfNothingIsNotAStep) {
    History history(seed_point(0));
    history.record(seed_point(0));
    EXPECT_FALSE(history.can_undo());
}

TEST(HistoryTest, AGestureIsOneStep) {
    History history(seed_point(0));
    for (int seed = 1; seed < 50; ++seed) history.record(seed_point(seed), "drag 1");
    EXPECT_EQ(history.present(), seed_point(49));
    history.undo();
    EXPECT_EQ(history.present(), seed_point(0));
    history.redo();
    EXPECT_EQ(history.present(), seed_point(49));
}

TEST(HistoryTest, AnotherGestureIsAnotherStep) {
    History history(seed_point(0));
    history.record(seed_point(1), "drag 1");
    history.record(seed_point(2), "drag 2");
    history.undo();
    EXPECT_EQ(history.present(), seed_point(1));
}

TEST(HistoryTest, AnEndedGestureDoesNotGoOn) {
    History history(seed_point(0));
    history.record(seed_point(1), "drag 1");
    history.end_gesture();
    history.record(seed_point(2), "drag 1");
    history.undo();
    EXPECT_EQ(history.present(), seed_point(1));
    history.record(seed_point(3), "drag 1");
    history.undo();
    EXPECT_EQ(history.present(), seed_point(1));
}

TEST(HistoryTest, AGestureThatComesBackLeavesNoStep) {
    History history(seed_point(0));
    history.record(seed_point(5));
    history.record(seed_point(6), "drag 1");
    history.record(seed_point(5), "drag 1");
    history.undo();
    EXPECT_EQ(history.present(), seed_point(0));
}

TEST(HistoryTest, AGestureThatComesBackAndGoesOnIsOneStep) {
    History history(seed_point(5));
    history.record(seed_point(6), "drag 1");
    history.record(seed_point(5), "drag 1");
    history.record(seed_point(4), "drag 1");
    history.record(seed_point(3), "drag 1");
    history.undo();
    EXPECT_EQ(history.present(), seed_point(5));
    EXPECT_FALSE(history.can_undo());
}

TEST(HistoryTest, KeepsTheNewestSteps) {
    constexpr int k_changes = 5000;
    History history(seed_point(0));
    for (int seed = 1; seed <= k_changes; ++seed) history.record(seed_point(seed));
    EXPECT_EQ(history.present(), seed_point(k_changes));
    int steps = 0;
    for (; history.can_undo(); ++steps) history.undo();
    EXPECT_GE(steps, 500);
    EXPECT_LT(steps, k_changes) << "the history must not grow without bound";
    EXPECT_EQ(history.present(), seed_point(k_changes - steps));
}

TEST(HistoryTest, OfLongTextsKeepsAsManyStepsAsFitInMemory) {
    UndoPoint point = seed_point(0);
    point.experiment.input.text = std::string(std::size_t{60} << 20, 'a');
    History history(point);
    for (int dim = 1; dim <= 6; ++dim) {
        point.experiment.input.dim = dim;
        history.record(point);
    }
    EXPECT_EQ(history.points().size(), 4u);  // 240 MiB of at most 256
    EXPECT_EQ(history.present().experiment.input.dim, 6);
    EXPECT_EQ(history.points().front().experiment.input.dim, 3);

    point.experiment.input.text = std::string(std::size_t{300} << 20, 'a');
    history.record(point);
    EXPECT_EQ(history.points().size(), 1u);
    EXPECT_EQ(history.present(), point);
}

TEST(HistoryTest, UndoCoversTheExperimentTheHeadAndTheStage) {
    Session session;
    session.experiment.attention.heads = 4;
    session.presentation.head = {HeadChoice::Kind::one, 2};
    session.presentation.stage = "query"_stage;
    const UndoPoint point = undo_point(session);
    for (const auto& change : std::initializer_list<void (*)(Session&)>{
             [](Session& s) { s.experiment.input.text = "other"; },
             [](Session& s) { s.presentation.head = {HeadChoice::Kind::mean}; },
             [](Session& s) { s.presentation.stage = "key"_stage; }}) {
        Session changed = session;
        change(changed);
        EXPECT_NE(undo_point(changed), point);
        restore(changed, point);
        EXPECT_EQ(undo_point(changed), point);
    }
}

TEST(HistoryTest, UndoLeavesTheRestOfThePresentation) {
    Session session;
    const UndoPoint point = undo_point(session);
    session.presentation.theme = ThemeKind::light;
    session.presentation.colormap = ColormapKind::magma;
    session.presentation.range = {RangeChoice::Kind::fixed, -1, 1};
    session.presentation.values = false;
    session.presentation.locked = Cell{1, 2};
    session.note = "a note";
    EXPECT_EQ(undo_point(session), point);
    const Session before = session;
    restore(session, point);
    EXPECT_EQ(session, before);
}

TEST(HistoryTest, ALockedCellStaysOneOfItsStage) {
    Session session;
    session.presentation.stage = "query"_stage;
    const UndoPoint query = undo_point(session);
    session.presentation.stage = "weights"_stage;
    session.presentation.locked = Cell{1, 2};
    restore(session, query);
    EXPECT_EQ(session.presentation.locked, (Cell{1, 2}));
    EXPECT_EQ(session.presentation.locked_stage(), "weights"_stage);
}

TEST(HistoryTest, GoesToAnyPointAndKeepsTheOthers) {
    History history(seed_point(0));
    for (int seed = 1; seed <= 9; ++seed) history.record(seed_point(seed));
    EXPECT_EQ(history.points().size(), 10U);
    EXPECT_EQ(history.index(), 9U);
    const std::uint64_t revision = history.revision();
    history.go_to(4);
    EXPECT_EQ(history.present(), seed_point(4));
    EXPECT_EQ(history.points().size(), 10U);
    history.undo();
    history.redo();
    history.redo();
    EXPECT_EQ(history.present(), seed_point(5));
    history.go_to(1000);
    EXPECT_EQ(history.present(), seed_point(9)) << "the last one";
    EXPECT_EQ(history.revision(), revision) << "no point changed";
    history.go_to(0);
    history.record(seed_point(50));
    EXPECT_EQ(history.points().size(), 2U);
    EXPECT_GT(history.revision(), revision);
}

TEST(HistoryTest, GoingToAPointEndsAGesture) {
    History history(seed_point(0));
    history.record(seed_point(1), "drag 1");
    history.go_to(1);
    history.record(seed_point(2), "drag 1");
    EXPECT_EQ(history.points().size(), 3U);
}

TEST(HistoryTest, AReplacedPointIsAnotherRevision) {
    History history(seed_point(0));
    history.record(seed_point(1), "drag 1");
    const std::uint64_t revision = history.revision();
    history.record(seed_point(2), "drag 1");
    EXPECT_EQ(history.points().size(), 2U);
    EXPECT_NE(history.revision(), revision);
}

/// What an edit of the default session changes, in words.
std::string text_of_change(const std::function<void(Session&)>& edit, Session before = {}) {
    Session after = before;
    edit(after);
    return change_text(undo_point(before), undo_point(after));
}

TEST(ChangeTextTest, NamesTheSettingsAsThePanelDoes) {
    EXPECT_EQ(text_of_change([](Session& s) { s.experiment.weights.seed = 7; }), "Seed 123 → 7");
    EXPECT_EQ(text_of_change([](Session& s) { s.experiment.weighting.temperature = 2; }),
              "Temperature 1.0 → 2.0");
    EXPECT_EQ(text_of_change([](Session& s) {
                  s.experiment.weighting.mask = {{MaskForm::causal, {}}};
              }),
              "Mask none → causal");
}

TEST(ChangeTextTest, OfLongValuesSaysTheNewOne) {
    const std::string sentence = "a rather long sentence of many words";
    const std::string text = text_of_change([&](Session& s) { s.experiment.input.text = sentence; });
    EXPECT_TRUE(text.ends_with(": " + sentence)) << text;
}

TEST(ChangeTextTest, SaysFocusPinsAndCustomMatrices) {
    EXPECT_EQ(text_of_change([](Session& s) { s.presentation.focus("scores"_stage); }), "focus: Scores");
    EXPECT_EQ(text_of_change([](Session& s) { s.pinned = pinned(s); }), "pinned A");
    Session held;
    held.pinned = pinned(held);
    EXPECT_EQ(text_of_change([](Session& s) { s.pinned.reset(); }, held), "unpinned A");
    EXPECT_EQ(text_of_change([](Session& s) { s.experiment.weights.set_custom("mask", Matrix::Ones(2, 2)); }),
              "custom mask");
    EXPECT_EQ(text_of_change([](Session&) {}), "settings that are not in use");
}

TEST(ChangeTextTest, OfManyChangesSaysTheFirstThree) {
    const std::string text = text_of_change([](Session& s) {
        s.experiment.weights.seed = 7;
        s.experiment.input.dim = 32;
        s.experiment.attention.heads = 2;
        s.experiment.weighting.temperature = 2;
        s.experiment.weighting.mask = {{MaskForm::causal, {}}};
    });
    EXPECT_TRUE(text.ends_with(" and 2 more")) << text;
    EXPECT_EQ(std::ranges::count(text, ','), 2) << text;
}

}  // namespace
}  // namespace attnscope
