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

/// The steps of a cell of each stage whose role is one of scores or weights; returns their number.
int expect_explained(const Experiment& experiment, const std::string& what) {
    int steps = 0;
    const Trace trace = evaluate(experiment);
    for (const StageRecord& record : trace.records) {
        const Stage& stage = *record.stage;
        const StageRole role = stage.info->role;
        if (role != StageRole::scores && role != StageRole::masked_scores && role != StageRole::weights)
            continue;
        const Proof proof = explain(trace, stage, 0, stage.shape().rows - 1, 0);
        for (const ProofStep& step : proof.steps) {
            EXPECT_FALSE(help_of_step(step.label).empty()) << what << ": " << step.label;
            ++steps;
        }
        if (!proof.terms_title.sum.empty() && role == StageRole::scores && proof.steps.empty()) {
            EXPECT_FALSE(help_of_step(proof.terms_title.sum).empty())
                << what << ": " << proof.terms_title.sum;
            ++steps;
        }
    }
    return steps;
}

TEST(StepHelpTest, EveryStepFromAScoreToAWeightIsExplained) {
    int steps = 0;
    for (const char* example : {"multi-head", "causal", "bahdanau-alignment", "learned-induction"})
        steps += expect_explained(load_example(example).experiment, example);
    for (const auto& [score, score_name] : choices<Score>())
        for (const auto& [normalizer, name] : choices<Normalization>()) {
            if (score == Score::location) continue;  // its sum is that of a projection, W_loc
            Experiment e = load_example("scaled-dot-product").experiment;
            e.attention.score = score;
            e.weighting.normalizer = normalizer;
            e.attention.position = Position::alibi;
            steps += expect_explained(e, std::string(score_name) + ", " + std::string(name));
        }
    EXPECT_GT(steps, 200);
}

TEST(StepHelpTest, AStepIsNotTakenForAnotherThatBeginsAlike) {
    EXPECT_TRUE(help_of_step("nothing").empty());
    EXPECT_TRUE(help_of_step("× A 0.3").empty()) << "it is not the factor of the scores";
    const auto begins = [](std::string_view label, std::string_view help) {
        return help_of_step(label).starts_with(help);
    };
    EXPECT_TRUE(begins("÷ √16", "Divided by √d_k"));
    EXPECT_TRUE(begins("÷ √16 ÷ T 2", "Divided by √d_k"));
    EXPECT_TRUE(begins("÷ √(variance + ε) 1.25", "Divided by the row's standard deviation"));
    EXPECT_TRUE(begins("× 0.3", "Multiplied by the factor of the scores"));
    EXPECT_TRUE(begins("× gain 1 + shift 0", "Multiplied by the layer norm's gain"));
    EXPECT_TRUE(begins("+ b_q 0.3", "The bias"));
    EXPECT_TRUE(begins("+ b cos", "The part of the feature"));
    EXPECT_TRUE(begins("exp", "e to this power: always positive; a difference"));
    EXPECT_TRUE(begins("exp(−x)", "The Gaussian"));
    EXPECT_FALSE(begins("exp( x )", "e to this power: always positive; a difference"));
    EXPECT_TRUE(begins("− row max 13.474", "The row's largest score"));
    EXPECT_TRUE(begins("− column max 3", "The column's largest score"));
    EXPECT_TRUE(begins("− row mean 0.2", "The row's mean"));
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
