// The controls of the experiment panel: dragging, clicking and typing.
#include <cctype>
#include <cmath>
#include <cstdio>
#include <set>

#include "core/experiment/masks.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/mechanisms.h"
#include "core/session/options.h"
#include "tests/interface.h"
#include "tests/keys.h"
#include "tests/sanitized.h"
#include "tests/sessions.h"

namespace attnscope {
namespace {

using namespace test;

class ExperimentPanelTest : public InterfaceTest {};

TEST_F(ExperimentPanelTest, DraggingTheSeedIsOneUndoStep) {
    const Seed before = document().experiment().weights.seed;
    drag(field_of("Seed", {"seed", "drag"}), {60, 0});
    EXPECT_NE(document().experiment().weights.seed, before);
    EXPECT_FALSE(document().stale());
    press(Key::z, k_ctrl);
    EXPECT_EQ(document().experiment().weights.seed, before);
    EXPECT_FALSE(document().can_undo());
    press(Key::z, k_ctrl_shift);
    EXPECT_NE(document().experiment().weights.seed, before);
}

TEST_F(ExperimentPanelTest, AKindOfMaskIsExplainedInAFewWords) {
    for (const char* kind : {"Causal", "Padding", "Window", "Painted"}) {
        move(field_of(kind, {"label"}));
        const ImGuiWindow* tip = find_window("##Tooltip");
        ASSERT_TRUE(tip && tip->Active) << kind;
        EXPECT_LT(tip->Size.y, 4 * ImGui::GetFontSize()) << kind << ": two lines at most";
    }
}

TEST_F(ExperimentPanelTest, TwoDragsAreTwoSteps) {
    const ImVec2 seed = field_of("Seed", {"seed", "drag"});
    drag(seed, {40, 0});
    const Seed after_one = document().experiment().weights.seed;
    drag(seed, {40, 0});
    EXPECT_NE(document().experiment().weights.seed, after_one);
    press(Key::z, k_ctrl);
    EXPECT_EQ(document().experiment().weights.seed, after_one);
}

TEST_F(ExperimentPanelTest, ADragThatComesBackIsNotAStep) {
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
    EXPECT_EQ(document().experiment().weights.seed, Seed::parse("18446744073709551615"));
}

TEST_F(ExperimentPanelTest, AnInvalidSeedIsANoticeAndChangesNothing) {
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
    const int heads = document().experiment().attention.heads;
    EXPECT_GT(heads, 1);
    EXPECT_EQ(document().experiment().input.dim % heads, 0);
    EXPECT_EQ(document().trace()->find("weights"_stage)->shape().heads, heads);
    press(Key::z, k_ctrl);
    EXPECT_EQ(document().experiment().attention.heads, 1);
}

TEST_F(ExperimentPanelTest, DraggingTheDimensionKeepsItAMultipleOfTheHeads) {
    document().change([](Session& s) { s.experiment.attention.heads = 4; });
    settle();
    drag(field_of("Dimension", {"number", "drag"}), {37, 0});
    EXPECT_GT(document().experiment().input.dim, 16);
    EXPECT_EQ(document().experiment().input.dim % 4, 0);
    EXPECT_EQ(document().problem(), "");
}

TEST_F(ExperimentPanelTest, ThePointerLeavingDoesNotEndADrag) {
    const ImVec2 seed = field_of("Seed", {"seed", "drag"});
    drag(seed, {500, 400});
    EXPECT_NE(document().experiment().weights.seed, Seed(123));
    EXPECT_EQ(document().presentation().stage, load_example("scaled-dot-product").presentation.stage);
}

TEST_F(ExperimentPanelTest, ACausalMaskIsSwitchedOn) {
    click(field_of("Causal", {"on"}));
    ASSERT_EQ(document().experiment().weighting.mask, (std::vector<MaskRule>{{MaskForm::causal, {}}}));
    const Stage& weights = *document().trace()->find("weights"_stage);
    EXPECT_EQ(weights.buffer.at(0, 0, 1), 0.0f);
    press(Key::z, k_ctrl);
    EXPECT_TRUE(document().experiment().weighting.mask.empty());
}

TEST_F(ExperimentPanelTest, SwitchingAMaskKeepsTheOtherRules) {
    const MaskRule first{MaskForm::valid, {6}}, second{MaskForm::valid, {5}}, causal{MaskForm::causal, {}};
    document().change([&](Session& s) { s.experiment.weighting.mask = {first, second}; });
    settle();
    click(field_of("Causal", {"on"}));
    EXPECT_EQ(document().experiment().weighting.mask, (std::vector<MaskRule>{causal, first, second}));
    drag(field_of("Padding 2", {"numbers", "drag"}), {-14, 0});
    ASSERT_EQ(document().experiment().weighting.mask.size(), 3U);
    EXPECT_EQ(document().experiment().weighting.mask[1], first);
    EXPECT_LT(document().experiment().weighting.mask[2].arguments[0], 5);
    const MaskRule dragged = document().experiment().weighting.mask[2];
    click(field_of("Padding", {"on"}));
    EXPECT_EQ(document().experiment().weighting.mask, (std::vector<MaskRule>{causal, dragged}));
}

TEST_F(ExperimentPanelTest, EveryKindOfMaskHasARow) {
    for (const MaskKind& kind : mask_kinds()) {
        std::string label(kind.choice == MaskForm::valid ? "padding" : name_of(kind.choice));
        label[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(label[0])));
        click(field_of(label, {"on"}));
        ASSERT_EQ(document().experiment().weighting.mask.size(), 1U) << label;
        EXPECT_EQ(document().experiment().weighting.mask[0].kind, kind.choice);
        EXPECT_EQ(document().problem(), "");
        click(field_of(label, {"on"}));
        EXPECT_TRUE(document().experiment().weighting.mask.empty());
    }
}

TEST_F(ExperimentPanelTest, TheNumbersOfAMaskAreTyped) {
    click(field_of("Padding", {"on"}));
    click(field_of("Padding", {"numbers", "drag"}));
    push(pressing(Key::a, k_ctrl));
    push(typing("1,2,3,4,5,6,7,8"));
    play(pressing(Key::enter));
    EXPECT_EQ(document().experiment().weighting.mask,
              (std::vector<MaskRule>{{MaskForm::valid, {1, 2, 3, 4, 5, 6, 7, 8}}}));
}

TEST_F(ExperimentPanelTest, ARightClickResetsASetting) {
    document().change([](Session& s) { s.experiment.weighting.temperature = 3; });
    settle();
    click(field_of("Temperature", {"label"}), 1);
    EXPECT_EQ(document().experiment().weighting.temperature, 1);
}

TEST_F(ExperimentPanelTest, TheDieRollsASeedAndIsOneStep) {
    click(field_of("Seed", {"die", "⚄"}));
    EXPECT_TRUE(document().can_undo());
    press(Key::z, k_ctrl);
    EXPECT_EQ(document().experiment().weights.seed, Seed(123));
}

/// The ids of the label of an option's row: its label, below the option's name where it is not the first of
/// this label. The mask has a row for each kind.
std::vector<std::string> row_of(const Option& option) {
    if (option.name == "mask") return {"Causal", "label"};
    const std::string label(option.label);
    const bool is_first = &*std::ranges::find(options(), option.label, &Option::label) == &option;
    return is_first ? std::vector<std::string>{label, "label"}
                    : std::vector<std::string>{std::string(option.name), label, "label"};
}

TEST_F(ExperimentPanelTest, EverySettingHasARowInTheOrderOfTheTable) {
    std::set<std::string_view> seen;
    for (const ChoiceName<MechanismKind>& mechanism : choices<MechanismKind>()) {
        document().change([&](Session& s) {
            s.experiment.mechanism = mechanism.value;
            s.experiment.training.task =
                mechanism.value == MechanismKind::seq2seq ? TaskKind::translate : TaskKind::copy;
        });
        settle();
        float above = -1e9f;
        for (const OptionSection section : mechanism_of(document().experiment()).sections)
            for (const Option& option : options()) {
                if (option.section != section || option.label.empty()) continue;
                seen.insert(option.name);
                const float y =
                    place_of("/experiment_", row_of(option)).y + find_window("/experiment_")->Scroll.y;
                EXPECT_GT(y, above) << mechanism.name << ": " << option.name;
                above = y;
            }
    }
    for (const Option& option : options())
        EXPECT_EQ(seen.contains(option.name), !option.label.empty()) << option.name;
}

TEST_F(ExperimentPanelTest, ATransformerShowsTheFeedForwardLayerOfABlock) {
    document().change([](Session& s) {
        s.experiment.mechanism = MechanismKind::transformer;
        s.experiment.transformer.norm = Norm::before;
    });
    settle();
    float above = place_of("/experiment_", {"norm", "Norms", "label"}).y;
    for (const char* label : {"Feed-forward", "Activation", "Norm ε", "Ablated heads"}) {
        const float y = field_of(label, {"label"}).y;
        EXPECT_GT(y, above) << label;
        above = y;
    }
}

TEST_F(ExperimentPanelTest, AChoiceIsPickedFromItsList) {
    const std::pair<const char*, const char*> picks[] = {{"Encoding", "sinusoidal"},
                                                         {"Function", "additive"},
                                                         {"Normalization", "local-p"},
                                                         {"Norms", "pre-norm"}};
    for (const auto& [label, entry] : picks) {
        click(field_of(label, {"##choice"}));
        choose(entry);
        EXPECT_EQ(document().problem(), "");
    }
    const Experiment& e = document().experiment();
    EXPECT_EQ(e.attention.position, Position::sinusoidal);
    EXPECT_EQ(e.attention.score, Score::additive);
    EXPECT_EQ(e.weighting.normalizer, Normalization::local_p);
    EXPECT_EQ(e.attention.block, Block::pre_norm);
    for (const char* stage : {"positioned", "score_hidden", "gauss", "residual_2"})
        EXPECT_NE(document().trace()->find_named(stage), nullptr) << stage;
}

TEST_F(ExperimentPanelTest, AWindowsReachIsDraggedByOnesAndTypedAsAnyNumber) {
    document().change([](Session& s) {
        s.experiment.weighting.normalizer = Normalization::local_m;
        s.experiment.weighting.local_window = 1.5;
    });
    settle();
    drag(field_of("Half-width", {"number", "drag"}), {60, 0});
    const double dragged = document().experiment().weighting.local_window;
    EXPECT_GT(dragged, 1.5);
    EXPECT_EQ(dragged - std::floor(dragged), 0.5);
    click(field_of("Half-width", {"number", "drag"}));
    push(pressing(Key::a, k_ctrl));
    push(typing("0.75"));
    play(pressing(Key::enter));
    EXPECT_EQ(document().experiment().weighting.local_window, 0.75);
    EXPECT_EQ(document().problem(), "");
}

TEST_F(ExperimentPanelTest, WhatDoesNotApplyCannotBeChanged) {
    const Session before = document().session();
    for (const char* label : {"Hidden", "Sharpening", "Half-width", "Dropout seed", "Feed-forward"}) {
        const ImVec2 at = field_of(label, {"label"});
        drag({at.x + 120, at.y}, {60, 0});
        EXPECT_EQ(document().session(), before) << label;
    }
    document().change([](Session& s) { s.experiment.attention.score = Score::additive; });
    settle();
    drag(field_of("Hidden", {"number", "drag"}), {60, 0});
    EXPECT_GT(document().experiment().weighting.hidden, 8);
}

TEST_F(ExperimentPanelTest, UnderSeq2seqWhatOnlyAttentionUsesCannotBeChanged) {
    start(test::test_session("random-alignment"));
    const Session before = document().session();
    for (const char* label : {"Picture", "Encoding", "Biases", "Heads", "Projection", "Layers"})
        EXPECT_FALSE(has_field(label, {"label"})) << label;
    for (const char* label : {"Function", "Scale", "Factor", "Dropout", "Training"}) {
        const ImVec2 at = field_of(label, {"label"});
        click({at.x + 100, at.y});
        drag({at.x + 120, at.y}, {60, 0});
        EXPECT_EQ(document().session(), before) << label;
        EXPECT_FALSE(compat::popup_is_open()) << label;
    }
    drag(field_of("Temperature", {"factor", "drag"}), {60, 0});
    EXPECT_GT(document().experiment().weighting.temperature, before.experiment.weighting.temperature);
    document().change([](Session& s) { s.experiment.seq2seq.decoder_attention = DecoderAttention::none; });
    settle();
    const Session without = document().session();
    for (const char* label : {"Causal", "Painted", "Normalization", "Temperature"}) {
        const ImVec2 at = field_of(label, {"label"});
        click({at.x + 100, at.y});
        EXPECT_EQ(document().session(), without) << label;
    }
}

TEST_F(ExperimentPanelTest, AHeadThatRopeCannotTurnIsRefusedAndTheHeadsStepOverIt) {
    document().change([](Session& s) {
        s.experiment.input.dim = 12;
        s.experiment.attention.heads = 4;
    });
    settle();
    click(field_of("Encoding", {"##choice"}));
    choose("rope");
    EXPECT_EQ(document().experiment().attention.position, Position::none);
    EXPECT_TRUE(interaction().notice.problem);
    EXPECT_EQ(document().problem(), "");
    drag(field_of("Heads", {"number", "drag"}), {-14, 0});
    click(field_of("Encoding", {"##choice"}));
    choose("rope");
    EXPECT_EQ(document().experiment().attention.position, Position::rope);
    drag(field_of("Heads", {"number", "drag"}), {300, 0});
    EXPECT_EQ(document().experiment().attention.heads, 6);
    EXPECT_EQ(document().problem(), "");
}

TEST_F(ExperimentPanelTest, ASizeOfItsOwnIsAMultipleOfTheHeads) {
    document().change([](Session& s) { s.experiment.attention.heads = 4; });
    settle();
    drag(field_of("Key size", {"number", "drag"}), {14, 0});
    EXPECT_EQ(document().experiment().attention.key_size, 20);
    EXPECT_EQ(document().trace()->find("query"_stage)->shape().columns, 20);
    drag(field_of("Key size", {"number", "drag"}), {-14, 0});
    EXPECT_EQ(document().experiment().attention.key_size, 0) << "as wide as the embedding again";
}

TEST_F(ExperimentPanelTest, ASectionFoldsAndUnfolds) {
    click(place_of("/experiment_", {"Input"}));
    const ImVec2 folded = field_of("Seed", {"seed", "drag"});
    click(place_of("/experiment_", {"Input"}));
    EXPECT_GT(field_of("Seed", {"seed", "drag"}).y, folded.y + 40);
    EXPECT_FALSE(document().can_undo());
}

using PlacesTest = InterfaceTest;

/// window_test.sh asks this where to click in a window that opens for the first time.
TEST_F(PlacesTest, AreWrittenForScripts) {
    start_noted(load_example("scaled-dot-product"));
    const ImVec2 sentence = sentence_field();
    const ImVec2 seed = field_of("Seed", {"seed", "drag"});
    std::printf("place sentence %d %d\nplace seed %d %d\n", static_cast<int>(sentence.x),
                static_cast<int>(sentence.y), static_cast<int>(seed.x), static_cast<int>(seed.y));
    EXPECT_LT(sentence.y, seed.y);
}

// ---- what is in sight

/// The panel as it is at the first start.
class FirstSightTest : public InterfaceTest {
protected:
    void see(Session session, int width = 1600, int height = 1000) {
        start(std::move(session), width, height);
        as_at_first();
    }
    void as_at_first() {
        *workspace->controls().folded_sections = PanelLayout{}.folded_sections;
        workspace->controls().whole_sections->clear();
        settle();
    }
    ImRect row(const char* label) {
        ImGuiWindow* panel = find_window("/experiment_");
        return area_of(panel, id_of(*panel, {label, "label"}));
    }
    bool is_drawn(const char* label) { return row(label).GetHeight() > 1; }
};

TEST_F(FirstSightTest, HeadsScaleMaskAndTemperatureAre) {
    start_noted(load_example("scaled-dot-product"));
    as_at_first();
    for (const char* label :
         {"Seed", "Dimension", "Heads", "Function", "Scale", "Causal", "Padding", "Temperature"}) {
        EXPECT_TRUE(is_drawn(label)) << label;
        EXPECT_LT(row(label).Max.y, 974) << label << " is above the status bar";
    }
}

TEST_F(FirstSightTest, RowsThatDoNotApplyAreOneLineThatShowsThem) {
    see(load_example("scaled-dot-product"));
    EXPECT_FALSE(is_drawn("Bandwidth"));
    EXPECT_FALSE(is_drawn("Window"));
    click(place_of("/experiment_", {"Score", "left out", "show"}));
    EXPECT_TRUE(is_drawn("Bandwidth"));
    EXPECT_FALSE(is_drawn("Window")) << "of another section";
    click(place_of("/experiment_", {"Score", "left out", "show"}));
    EXPECT_FALSE(is_drawn("Bandwidth"));
    document().change([](Session& s) { s.experiment.attention.score = Score::rbf; });
    settle();
    EXPECT_TRUE(is_drawn("Bandwidth")) << "it applies";
    document().change([](Session& s) { s.experiment.weighting.mask = {{MaskForm::window, {1, 1}}}; });
    settle();
    EXPECT_TRUE(is_drawn("Window")) << "it is on";
}

TEST_F(FirstSightTest, AWholeSectionHasAtLeastTheRowsThatApply) {
    std::size_t row = 0;
    for (const std::string& example : example_names()) {
        if (!test::is_visited(row++, 4)) continue;
        see(load_example(example));
        workspace->controls().folded_sections->clear();
        settle();
        const auto drawn_before = workspace->controls().focus.drawn.size();
        for (const auto& [section, name] : choices<OptionSection>())
            workspace->controls().whole_sections->insert(std::string(name));
        settle();
        EXPECT_GE(workspace->controls().focus.drawn.size(), drawn_before) << example;
    }
}

TEST_F(FirstSightTest, FoldedSectionsAreKept) {
    see(load_example("scaled-dot-product"));
    click(place_of("/experiment_", {"Heads"}));
    EXPECT_TRUE(workspace->state().panels.folded_sections.contains("Heads"));
    click(place_of("/experiment_", {"Image"}));
    EXPECT_FALSE(workspace->state().panels.folded_sections.contains("Image"));
}

TEST_F(FirstSightTest, ResettingTheLayoutFoldsSectionsAsAtFirst) {
    see(load_example("scaled-dot-product"));
    click(place_of("/experiment_", {"Heads"}));
    workspace->controls().whole_sections->insert("Heads");
    EXPECT_FALSE(workspace->state().panels == PanelLayout{});
    workspace->run(*find_action("view.reset_layout"));
    EXPECT_TRUE(workspace->state().panels == PanelLayout{});
}

TEST_F(FirstSightTest, ANumberOfHeadsThatDoesNotDivideOffersADimensionThatItDoes) {
    see(load_example("scaled-dot-product"));
    const Session before = document().session();
    click(field_of("Heads", {"number", "drag"}));
    push(pressing(Key::a, k_ctrl));
    push(typing("12"));
    play(pressing(Key::enter));
    ASSERT_TRUE(interaction().notice.remedy) << interaction().notice.text;
    EXPECT_EQ(document().session(), before);
    click(place_of("attnscope", {"remedy", interaction().notice.remedy->label}));
    EXPECT_EQ(document().experiment().attention.heads, 12);
    EXPECT_EQ(document().experiment().input.dim, 24);
    EXPECT_EQ(interaction().notice.text, "");
    press(Key::z, k_ctrl);
    EXPECT_EQ(document().experiment(), before.experiment) << "one step";
}

TEST_F(FirstSightTest, ANewSessionKeepsTheScoresOfTheWordsThatWereThere) {
    workspace->run(*find_action("file.new"));
    settle();
    const Matrix before = document().trace()->find("scores"_stage)->buffer.rows(0, 0, 8);
    const Matrix weights = document().trace()->find("weights"_stage)->buffer.rows(0, 0, 8);
    document().change([](Session& s) { s.experiment.input.text += " please"; });
    settle();
    const Stage& after = *document().trace()->find("scores"_stage);
    ASSERT_EQ(after.shape().rows, 9);
    EXPECT_EQ(after.buffer.rows(0, 0, 8).leftCols(8), before);
    const Eigen::VectorXf largest = weights.rowwise().maxCoeff();
    EXPECT_LT(largest.mean(), 0.75) << "not all on one key";
    EXPECT_GT(largest.mean(), 0.2) << "not all alike";
}

}  // namespace
}  // namespace attnscope
