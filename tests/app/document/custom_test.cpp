// Custom masks and other custom matrices in the window.
#include "app/document/custom.h"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "core/error.h"
#include "core/experiment/overridable.h"
#include "core/graph/stage_table.h"
#include "tests/interface.h"
#include "tests/keys.h"
#include "tests/sanitized.h"
#include "tests/sessions.h"
#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

using namespace test;

constexpr Mods k_shift{.shift = true};

TEST(CustomTest, RulesAndAGivenMaskAreOneMaskToEdit) {
    Experiment e;
    e.weighting.mask = {{MaskForm::causal, {}}};
    Matrix given = Matrix::Ones(3, 3);
    given(2, 0) = 0;
    e.weights.custom.insert_or_assign("mask", CustomMatrix(given));
    Matrix wanted(3, 3);
    wanted << 1, 0, 0, 1, 1, 0, 0, 1, 1;
    EXPECT_EQ(editable_mask(e, 3, 3), wanted);
    EXPECT_EQ(editable_mask(e, 2, 3).row(1), Matrix(wanted.row(1)))
        << "of another size it counts for nothing";
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            EXPECT_EQ(may_attend(e, 3, 3, i, j), wanted(i, j) != 0) << i << j;
            EXPECT_EQ(may_attend(e, 2, 3, std::min(i, 1), j), j <= std::min(i, 1)) << i << j;
        }
}

TEST(CustomTest, MatricesAreComparedToTheLastCellAndNanIsNan) {
    Matrix a = Matrix::Zero(100, 100), b = a;
    a(7, 3) = NAN;
    b(7, 3) = -NAN;
    EXPECT_TRUE(CustomMatrix(a) == CustomMatrix(b));
    b(99, 99) = 1;
    EXPECT_FALSE(CustomMatrix(a) == CustomMatrix(b));
    EXPECT_FALSE(CustomMatrix(a) == CustomMatrix(Matrix(a.topRows(50))));
}

TEST(CustomTest, ACellIsOneNumberOrNan) {
    EXPECT_EQ(parse_cell("-2.5e3"), -2500);
    EXPECT_EQ(parse_cell("-inf"), -INFINITY);
    EXPECT_TRUE(std::isnan(parse_cell("nan")));
    for (const char* text : {"", "word", "1,2", "1 2"}) EXPECT_THROW(parse_cell(text), Error) << text;
}

TEST(CustomTest, GivenScoresKeepTheScaleOfTheGivenKeys) {
    Session session;
    for (const char* name : {"query", "key", "value"})
        session.experiment.weights.custom.insert_or_assign(name, CustomMatrix(Matrix::Ones(3, 4)));
    Document document(session, {}, [] {});
    document.settle();
    set_custom(document, "scores", Matrix::Ones(3, 3));
    EXPECT_EQ(document.experiment().attention.scale, (Scale{Scale::Kind::number, 0.5})) << "1/√4";
}

TEST(CustomTest, WhatMayBeSetIsWhatTheGraphTakesAndWhatIsSet) {
    Session session;
    session.experiment.input.text = "one two three";
    Document document(session, {}, [] {});
    const auto names = [&] { return names_to_override(document.trace().get(), document.experiment()); };
    const auto has = [&](const char* name) { return std::ranges::count(names(), name) == 1; };
    EXPECT_EQ(std::ssize(names()), std::ssize(overridable_matrices())) << "nothing is known yet";
    document.settle();
    for (const char* name : {"embedding", "query", "W_q", "b_q", "scores", "mask"})
        EXPECT_TRUE(has(name)) << name;
    for (const char* name : {"W_1", "dec.W_ih", "tokens", "P", "targets"}) EXPECT_FALSE(has(name)) << name;
    set_custom(document, "scores", Matrix::Zero(3, 3));
    document.settle();
    EXPECT_TRUE(has("scores") && has("value"));
    EXPECT_FALSE(has("query"));
    EXPECT_EQ(custom_size(*document.trace(), "value"), (CustomSize{3, 16}));
    document.change([](Session& s) { s.experiment.mechanism = MechanismKind::transformer; });
    document.settle();
    ASSERT_EQ(document.problem(), "");
    for (const char* name : {"tokens", "E", "1.W_q", "2.W_q", "scores"}) EXPECT_TRUE(has(name)) << name;
    for (const char* name : {"W_q", "embedding", "value"}) EXPECT_FALSE(has(name)) << name;
}

class PaintingTest : public InterfaceTest {
protected:
    void SetUp() override {
        InterfaceTest::SetUp();
        if (window) show("mask"_stage);
    }
    void show(const StageKey& stage) {
        document().change([&](Session& s) { s.presentation.stage = stage; });
        settle();
    }
    void say_words(int count) {
        std::string words;
        for (int i = 0; i < count; ++i) words += "word ";
        document().change([&](Session& s) { s.experiment.input.text = words; });
        settle();
    }
    bool painted() { return document().experiment().is_custom("mask"); }
    const Matrix& mask() { return document().experiment().weights.custom.at("mask").values(); }
    float open(int row, int column) {
        return document().trace()->find("mask"_stage)->buffer.at(0, row, column);
    }
};

TEST_F(PaintingTest, AClickClosesACellAndASecondOpensIt) {
    click(cell_place(2, 5));
    ASSERT_TRUE(painted());
    EXPECT_EQ(mask().sum(), 63);
    EXPECT_EQ(open(2, 5), 0);
    EXPECT_EQ(document().trace()->find("weights"_stage)->buffer.at(0, 2, 5), 0);
    EXPECT_FALSE(document().presentation().locked);
    click(cell_place(2, 5));
    EXPECT_EQ(mask().sum(), 64);
}

TEST_F(PaintingTest, ADragClosesWhatItPassesAndIsOneStep) {
    const ImVec2 from = cell_place(0, 0), to = cell_place(0, 6);
    drag(from, {to.x - from.x, 0}, 2);
    for (int j = 0; j < 8; ++j) EXPECT_EQ(open(0, j), j <= 6 ? 0 : 1) << j;
    press(Key::z, k_ctrl);
    EXPECT_FALSE(painted());
    press(Key::z, {.ctrl = true, .shift = true});
    EXPECT_EQ(mask().sum(), 57);
}

TEST_F(PaintingTest, AFrameAddsCellsAndTheMaskIsCopiedOnceForEachPicture) {
    // So large that a frame does not wait for its evaluation.
    document().change([](Session& s) { s.experiment.attention.heads = 8; });
    say_words(test::k_sanitized ? 1024 : 1536);
    const ImVec2 from = cell_place(300, 300), to = cell_place(600, 700);
    push({MouseMove{from.x, from.y}});
    step_through_input();
    push({MouseButton{.button = 0, .down = true}});
    step_through_input();
    int held_back = 0;
    for (int i = 1; i <= 40; ++i) {
        const bool was_painted = painted();
        const void* const before =
            was_painted ? document().experiment().weights.custom.at("mask").identity() : nullptr;
        const float part = static_cast<float>(i) / 40;
        push({MouseMove{from.x + part * (to.x - from.x), from.y + part * (to.y - from.y)}});
        const bool busy_before = document().busy();
        step();
        if (!was_painted || !busy_before || !document().busy()) continue;
        const bool same = document().experiment().weights.custom.at("mask").identity() == before;
        held_back += same;
    }
    EXPECT_GT(held_back, 0);
    play({MouseButton{.button = 0, .down = false}});
    for (int key = 305; key < 695; ++key) EXPECT_EQ(mask().col(key).minCoeff(), 0) << key;
    EXPECT_LT((mask().array() == 0).count(), 420);
    press(Key::z, k_ctrl);
    EXPECT_FALSE(painted()) << "one step";
}

TEST_F(PaintingTest, AStrokeIsKeptWhenTheFocusLeavesTheMask) {
    say_words(1024);  // whose picture takes longer than the stroke
    const ImVec2 from = cell_place(300, 300), to = cell_place(300, 600);
    push({MouseMove{from.x, from.y}});
    step_through_input();
    push({MouseButton{.button = 0, .down = true}});
    step_through_input();
    push({MouseMove{to.x, to.y}});
    step_through_input();
    show("weights"_stage);
    ASSERT_TRUE(painted());
    EXPECT_GT((mask().array() == 0).count(), 290);
    const float open_cells = mask().sum();
    play({MouseButton{.button = 0, .down = false}});
    EXPECT_EQ(mask().sum(), open_cells);
}

TEST_F(PaintingTest, TheFirstCellDecidesForAllOfTheDrag) {
    document().change([](Session& s) { s.experiment.weighting.mask = {{MaskForm::causal, {}}}; });
    settle();
    // From a closed cell over open ones: all are open.
    const ImVec2 from = cell_place(0, 7), to = cell_place(7, 0);
    drag(from, {to.x - from.x, to.y - from.y});
    EXPECT_TRUE(document().experiment().weighting.mask.empty()) << "the rules are cells of the custom mask";
    for (int i = 0; i < 8; ++i) EXPECT_EQ(open(i, 7 - i), 1) << i;
    EXPECT_EQ(open(0, 6), 0);
    EXPECT_EQ(open(3, 3), 1);
    press(Key::z, k_ctrl);
    EXPECT_EQ(document().experiment().weighting.mask.size(), 1U);
    EXPECT_FALSE(painted());
}

TEST_F(PaintingTest, ShiftClickLocksInstead) {
    push({MouseMove{cell_place(1, 2).x, cell_place(1, 2).y}});
    step_through_input();
    push({KeyDown{.key = Key::shift, .mods = k_shift},
          MouseButton{.button = 0, .down = true, .mods = k_shift}});
    step_through_input();
    play({MouseButton{.button = 0, .down = false, .mods = k_shift}, KeyUp{.key = Key::shift}});
    EXPECT_EQ(document().presentation().locked, (Cell{1, 2}));
    EXPECT_FALSE(painted());
}

TEST_F(PaintingTest, ThePresetsOfTheHeaderOpenBelowTheirWord) {
    const ImRect word = area_of("attnscope", {"presets"});
    click(word.GetCenter());
    const ImGuiWindow* list = find_window("##Popup");
    ASSERT_TRUE(list && list->Active);
    EXPECT_GE(list->Pos.y, word.Max.y - 1);
    EXPECT_NEAR(list->Pos.x + list->Size.x, word.Max.x, 2);
}

TEST_F(PaintingTest, ARightClickOffersPresets) {
    for (const auto& [name, cells] : std::vector<std::pair<std::string, float>>{{"Causal", 36},
                                                                                {"Invert", 28},
                                                                                {"Checkerboard", 32},
                                                                                {"Window", 22},
                                                                                {"All closed", 0},
                                                                                {"All open", 64}}) {
        click(cell_place(4, 4), 1);
        click(place_of("##Popup", {name}));
        ASSERT_TRUE(painted()) << name;
        EXPECT_EQ(mask().sum(), cells) << name;
    }
}

TEST_F(PaintingTest, ThePanelDiscardsTheCustomMask) {
    click(cell_place(2, 5));
    click(place_of("/experiment_", {"Painted", "remove", "×"}));
    EXPECT_FALSE(painted());
    press(Key::z, k_ctrl);
    EXPECT_TRUE(painted());
}

TEST_F(PaintingTest, TheKeyboardPaints) {
    workspace->controls().focus.id = id_of(*find_window("attnscope"), {"matrix"});
    step();
    press(Key::right);
    press(Key::right);
    press(Key::down);
    EXPECT_EQ(document().presentation().locked, (Cell{1, 1}));
    press(Key::enter);
    ASSERT_TRUE(painted());
    EXPECT_EQ(open(1, 1), 0);
}

TEST_F(PaintingTest, AMaskThatNoLongerFitsKeepsThePictureAndSaysBothShapes) {
    click(cell_place(2, 5));
    const auto before = document().trace();
    document().change([](Session& s) { s.experiment.input.text += " again"; });
    settle();
    EXPECT_EQ(document().trace(), before);
    EXPECT_NE(document().problem().find("8 × 8"), std::string::npos) << document().problem();
    EXPECT_NE(document().problem().find("9 × 9"), std::string::npos) << document().problem();
    click(place_of("/experiment_", {"Painted", "remove", "×"}));
    EXPECT_EQ(document().problem(), "");
    EXPECT_EQ(document().trace()->rows.size(), 9U);
}

class AlignmentPaintingTest : public PaintingTest {
protected:
    void SetUp() override {
        Session session = test::test_session("random-alignment");
        session.presentation.view = ViewKind::pipeline;
        session.presentation.stage = "alignment_mask"_stage;
        session.experiment.weighting.mask = {{MaskForm::causal, {}}};
        start(session);
    }
    float open(int step, int word) {
        return document().trace()->find("alignment_mask"_stage)->buffer.at(0, step, word);
    }
    float weight(int step, int word) {
        return document().trace()->find("alignment"_stage)->buffer.at(0, step, word);
    }
};

TEST_F(AlignmentPaintingTest, AClickOpensACellAndUndoTakesItBack) {
    ASSERT_EQ(open(2, 5), 0);
    click(cell_place(2, 5));
    ASSERT_TRUE(painted()) << document().problem();
    EXPECT_EQ(open(2, 5), 1);
    EXPECT_GT(weight(2, 5), 0);
    EXPECT_FALSE(document().presentation().locked);
    press(Key::z, k_ctrl);
    EXPECT_FALSE(painted());
    EXPECT_EQ(open(2, 5), 0);
}

TEST_F(AlignmentPaintingTest, ADragClosesWhatItPassesAndIsOneStep) {
    const ImVec2 from = cell_place(9, 0), to = cell_place(9, 6);
    drag(from, {to.x - from.x, 0}, 2);
    for (int j = 0; j <= 6; ++j) EXPECT_EQ(open(9, j), 0) << j;
    EXPECT_EQ(weight(9, 3), 0);
    press(Key::z, k_ctrl);
    EXPECT_FALSE(painted());
}

TEST_F(AlignmentPaintingTest, PresetsAreOffered) {
    click(place_of("attnscope", {"presets"}));
    click(place_of("##Popup", {"Checkerboard"}));
    ASSERT_TRUE(painted());
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) EXPECT_EQ(open(i, j), (i + j) % 2 == 0) << i << ", " << j;
}

TEST_F(AlignmentPaintingTest, ThePanelMakesAMaskWhereThereIsNone) {
    document().change([](Session& s) {
        s.experiment.weighting.mask.clear();
        s.presentation.view = ViewKind::alignment;
        s.presentation.stage = "alignment"_stage;
    });
    settle();
    ASSERT_EQ(document().trace()->find("alignment_mask"_stage), nullptr);
    click(place_of("/experiment_", {"Painted", "paint", "paint…"}));
    ASSERT_TRUE(painted());
    EXPECT_EQ(focused().stage->name(), "alignment_mask");
    EXPECT_EQ(mask().minCoeff(), 1);
    press(Key::z, k_ctrl);
    EXPECT_FALSE(painted());
    EXPECT_EQ(document().presentation().stage, "alignment"_stage) << "one step";
}

TEST_F(AlignmentPaintingTest, AGreedyDecodersMaskIsForAllOfItsSteps) {
    document().change([](Session& s) {
        s.experiment.seq2seq.decode = Decode::greedy;
        s.experiment.seq2seq.max_steps = 20;
    });
    settle();
    ASSERT_EQ(document().problem(), "");
    click(cell_place(0, 2));
    EXPECT_EQ(document().problem(), "");
    ASSERT_TRUE(painted());
    EXPECT_EQ(mask().rows(), 20);
    EXPECT_EQ(open(0, 2), 1);
}

TEST_F(AlignmentPaintingTest, SettingItSetsTheMask) {
    press(Key::g, k_ctrl);
    EXPECT_EQ(interaction().custom_form.name, "mask");
    EXPECT_EQ(interaction().custom_form.values.rows(),
              document().trace()->find("alignment_mask"_stage)->shape().rows);
}

TEST_F(PaintingTest, WhatTheWindowClosesIsLeftAloneAndSaidSo) {
    document().change([](Session& s) {
        s.experiment.weighting.normalizer = Normalization::local_m;
        s.experiment.weighting.local_window = 2;
    });
    settle();
    ASSERT_EQ(open(1, 6), 0);
    const Experiment before = document().experiment();
    click(cell_place(1, 6));
    EXPECT_FALSE(painted());
    EXPECT_FALSE(document().presentation().locked);
    EXPECT_EQ(document().experiment(), before);
    EXPECT_NE(interaction().notice.text.find("local window, D = 2:"), std::string::npos)
        << interaction().notice.text;
    click(cell_place(1, 2));
    EXPECT_EQ(open(1, 2), 0) << "within it the mask decides";
    EXPECT_EQ(mask().sum(), 63);
    EXPECT_EQ(interaction().notice.text, "");
}

TEST(CustomTest, WhatAGivenBiasClosesIsKnown) {
    Session session;
    session.experiment.input.text = "one two three";
    Matrix bias = Matrix::Zero(3, 3);
    bias(0, 1) = -INFINITY;
    session.experiment.weights.custom.insert_or_assign("mask_additive", CustomMatrix(bias));
    Document document(session, {}, [] {});
    document.settle();
    EXPECT_EQ(closed_beyond_mask(*document.trace(), 0, 0, 1), "the custom bias of −∞");
    EXPECT_EQ(closed_beyond_mask(*document.trace(), 0, 1, 0), "");
}

class CustomMatrixDialogTest : public PaintingTest {
protected:
    void SetUp() override { InterfaceTest::SetUp(); }
    void give_now(const char* name) {
        set_custom(document(), name, custom_start(document().trace().get(), document().experiment(), name));
        show(find_stage_key(name).value());
    }
    void type_over(const char* text) {
        push(pressing(Key::a, k_ctrl));
        push(typing(text));
        play(pressing(Key::enter));
    }
    float value(const char* name, int row, int column) {
        return document().experiment().weights.custom.at(name).values()(row, column);
    }
    ImVec2 button(const char* label) { return place_of("Custom matrix##dialog", {label}); }
    ImVec2 grid_cell(int row, int column) {
        const ImGuiWindow* in = find_window("/grid_");
        const ImVec2 at = in->DC.CursorStartPos;
        return {at.x + 44 + 66 * (static_cast<float>(column) + 0.5f),
                at.y + 24 * (static_cast<float>(row) + 1.5f)};
    }
};

TEST_F(CustomMatrixDialogTest, SettingWhatIsThereChangesNothing) {
    const auto before = document().trace();
    for (const char* name : {"W_q", "query", "embedding"}) {
        give_now(name);
        EXPECT_EQ(document().problem(), "") << name;
        EXPECT_EQ(Matrix(document().trace()->find("weights"_stage)->buffer.host().head(0)),
                  Matrix(before->find("weights"_stage)->buffer.host().head(0)))
            << name;
    }
}

TEST_F(CustomMatrixDialogTest, CustomScoresKeepTheScaleAsANumber) {
    const Matrix before = document().trace()->find("weights"_stage)->buffer.host().head(0);
    give_now("scores");
    EXPECT_EQ(document().problem(), "");
    EXPECT_EQ(document().experiment().attention.scale.number, 0.25);
    EXPECT_EQ(Matrix(document().trace()->find("weights"_stage)->buffer.host().head(0)), before);
}

TEST_F(CustomMatrixDialogTest, ACellOfACustomStageIsTypedInPlaceAndIsOneStep) {
    give_now("query");
    const ImVec2 at = cell_place(1, 3);
    push({MouseMove{at.x, at.y}});
    for (int i = 0; i < 2; ++i) {
        push({MouseButton{.button = 0, .down = true}});
        step_through_input();
        push({MouseButton{.button = 0, .down = false}});
        step_through_input();
    }
    ASSERT_TRUE(ImGui::GetIO().WantTextInput);
    type_over("42.5");
    EXPECT_EQ(value("query", 1, 3), 42.5f);
    EXPECT_EQ(document().trace()->find("query"_stage)->buffer.at(0, 1, 3), 42.5f);
    press(Key::z, k_ctrl);
    EXPECT_NE(value("query", 1, 3), 42.5f);
}

TEST_F(CustomMatrixDialogTest, TheKeyboardTypesIntoACellAndNanIsANumber) {
    give_now("key");
    workspace->controls().focus.id = id_of(*find_window("attnscope"), {"matrix"});
    step();
    press(Key::down);
    press(Key::down);
    press(Key::enter);
    type_over("nan");
    EXPECT_TRUE(std::isnan(value("key", 1, 0)));
    EXPECT_EQ(document().trace()->find("key"_stage)->buffer.range().nan, 1U);
    press(Key::enter);
    type_over("x");
    EXPECT_TRUE(interaction().notice.problem);
    EXPECT_TRUE(std::isnan(value("key", 1, 0)));
}

TEST_F(CustomMatrixDialogTest, TheDialogSetsWhatItsGridHolds) {
    show("query"_stage);
    press(Key::g, k_ctrl);
    ASSERT_EQ(interaction().dialog, Dialog::giving);
    EXPECT_EQ(interaction().custom_form.name, "query");
    EXPECT_EQ(interaction().custom_form.values.rows(), 8);
    click(grid_cell(2, 1));
    type_over("7");
    EXPECT_EQ(interaction().custom_form.values(2, 1), 7);
    EXPECT_FALSE(document().experiment().is_custom("query")) << "not before it is applied";
    press(Key::escape);
    press(Key::g, k_ctrl);
    click(grid_cell(2, 1));
    push(pressing(Key::a, k_ctrl));
    play(typing("7"));
    click(button("Apply"));
    settle();
    EXPECT_EQ(interaction().dialog, Dialog::none);
    EXPECT_EQ(value("query", 2, 1), 7);
    press(Key::z, k_ctrl);
    EXPECT_FALSE(document().experiment().is_custom("query"));
}

TEST_F(CustomMatrixDialogTest, AMaskTakesNoOtherNumberThan0And1) {
    show("mask"_stage);
    press(Key::g, k_ctrl);
    ASSERT_EQ(interaction().custom_form.name, "mask");
    for (const char* number : {"nan", "0.5", "-1"}) {
        click(grid_cell(2, 1));
        type_over(number);
        EXPECT_EQ(interaction().custom_form.problem,
                  std::string(number) + ": a mask holds 1 (open) and 0 (closed)");
        EXPECT_EQ(interaction().custom_form.values(2, 1), 1);
    }
    click(grid_cell(2, 1));
    type_over("0");
    EXPECT_EQ(interaction().custom_form.problem, "");
    compat::text_bridge().clipboard.set("1 nan\n1 1\n");
    click(place_of("Custom matrix##dialog", {"Values", "Paste"}));
    click(button("Apply"));
    settle();
    EXPECT_EQ(interaction().custom_form.problem,
              "mask: row 1, column 2 is nan: a mask holds 1 (open) and 0 (closed)");
    EXPECT_FALSE(document().experiment().is_custom("mask"));
}

TEST_F(CustomMatrixDialogTest, PastedTextAndFilesFillTheGrid) {
    show("query"_stage);
    press(Key::g, k_ctrl);
    compat::text_bridge().clipboard.set("1\t2\n3\t4\n");
    click(place_of("Custom matrix##dialog", {"Values", "Paste"}));
    Matrix wanted(2, 2);
    wanted << 1, 2, 3, 4;
    ASSERT_EQ(interaction().custom_form.values.rows(), 2);
    EXPECT_EQ(interaction().custom_form.values, wanted);
    compat::text_bridge().clipboard.set("no numbers");
    click(place_of("Custom matrix##dialog", {"Values", "Paste"}));
    EXPECT_NE(interaction().custom_form.problem, "");
    EXPECT_EQ(interaction().custom_form.values, wanted);
    const test::TemporaryFolder folder;
    const std::string path = folder.file("m.csv");
    std::ofstream(path) << "5,6,7\n";
    interaction().custom_form.file = path;
    click(place_of("Custom matrix##dialog", {"File", "Read"}));
    EXPECT_EQ(interaction().custom_form.values.size(), 3);
    EXPECT_EQ(interaction().custom_form.problem, "");
}

TEST_F(CustomMatrixDialogTest, AFileThatCannotBeReadIsSaidInTheDialog) {
    press(Key::g, k_ctrl);
    const Matrix before = interaction().custom_form.values;
    interaction().custom_form.file = "/nowhere/m.csv";
    click(place_of("Custom matrix##dialog", {"File", "Read"}));
    EXPECT_EQ(interaction().custom_form.problem,
              "cannot read /nowhere/m.csv: no such file or folder: check the path");
    EXPECT_EQ(interaction().custom_form.values, before);
}

TEST_F(CustomMatrixDialogTest, AFileThatHangsNeitherStopsTheWindowNorComesAfterTheDialog) {
    press(Key::g, k_ctrl);
    const Matrix before = interaction().custom_form.values;
    const test::TemporaryFolder folder;
    const std::string pipe = folder.file("pipe");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    interaction().custom_form.file = pipe;
    const ImVec2 read = place_of("Custom matrix##dialog", {"File", "Read"});
    push({MouseMove{read.x, read.y}, MouseButton{.button = 0, .down = true},
          MouseButton{.button = 0, .down = false}});
    step_through_input();
    EXPECT_TRUE(workspace->matrix_reader().running());
    push(pressing(Key::escape));
    step_through_input();
    EXPECT_EQ(interaction().dialog, Dialog::none);
    EXPECT_FALSE(workspace->matrix_reader().running());
    press(Key::g, k_ctrl);
    EXPECT_TRUE(std::ofstream(pipe) << "5,6,7\n");
    while (!workspace->matrix_reader().ended()) step();
    step();
    EXPECT_EQ(interaction().custom_form.values, before);
    EXPECT_EQ(interaction().custom_form.problem, "");
}

TEST_F(CustomMatrixDialogTest, WhatDoesNotFitIsSaidInTheDialogAndChangesNothing) {
    show("query"_stage);
    press(Key::g, k_ctrl);
    interaction().custom_form.name = "W_q";
    interaction().custom_form.values = Matrix::Ones(3, 5);
    click(button("Apply"));
    settle();
    EXPECT_EQ(interaction().dialog, Dialog::giving);
    EXPECT_NE(interaction().custom_form.problem.find("3 × 5"), std::string::npos)
        << interaction().custom_form.problem;
    EXPECT_FALSE(document().experiment().is_custom("W_q"));
    EXPECT_EQ(document().problem(), "");
    EXPECT_FALSE(document().stale());
}

TEST_F(CustomMatrixDialogTest, TheDialogBeginsWithWhatTheStackTakes) {
    document().change([](Session& s) { s.experiment.mechanism = MechanismKind::transformer; });
    show({"weights"_stage, 2});
    press(Key::g, k_ctrl);
    const CustomForm& form = interaction().custom_form;
    EXPECT_EQ(form.name, document().trace()->overridable.front().name);
    EXPECT_EQ(form.problem, "");
    press(Key::escape);
    show({"W_q"_stage, 2});
    press(Key::g, k_ctrl);
    EXPECT_EQ(form.name, "2.W_q");
}

TEST_F(CustomMatrixDialogTest, TheDialogRemovesIt) {
    give_now("query");
    press(Key::g, k_ctrl);
    click(button("Discard"));
    EXPECT_FALSE(document().experiment().is_custom("query"));
    EXPECT_EQ(interaction().dialog, Dialog::none);
}

}  // namespace
}  // namespace attnscope
