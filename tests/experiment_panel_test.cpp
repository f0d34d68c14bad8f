// The controls of the experiment, dragged, clicked and typed into.
#include <cctype>
#include <cstdio>

#include "core/attention/masks.h"
#include "tests/interface.h"

namespace attnscope {
namespace {

constexpr Mods k_ctrl{.ctrl = true};
constexpr Mods k_ctrl_shift{.ctrl = true, .shift = true};

class ExperimentPanelTest : public InterfaceTest {};

TEST_F(ExperimentPanelTest, DraggingTheSeedIsOneUndoStep) {
    const Seed before = document().experiment().seed;
    drag(field_of("Seed", {"seed", "drag"}), {60, 0});
    EXPECT_NE(document().experiment().seed, before);
    EXPECT_FALSE(document().stale());
    press(Key::z, k_ctrl);
    EXPECT_EQ(document().experiment().seed, before);
    EXPECT_FALSE(document().can_undo());
    press(Key::z, k_ctrl_shift);
    EXPECT_NE(document().experiment().seed, before);
}

TEST_F(ExperimentPanelTest, TwoDragsAreTwoSteps) {
    const ImVec2 seed = field_of("Seed", {"seed", "drag"});
    drag(seed, {40, 0});
    const Seed after_one = document().experiment().seed;
    drag(seed, {40, 0});
    EXPECT_NE(document().experiment().seed, after_one);
    press(Key::z, k_ctrl);
    EXPECT_EQ(document().experiment().seed, after_one);
}

TEST_F(ExperimentPanelTest, ADragThatComesBackIsNoStep) {
    const ImVec2 seed = field_of("Seed", {"seed", "drag"});
    push({MouseMove{seed.x, seed.y}, MouseButton{.button = 0, .down = true}});
    step_through_input();
    for (const float x : {20.0f, 60.0f, 20.0f, 0.0f}) {
        push({MouseMove{seed.x + x, seed.y}});
        step();
    }
    play({MouseButton{.button = 0, .down = false}});
    EXPECT_EQ(document().experiment(), load_example("scaled-dot-product").experiment);
    EXPECT_FALSE(document().can_undo());
}

TEST_F(ExperimentPanelTest, ASeedIsTypedAfterAClick) {
    click(field_of("Seed", {"seed", "drag"}));
    push(pressing(Key::a, k_ctrl));
    push(typing("18446744073709551615"));
    play(pressing(Key::enter));
    EXPECT_EQ(document().experiment().seed, Seed::parse("18446744073709551615"));
}

TEST_F(ExperimentPanelTest, ASeedThatIsNoneIsANoticeAndChangesNothing) {
    const Session before = document().session();
    click(field_of("Seed", {"seed", "drag"}));
    push(pressing(Key::a, k_ctrl));
    push(typing("soon"));
    play(pressing(Key::enter));
    EXPECT_EQ(document().session(), before);
    EXPECT_TRUE(interaction().notice.problem);
    EXPECT_NE(interaction().notice.text.find("soon"), std::string::npos) << interaction().notice.text;
}

TEST_F(ExperimentPanelTest, DraggingTheHeadsStepsThroughTheDivisors) {
    drag(field_of("Heads", {"number", "drag"}), {40, 0});
    const int heads = document().experiment().heads;
    EXPECT_GT(heads, 1);
    EXPECT_EQ(document().experiment().dim % heads, 0);
    EXPECT_EQ(document().trace()->find("weights")->shape().heads, heads);
    press(Key::z, k_ctrl);
    EXPECT_EQ(document().experiment().heads, 1);
}

TEST_F(ExperimentPanelTest, DraggingTheDimensionKeepsItAMultipleOfTheHeads) {
    document().change([](Session& s) { s.experiment.heads = 4; });
    settle();
    drag(field_of("Dimension", {"number", "drag"}), {37, 0});
    EXPECT_GT(document().experiment().dim, 16);
    EXPECT_EQ(document().experiment().dim % 4, 0);
    EXPECT_EQ(document().problem(), "");
}

TEST_F(ExperimentPanelTest, ThePointerLeavingDoesNotEndADrag) {
    const ImVec2 seed = field_of("Seed", {"seed", "drag"});
    drag(seed, {500, 400});
    EXPECT_NE(document().experiment().seed, Seed(123));
    EXPECT_EQ(document().presentation().stage, load_example("scaled-dot-product").presentation.stage);
}

TEST_F(ExperimentPanelTest, ACausalMaskIsSwitchedOn) {
    click(field_of("Causal", {"on"}));
    ASSERT_EQ(document().experiment().mask, (std::vector<MaskRule>{{"causal", {}}}));
    const Stage& weights = *document().trace()->find("weights");
    EXPECT_EQ(weights.buffer.at(0, 0, 1), 0.0f);
    press(Key::z, k_ctrl);
    EXPECT_TRUE(document().experiment().mask.empty());
}

TEST_F(ExperimentPanelTest, SwitchingAMaskKeepsTheOtherRules) {
    const MaskRule first{"valid", {6}}, second{"valid", {5}}, causal{"causal", {}};
    document().change([&](Session& s) { s.experiment.mask = {first, second}; });
    settle();
    click(field_of("Causal", {"on"}));
    EXPECT_EQ(document().experiment().mask, (std::vector<MaskRule>{causal, first, second}));
    drag(field_of("Valid 2", {"numbers", "drag"}), {-14, 0});
    ASSERT_EQ(document().experiment().mask.size(), 3U);
    EXPECT_EQ(document().experiment().mask[1], first);
    EXPECT_LT(document().experiment().mask[2].arguments[0], 5);
    const MaskRule dragged = document().experiment().mask[2];
    click(field_of("Valid", {"on"}));
    EXPECT_EQ(document().experiment().mask, (std::vector<MaskRule>{causal, dragged}));
}

TEST_F(ExperimentPanelTest, EveryKindOfMaskHasARow) {
    for (const MaskKind& kind : mask_kinds()) {
        std::string label(kind.name);
        label[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(label[0])));
        click(field_of(label, {"on"}));
        ASSERT_EQ(document().experiment().mask.size(), 1U) << label;
        EXPECT_EQ(document().experiment().mask[0].kind, kind.name);
        EXPECT_EQ(document().problem(), "");
        click(field_of(label, {"on"}));
        EXPECT_TRUE(document().experiment().mask.empty());
    }
}

TEST_F(ExperimentPanelTest, TheNumbersOfAMaskAreTyped) {
    click(field_of("Valid", {"on"}));
    click(field_of("Valid", {"numbers", "drag"}));
    push(pressing(Key::a, k_ctrl));
    push(typing("1,2,3,4,5,6,7,8"));
    play(pressing(Key::enter));
    EXPECT_EQ(document().experiment().mask, (std::vector<MaskRule>{{"valid", {1, 2, 3, 4, 5, 6, 7, 8}}}));
}

TEST_F(ExperimentPanelTest, ARightClickResetsASetting) {
    document().change([](Session& s) { s.experiment.temperature = 3; });
    settle();
    click(field_of("Temperature", {"label"}), 1);
    EXPECT_EQ(document().experiment().temperature, 1);
}

TEST_F(ExperimentPanelTest, TheDieRollsASeedAndIsOneStep) {
    click(field_of("Seed", {"die", "⚄"}));
    EXPECT_TRUE(document().can_undo());
    press(Key::z, k_ctrl);
    EXPECT_EQ(document().experiment().seed, Seed(123));
}

using PlacesTest = InterfaceTest;

/// window_test.sh asks this where to click.
TEST_F(PlacesTest, AreWrittenForScripts) {
    const ImVec2 sentence = sentence_field();
    const ImVec2 seed = field_of("Seed", {"seed", "drag"});
    std::printf("place sentence %d %d\nplace seed %d %d\n", static_cast<int>(sentence.x),
                static_cast<int>(sentence.y), static_cast<int>(seed.x), static_cast<int>(seed.y));
    EXPECT_LT(sentence.y, seed.y);
}

}  // namespace
}  // namespace attnscope
