// The steps of a proof are explained on hover.
#include "app/panels/step_help.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/graph/explain.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "core/session/examples.h"
#include "tests/interface.h"
#include "tests/screen_texts.h"

namespace attnscope {
namespace {

TEST(StepHelpTest, EveryStepFromAScoreToAWeightIsExplained) {
    int steps = 0;
    for (const char* example :
         {"scaled-dot-product", "multi-head", "causal", "bahdanau-alignment", "soft-and-hard"}) {
        const Trace trace = evaluate(load_example(example).experiment);
        for (const StageRecord& record : trace.records) {
            const Stage& stage = *record.stage;
            const StageRole role = stage.info->role;
            if (role != StageRole::scores && role != StageRole::weights) continue;
            const Proof proof = explain(trace, stage, 0, stage.shape().rows - 1, 0);
            for (const ProofStep& step : proof.steps) {
                EXPECT_FALSE(help_of_step(step.label).empty()) << example << ": " << step.label;
                ++steps;
            }
        }
    }
    EXPECT_GT(steps, 20);
    EXPECT_TRUE(help_of_step("nothing").empty());
    EXPECT_NE(help_of_step("− row max 13.474"), help_of_step("− column max 3")) << "each has its own";
}

class StepHelpWindowTest : public InterfaceTest {
protected:
    static bool shows(std::string_view help) {
        std::string all, wanted;
        for (const test::ScreenText& each : test::texts_on_screen()) all += each.text;
        for (const char c : help)
            if (c != ' ') wanted += c;
        return all.find(wanted.substr(0, 12)) != std::string::npos;
    }
};

TEST_F(StepHelpWindowTest, PointingAtALabelExplainsIt) {
    document().change([](Session& s) { s.presentation.lock("weights"_stage, Cell{1, 4}); });
    settle();
    const float left = find_window("/inspector_")->Pos.x;
    int explained = 0;
    for (const char* label : {"q·k", "÷√16", "exp"}) {
        const std::vector<test::ScreenText> texts = test::texts_on_screen();
        const auto found = std::ranges::find_if(
            texts, [&](const test::ScreenText& each) { return each.box.Min.x > left && each.text == label; });
        ASSERT_NE(found, texts.end()) << label;
        std::string spaced = label;
        if (spaced == "q·k") spaced = "q · k";
        if (spaced == "÷√16") spaced = "÷ √16";
        EXPECT_FALSE(shows(help_of_step(spaced))) << label;
        move({found->box.Min.x + 2, (found->box.Min.y + found->box.Max.y) / 2});
        step();
        step();
        EXPECT_TRUE(shows(help_of_step(spaced))) << label;
        move({-10, -10});
        step();
        ++explained;
    }
    EXPECT_EQ(explained, 3);
}

}  // namespace
}  // namespace attnscope
