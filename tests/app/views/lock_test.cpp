// The lock: one cell, followed through the stages.
#include "app/document/interaction.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "tests/interface.h"

namespace attnscope {
namespace {

class LockTest : public InterfaceTest {
protected:
    std::optional<Cell> locked() { return locked_cell(document().presentation(), document().trace().get()); }
    std::string held_stage() {
        const auto held = held_cell(document().presentation(), document().trace().get());
        return held ? std::string(held->stage->name()) : "";
    }
};

TEST_F(LockTest, StaysWhileStagesChange) {
    click(cell_place(2, 4));
    ASSERT_EQ(locked(), (Cell{2, 4}));
    for (const StageInfo* stage :
         {"scaled"_stage, "scores"_stage, "masked"_stage, "mask"_stage, "weights"_stage}) {
        click(thumbnail(std::string(stage->name)).at(0.5f, 0.5f));
        ASSERT_EQ(document().presentation().stage, stage);
        move({2, 2});
        EXPECT_EQ(locked(), (Cell{2, 4})) << stage->name;
        EXPECT_EQ(held_stage(), stage->name);
    }
    press(Key::left);
    EXPECT_EQ(locked(), (Cell{2, 4})) << stage_name(document().presentation().stage);
}

TEST_F(LockTest, ALackingColumnLeavesItWhereItWasAndTheRowLit) {
    click(cell_place(2, 4));
    click(thumbnail("context").at(0.5f, 6.5f));
    move({2, 2});
    EXPECT_EQ(locked(), std::nullopt) << "no column of context is a key";
    EXPECT_EQ(held_stage(), "weights") << "the inspector holds its proof";
    const Trace& trace = *document().trace();
    const Highlight lit = current_highlight(interaction(), document().presentation(), &trace);
    EXPECT_EQ(lit_row(lit, *trace.find("context"_stage)->info), 2);
    EXPECT_EQ(lit_row(lit, *trace.find("key"_stage)->info), 4);
    press(Key::escape);
    EXPECT_FALSE(document().presentation().locked);
    EXPECT_EQ(held_stage(), "");
}

TEST_F(LockTest, OfAFeatureItGoesThroughTheStagesThatHaveIt) {
    click(thumbnail("query").at(0.5f, 0.5f));
    click(cell_place(3, 7));
    for (const char* stage : {"embedding", "key", "value", "context"}) {
        click(thumbnail(stage).at(0.5f, 0.5f));
        move({2, 2});
        EXPECT_EQ(locked(), (Cell{3, 7})) << stage;
    }
    click(thumbnail("weights").at(0.5f, 0.5f));
    move({2, 2});
    EXPECT_EQ(locked(), std::nullopt);
    EXPECT_EQ(held_stage(), "query");
}

TEST_F(LockTest, ASecondClickUnlocksInEveryLayerOfAStack) {
    document().change([](Session& s) { s.experiment.mechanism = MechanismKind::transformer; });
    settle();
    for (const int layer : {1, 2}) {
        document().change([&](Session& s) { s.presentation.focus({"weights"_stage, layer}); });
        settle();
        click(cell_place(1, 0));
        EXPECT_EQ(locked(), (Cell{1, 0})) << layer;
        click(cell_place(1, 0));
        EXPECT_EQ(locked(), std::nullopt) << layer;
    }
}

TEST_F(LockTest, GoesIntoTheSessionAndBack) {
    click(cell_place(2, 4));
    click(thumbnail("context").at(0.5f, 0.5f));
    const Session session = document().session();
    EXPECT_EQ(session_from_json(to_json(session), "session"), session);
    EXPECT_EQ(session.presentation.locked_stage(), "weights"_stage);
}

TEST(LockedCellTest, ATokenIsNoWordOfTheVocabulary) {
    const Trace trace = evaluate(load_example("scaled-dot-product").experiment);
    const Stage &query = *trace.find("query"_stage), &table = *trace.find("table"_stage);
    EXPECT_EQ(same_cell(trace, query, {3, 7}, table), std::nullopt);
    EXPECT_EQ(same_cell(trace, table, {3, 7}, query), std::nullopt);
    EXPECT_EQ(same_cell(trace, table, {3, 7}, table), (Cell{3, 7}));
}

}  // namespace
}  // namespace attnscope
