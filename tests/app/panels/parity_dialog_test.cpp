// The dialog that compares the backends.
#include "app/document/parity_run.h"

#include <fstream>

#include "core/gpu/shaders.h"
#include "tests/drawn_sessions.h"
#include "tests/interface.h"
#include "tests/sessions.h"
#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

class ParityDialogTest : public InterfaceTest {
protected:
    void SetUp() override {
        Session session = test::four_heads();
        session.experiment.input.text = "the cat sat on the mat";
        start(session);
    }

    /// The report, once it is on screen.
    std::shared_ptr<const ParityReport> open() {
        workspace->run(*find_action("compute.parity"));
        step();
        EXPECT_TRUE(workspace->parity().running() || workspace->parity().report());
        workspace->parity().wait();
        settle();
        return workspace->parity().report();
    }
    /// The middle of the table's row (from 0) as it stands.
    ImVec2 row_place(std::size_t row, std::size_t rows) {
        const ImGuiWindow* in = find_window("/stages_");
        const float height = in->ContentSize.y / static_cast<float>(rows + 1);
        return {in->Pos.x + 20, in->Pos.y + height * (static_cast<float>(row) + 1.5f)};
    }
    void copy() { click(place_of("CPU and GPU##dialog", {"Copy as text"})); }
};

TEST_F(ParityDialogTest, ComparesWhatIsOpenAndCopiesItAsText) {
    const auto report = open();
    ASSERT_NE(report, nullptr);
    if (!report->problem.empty()) GTEST_SKIP() << report->problem;
    EXPECT_EQ(report->experiment(), document().experiment());
    EXPECT_EQ(report->stages.size(), document().trace()->records.size());
    EXPECT_FALSE(report->card.empty());
    for (const StageDifference& stage : report->stages)
        EXPECT_LT(stage.absolute, 1e-4) << stage.key.stage->name;
    copy();
    EXPECT_EQ(compat::text_bridge().clipboard.get(), parity_text(*report));
    press(Key::escape);
    EXPECT_EQ(interaction().dialog, Dialog::none);
}

TEST_F(ParityDialogTest, AClickOnAStageFocusesItAndLocksTheCellOfItsLargestDifference) {
    const auto report = open();
    ASSERT_NE(report, nullptr);
    if (!report->problem.empty()) GTEST_SKIP() << report->problem;
    std::size_t row = 0;
    while (report->stages[row].key.stage->name != "weights") ++row;
    const StageDifference& weights = report->stages[row];
    click(row_place(row, report->stages.size()));
    EXPECT_EQ(interaction().dialog, Dialog::none);
    EXPECT_EQ(document().presentation().stage, "weights"_stage);
    ASSERT_TRUE(weights.absolute_at) << "sums in another order are hardly equal everywhere";
    EXPECT_EQ(document().presentation().locked,
              (Cell{weights.absolute_at->row, weights.absolute_at->column}));
    EXPECT_EQ(document().presentation().head, (HeadChoice{HeadChoice::Kind::one, weights.absolute_at->head}));
}

TEST_F(ParityDialogTest, ItRunsAgainForAnotherExperimentAndWhenAskedTo) {
    const auto first = open();
    ASSERT_NE(first, nullptr);
    press(Key::escape);
    EXPECT_EQ(open(), first) << "nothing has changed";
    click(place_of("CPU and GPU##dialog", {"Run again"}));
    workspace->parity().wait();
    settle();
    const auto second = workspace->parity().report();
    EXPECT_NE(second, first);
    press(Key::escape);
    document().change([](Session& s) { s.experiment.weights.seed = 77; });
    settle();
    EXPECT_EQ(open()->experiment().weights.seed, Seed(77));
}

TEST_F(ParityDialogTest, ItRunsAgainAfterAShaderWasSaved) {
    const test::TemporaryFolder folder;
    std::ofstream(folder.file("cells.comp")) << built_in_shader_text("cells.comp");
    shaders = ShaderSource(folder.path());
    start(load_example("scaled-dot-product"));
    const auto first = open();
    ASSERT_NE(first, nullptr);
    if (!first->problem.empty()) GTEST_SKIP() << first->problem;
    press(Key::escape);
    EXPECT_EQ(open(), first) << "nothing has changed";
    press(Key::escape);
    std::ofstream(folder.file("rows.comp")) << built_in_shader_text("rows.comp");
    EXPECT_NE(open(), first);
}

TEST_F(ParityDialogTest, WhatOnlyTheProcessorComputesIsSaidInsteadOfATable) {
    start(test::test_session("random-alignment"));
    const auto report = open();
    ASSERT_NE(report, nullptr);
    EXPECT_FALSE(report->problem.empty());
    EXPECT_TRUE(report->stages.empty());
    EXPECT_EQ(find_window("CPU and GPU##dialog")->Active, true);
}

}  // namespace
}  // namespace attnscope
