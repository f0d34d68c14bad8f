// The lock: one cell, followed through the stages.
#include "app/document/inspected.h"
#include "app/document/interaction.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "core/picture/shown_matrix.h"
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

// ---- chips

class ChipTest : public LockTest {
protected:
    ImVec2 chip(int token) {
        ImGuiWindow* in = find_window("attnscope");
        const ImGuiID id = ImHashData(&token, sizeof token, ImHashStr("sentence", 0, in->ID));
        return area_of(in, ImHashStr("chip", 0, id)).GetCenter();
    }
    std::optional<InspectedCell> inspected() { return inspected_cell(document(), interaction()); }
    const Stage* stage(const char* name) { return document().trace()->find(*find_stage_key(name)); }
    int largest_key(int query) {
        int key = 0;
        stage("weights")->buffer.row(0, query).maxCoeff(&key);
        return key;
    }
};

TEST_F(ChipTest, AClickLocksItsStrongestKeyAndASecondUnlocks) {
    for (const int query : {0, 5, 7}) {
        click(chip(query));
        EXPECT_EQ(locked(), (Cell{query, largest_key(query)}));
        EXPECT_EQ(document().presentation().stage, "weights"_stage);
        click(chip(query));
        EXPECT_EQ(locked(), std::nullopt);
    }
}

TEST_F(ChipTest, TheStageInFocusStays) {
    for (const char* name : {"query", "context", "mask", "embedding"}) {
        document().change([&](Session& s) { s.presentation.focus(*find_stage_key(name)); });
        settle();
        press(Key::escape);
        click(chip(3));
        move({2, 2});
        EXPECT_EQ(document().presentation().stage, *find_stage_key(name));
        ASSERT_TRUE(inspected()) << name;
        EXPECT_EQ(inspected()->stage, stage(std::string_view(name) == "mask" ? "mask" : "weights")) << name;
        EXPECT_EQ(inspected()->cell, (Cell{3, largest_key(3)})) << name;
    }
}

TEST_F(ChipTest, WithShiftItIsTheKeyOfTheLockedQuery) {
    click(chip(2));
    ImGui::GetIO().KeyShift = true;
    const std::optional<InspectedCell> of_key =
        cell_of_token(*document().trace(), document().presentation(), {6, true});
    ImGui::GetIO().KeyShift = false;
    ASSERT_TRUE(of_key);
    EXPECT_EQ(of_key->cell, (Cell{2, 6}));
    press(Key::escape);
    int query = 0;
    stage("weights")->buffer.column(0, 6).maxCoeff(&query);
    EXPECT_EQ(cell_of_token(*document().trace(), document().presentation(), {6, true})->cell,
              (Cell{query, 6}));
}

TEST_F(ChipTest, HoveringItFillsTheInspectorAndLeavesTheLock) {
    click(cell_place(2, 4));
    move(chip(5));
    ASSERT_TRUE(inspected());
    EXPECT_EQ(inspected()->cell, (Cell{5, largest_key(5)}));
    EXPECT_EQ(locked(), (Cell{2, 4}));
    move({2, 2});
    EXPECT_EQ(inspected()->cell, (Cell{2, 4}));
}

TEST_F(ChipTest, TheLockStaysWhileThePointerPasses) {
    click(cell_place(2, 4));
    for (int i = 0; i < 8; ++i) {
        move(cell_place(i, 7 - i));
        ASSERT_EQ(interaction().hovered->cell, (Cell{i, 7 - i}));
        EXPECT_EQ(inspected()->cell, (Cell{2, 4}));
    }
    press(Key::escape);
    move(cell_place(6, 1));
    EXPECT_EQ(inspected()->cell, (Cell{6, 1}));
}

/// In every example, for every stage in focus and every choice of head, a chip stands for the largest number
/// of the row that is shown.
TEST(CellOfTokenTest, IsTheLargestOfItsRowInEveryExample) {
    int cells = 0;
    for (const std::string& example : example_names()) {
        const Session session = load_example(example);
        const Trace trace = evaluate(session.experiment);
        for (const StageRecord& record : trace.records)
            for (const HeadChoice head : {HeadChoice{}, HeadChoice{HeadChoice::Kind::mean}}) {
                Presentation p;
                p.stage = record.stage->key();
                p.head = head;
                const auto found = cell_of_token(trace, p, {1, false});
                if (!found) continue;
                ++cells;
                const Matrix shown =
                    shown_matrix(*found->stage, head_on_screen(*found->stage, head)).values();
                EXPECT_EQ(found->cell.row, 1);
                for (int key = 0; key < shown.cols(); ++key) {
                    if (!std::isfinite(shown(1, key))) continue;
                    EXPECT_LE(shown(1, key), shown(1, found->cell.column) + 1e-6f)
                        << example << " " << record.stage->name() << " " << key;
                }
            }
    }
    EXPECT_GT(cells, 500);
}

TEST(LockedCellTest, ATokenIsNotAWordOfTheVocabulary) {
    const Trace trace = evaluate(load_example("scaled-dot-product").experiment);
    const Stage &query = *trace.find("query"_stage), &table = *trace.find("table"_stage);
    EXPECT_EQ(same_cell(trace, query, {3, 7}, table), std::nullopt);
    EXPECT_EQ(same_cell(trace, table, {3, 7}, query), std::nullopt);
    EXPECT_EQ(same_cell(trace, table, {3, 7}, table), (Cell{3, 7}));
}

}  // namespace
}  // namespace attnscope
