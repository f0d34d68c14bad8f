// Operating everything with the keyboard alone.
#include <filesystem>
#include <set>

#include "core/files/file.h"
#include "core/session/session.h"
#include "tests/drawn_sessions.h"
#include "tests/interface.h"
#include "tests/sanitized.h"
#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

class KeyboardTest : public InterfaceTest {
protected:
    /// Presses Tab until what it is on changes the experiment by an arrow as `wanted` says; false if none
    /// does.
    bool tab_until(const std::function<bool()>& wanted) {
        const std::size_t controls = drawn_controls().size();
        for (std::size_t i = 0; i < controls; ++i) {
            press(Key::tab);
            const Experiment before = document().experiment();
            press(Key::right);
            if (wanted()) return true;
            if (!(document().experiment() == before)) press(Key::z, {.ctrl = true});
        }
        return false;
    }
    /// Presses Tab until it is on the control, named as for place_of.
    void tab_to(const std::string& window_part, const std::vector<std::string>& ids) {
        const unsigned wanted = id_of(*find_window(window_part), ids);
        const std::size_t controls = drawn_controls().size();
        for (std::size_t i = 0; i < controls && workspace->controls().focus.id != wanted; ++i)
            press(Key::tab);
        EXPECT_EQ(workspace->controls().focus.id, wanted) << "Tab does not come to " << ids.back();
        step_through_input();
    }
};

TEST_F(KeyboardTest, TabGoesThroughEveryControlAndBack) {
    step();
    const auto controls = drawn_controls();
    ASSERT_GT(controls.size(), 20U);
    ASSERT_EQ(std::set<unsigned>(controls.begin(), controls.end()).size(), controls.size());
    for (const unsigned id : controls) {
        press(Key::tab);
        EXPECT_EQ(workspace->controls().focus.id, id);
    }
    press(Key::tab);
    EXPECT_EQ(workspace->controls().focus.id, controls.front()) << "it goes around";
    press(Key::tab, {.shift = true});
    EXPECT_EQ(workspace->controls().focus.id, controls.back());
    EXPECT_FALSE(document().can_undo());
}

TEST_F(KeyboardTest, ArrowsStepTheControlAndElseTheStrip) {
    const StageKey stage = document().presentation().stage;
    ASSERT_TRUE(tab_until([&] { return document().experiment().input.dim == 17; }));
    press(Key::left, {.shift = true});
    EXPECT_EQ(document().experiment().input.dim, 7);
    EXPECT_EQ(document().presentation().stage, stage);
    press(Key::escape);
    EXPECT_EQ(workspace->controls().focus.id, 0U);
    press(Key::left);
    EXPECT_NE(document().presentation().stage, stage);
    EXPECT_EQ(document().experiment().input.dim, 7);
}

TEST_F(KeyboardTest, EnterTypesANumber) {
    ASSERT_TRUE(tab_until([&] { return document().experiment().weights.seed == Seed(124); }));
    press(Key::enter);
    push(pressing(Key::a, {.ctrl = true}));
    push(typing("55"));
    play(pressing(Key::enter));
    EXPECT_EQ(document().experiment().weights.seed, Seed(55));
    press(Key::right);
    EXPECT_EQ(document().experiment().weights.seed, Seed(56)) << "the keyboard is on the field still";
}

TEST_F(KeyboardTest, ArrowsTakeTheNextChoice) {
    EXPECT_TRUE(
        tab_until([&] { return document().experiment().input.tokenizer == TokenizerKind::whitespace; }));
    press(Key::left);
    EXPECT_EQ(document().experiment().input.tokenizer, TokenizerKind::words);
}

TEST_F(KeyboardTest, SpaceSwitches) {
    workspace->controls().focus.id = id_of(*find_window("/experiment_"), {"Projection", "on"});
    press(Key::space);
    EXPECT_TRUE(document().experiment().attention.output_projection);
    press(Key::enter);
    EXPECT_FALSE(document().experiment().attention.output_projection);
}

TEST_F(KeyboardTest, AMenuIsOpenedAndWalked) {
    press(Key::tab);
    press(Key::enter);
    ASSERT_TRUE(compat::popup_is_open());
    press(Key::down);
    EXPECT_EQ(document().presentation().head, HeadChoice{});
    press(Key::enter);
    EXPECT_EQ(interaction().dialog, Dialog::open);
}

TEST_F(KeyboardTest, EnterChoosesInAListThatTheMouseOpened) {
    for (const Key chooses : {Key::enter, Key::keypad_enter, Key::space}) {
        start(load_example("scaled-dot-product"));
        const Score before = document().experiment().attention.score;
        click(field_of("Function", {"##choice"}));
        ASSERT_TRUE(compat::popup_is_open());
        press(Key::down);
        press(Key::down);
        press(chooses);
        EXPECT_FALSE(compat::popup_is_open());
        EXPECT_NE(document().experiment().attention.score, before);
    }
}

TEST_F(KeyboardTest, EnterChoosesInAListAfterAnyDialogWasOpen) {
    for (const Dialog dialog : {Dialog::open, Dialog::exporting, Dialog::giving, Dialog::history,
                                Dialog::about, Dialog::palette, Dialog::find, Dialog::gallery}) {
        SCOPED_TRACE(static_cast<int>(dialog));
        start(load_example("scaled-dot-product"));
        interaction().open(dialog);
        settle();
        for (int i = 0; i < 3 && interaction().dialog != Dialog::none; ++i) press(Key::escape);
        ASSERT_EQ(interaction().dialog, Dialog::none);
        click(field_of("Function", {"##choice"}));
        ASSERT_TRUE(compat::popup_is_open());
        press(Key::down);
        press(Key::down);
        press(Key::enter);
        EXPECT_FALSE(compat::popup_is_open());
        EXPECT_NE(document().experiment().attention.score, Score::dot);
    }
}

TEST_F(KeyboardTest, ArrowsAndEnterChooseInAListOfADialog) {
    start(load_example("scaled-dot-product"));
    interaction().open(Dialog::exporting);
    settle();
    ASSERT_FALSE(interaction().export_form.presentation.width);
    click(place_of("##dialog", {"Size", "##size"}));
    ASSERT_TRUE(compat::list_is_open());
    press(Key::down);
    press(Key::down);
    press(Key::enter);
    EXPECT_FALSE(compat::list_is_open());
    EXPECT_TRUE(interaction().export_form.presentation.width) << "a size on paper";
    EXPECT_EQ(interaction().dialog, Dialog::exporting);
}

TEST_F(KeyboardTest, EnterTakesWhatFastArrowsHaveReached) {
    click(field_of("Function", {"##choice"}));
    std::vector<InputEvent> keys;
    for (const Key key : {Key::down, Key::down, Key::enter})
        for (const InputEvent& event : pressing(key)) keys.push_back(event);
    play(keys);
    EXPECT_EQ(document().experiment().attention.score, Score::additive);
}

TEST_F(KeyboardTest, TabGoesFromLeftToRight) {
    Session session = test::four_heads();
    start(std::move(session), 1600, 1000);
    ImGuiWindow* root = find_window("attnscope");
    const auto& drawn = drawn_controls();
    for (const std::vector<const char*>& row :
         {std::vector{"parameters", "head", "range", "colors"}, std::vector{"file.export"}}) {
        std::ptrdiff_t before = -1;
        float left = -1;
        for (const char* id : row) {
            const unsigned control = id_of(*root, {id});
            const auto at = std::ranges::find(drawn, control) - drawn.begin();
            ASSERT_LT(at, std::ssize(drawn)) << id;
            const float x = area_of(root, control).Min.x;
            EXPECT_GT(at, before) << id;
            EXPECT_GT(x, left) << id;
            before = at;
            left = x;
        }
    }
    const auto place = [&](const char* id) {
        return std::ranges::find(drawn, id_of(*root, {id})) - drawn.begin();
    };
    EXPECT_LT(place("edit.copy_matrix"), place("file.export"));
}

/// The parts of the window in the order in which they are read.
enum class WindowPart { menu, sentence, experiment, center, inspector, status };

/// The part that a control's middle is in.
WindowPart part_of(const DrawnControl& control, float top, const ImRect& experiment,
                   const ImRect& inspector) {
    const float x = (control.area[0] + control.area[2]) / 2, y = (control.area[1] + control.area[3]) / 2;
    if (y < 32) return WindowPart::menu;
    if (y < top) return WindowPart::sentence;
    if (y > experiment.Max.y) return WindowPart::status;
    if (x < experiment.Max.x) return WindowPart::experiment;
    return x < inspector.Min.x ? WindowPart::center : WindowPart::inspector;
}

TEST_F(KeyboardTest, TabGoesInTheOrderInWhichTheWindowIsRead) {
    for (const ViewKind view : {ViewKind::pipeline, ViewKind::heads, ViewKind::lines, ViewKind::step}) {
        Session session = load_example("designed-heads");
        session.presentation.view = view;
        start_noted(std::move(session), 1600, 2600);
        document().change([](Session& s) { s.presentation.lock(s.presentation.stage, Cell{1, 1}); });
        settle();
        const ImRect experiment = find_window("/experiment_")->Rect(),
                     inspector = find_window("/inspector_")->Rect();
        std::vector<WindowPart> parts;
        float bottom = 0;
        const std::size_t controls = drawn_controls().size();
        for (std::size_t i = 0; i < controls; ++i) {
            if (test::k_sanitized && i > 40 && i % 8 != 0 && i + 4 < controls) {
                workspace->controls().focus.move(1);
                continue;
            }
            press(Key::tab);
            const auto& drawn = workspace->controls().focus.drawn;
            const auto at = std::ranges::find(drawn, workspace->controls().focus.id, &DrawnControl::id);
            ASSERT_NE(at, drawn.end());
            const WindowPart part = part_of(*at, experiment.Min.y, experiment, inspector);
            if (part == WindowPart::experiment) {
                // Its rows from top to bottom; the controls of a row are equally high.
                EXPECT_GE(at->area[3], bottom - 4) << "control " << i;
                bottom = at->area[3];
            }
            parts.push_back(part);
        }
        EXPECT_TRUE(std::ranges::is_sorted(parts)) << name_of(view);
        for (const WindowPart part : {WindowPart::menu, WindowPart::sentence, WindowPart::experiment,
                                      WindowPart::center, WindowPart::status})
            EXPECT_GT(std::ranges::count(parts, part), 0) << name_of(view) << static_cast<int>(part);
    }
}

TEST_F(KeyboardTest, TabLeavesTheSentence) {
    press(Key::l, {.ctrl = true});
    ASSERT_TRUE(ImGui::GetIO().WantTextInput);
    const std::string before = text();
    press(Key::tab);
    EXPECT_FALSE(ImGui::GetIO().WantTextInput);
    EXPECT_NE(workspace->controls().focus.id, 0U);
    EXPECT_EQ(text(), before);
}

// Dialogs
// -----------------------------------------------------------------------------------------------------

TEST_F(KeyboardTest, TabStaysInADialogAndComesBackToWhereItWas) {
    press(Key::tab);
    press(Key::tab);
    const unsigned before = workspace->controls().focus.id;
    const auto behind = drawn_controls();
    for (const Dialog dialog : {Dialog::open, Dialog::save, Dialog::exporting, Dialog::giving, Dialog::keys,
                                Dialog::about, Dialog::palette}) {
        interaction().open(dialog);
        settle();
        const auto controls = drawn_controls();
        ASSERT_FALSE(controls.empty());
        EXPECT_EQ(std::set<unsigned>(controls.begin(), controls.end()).size(), controls.size());
        for (std::size_t i = 0; i < 2 * controls.size(); ++i) {
            const unsigned last = workspace->controls().focus.id;
            press(Key::tab);
            EXPECT_EQ(std::ranges::count(controls, workspace->controls().focus.id), 1);
            EXPECT_EQ(std::ranges::count(behind, workspace->controls().focus.id), 0);
            if (controls.size() > 1) {
                EXPECT_NE(workspace->controls().focus.id, last) << "Tab is stuck";
            }
        }
        press(Key::escape);
        EXPECT_EQ(interaction().dialog, Dialog::none);
        step();
        EXPECT_EQ(workspace->controls().focus.id, before);
    }
    EXPECT_FALSE(document().can_undo());
}

TEST_F(KeyboardTest, APictureIsExportedByKeysAlone) {
    const test::TemporaryFolder folder;
    const Presentation before = document().presentation();
    press(Key::e, {.ctrl = true});
    ExportForm& form = interaction().export_form;
    form.folder = folder.path();
    tab_to("Export##dialog", {"Formats", "csv"});
    press(Key::space);
    EXPECT_EQ(form.formats, (std::vector{FileFormat::png, FileFormat::csv}));
    press(Key::tab, {.shift = true});
    press(Key::tab, {.shift = true});
    press(Key::tab, {.shift = true});
    press(Key::enter);
    EXPECT_EQ(form.formats, (std::vector{FileFormat::csv})) << "png stands three before csv";
    tab_to("Export##dialog", {"What", "all"});
    press(Key::enter);
    EXPECT_EQ(form.what, ExportForm::What::all);
    press(Key::tab, {.shift = true});
    press(Key::space);
    EXPECT_EQ(form.what, ExportForm::What::stage);
    tab_to("Export##dialog", {"Title", "##title"});
    ASSERT_TRUE(ImGui::GetIO().WantTextInput) << "a text field takes the keyboard";
    play(typing("a b"));
    press(Key::left);
    play(typing("c"));
    EXPECT_EQ(form.presentation.title, "a cb") << "spaces and arrows are the field's";
    tab_to("Export##dialog", {"Colors", "##choice"});
    press(Key::right);
    EXPECT_EQ(form.presentation.colormap, ColormapKind::cividis);
    tab_to("Export##dialog", {"Cell size", "values in the cells"});
    press(Key::space);
    EXPECT_NE(form.presentation.values, before.values);
    tab_to("Export##dialog", {"Export"});
    press(Key::enter);
    workspace->exporter().wait();
    settle();
    EXPECT_EQ(interaction().dialog, Dialog::none);
    EXPECT_TRUE(std::filesystem::exists(folder.file("weights.csv"))) << interaction().notice.text;
    EXPECT_EQ(document().presentation(), before);
}

TEST_F(KeyboardTest, AFileIsChosenByKeysAlone) {
    const test::TemporaryFolder folder;
    std::filesystem::create_directory(folder.file("inner"));
    Session session;
    session.experiment.weights.seed = 77;
    write_file(folder.file("inner/a.json"), to_json(Session{}));
    write_file(folder.file("inner/b.json"), to_json(session));
    interaction().file_form.folder = folder.path();
    press(Key::o, {.ctrl = true});
    press(Key::tab, {.shift = true});
    press(Key::down);
    press(Key::enter);
    EXPECT_EQ(interaction().file_form.folder, folder.file("inner"));
    press(Key::up);
    press(Key::enter);
    EXPECT_EQ(interaction().file_form.folder, folder.path()) << "the folder above";
    press(Key::down);
    press(Key::enter);
    press(Key::down);
    press(Key::down);
    EXPECT_EQ(interaction().file_form.name, "b.json");
    EXPECT_EQ(interaction().dialog, Dialog::open) << "not before Enter";
    press(Key::enter);
    EXPECT_EQ(interaction().dialog, Dialog::none);
    EXPECT_EQ(document().experiment().weights.seed, Seed(77));
}

TEST_F(KeyboardTest, AMatrixIsSetByKeysAlone) {
    press(Key::g, {.ctrl = true});
    CustomForm& form = interaction().custom_form;
    form.values = Matrix::Zero(40, 3);
    press(Key::right);
    press(Key::down, {.shift = true});
    press(Key::down, {.shift = true});
    EXPECT_EQ(form.selected, (Cell{20, 1}));
    EXPECT_GT(find_window("/grid_")->Scroll.y, 0) << "the cell is out of sight";
    press(Key::enter);
    push(pressing(Key::a, {.ctrl = true}));
    push(typing("2.5"));
    play(pressing(Key::enter));
    EXPECT_EQ(form.values(20, 1), 2.5f);
    press(Key::escape);
    press(Key::g, {.ctrl = true});
    const std::string first = form.name;
    tab_to("Custom matrix##dialog", {"Name", "##name"});
    press(Key::right);
    EXPECT_NE(form.name, first);
    press(Key::left);
    EXPECT_EQ(form.name, first);
    tab_to("Custom matrix##dialog", {"Values", "Zeros"});
    press(Key::enter);
    EXPECT_TRUE(form.values.isZero(0));
    tab_to("Custom matrix##dialog", {"Apply"});
    press(Key::enter);
    settle();
    EXPECT_EQ(interaction().dialog, Dialog::none) << form.problem;
    EXPECT_TRUE(document().experiment().is_custom(first));
}

TEST_F(KeyboardTest, TheArrowsWalkThroughThePalette) {
    press(Key::p, {.ctrl = true});
    push(typing("export"));
    settle();
    press(Key::down);
    press(Key::up);
    press(Key::enter);
    EXPECT_EQ(interaction().dialog, Dialog::exporting);
    press(Key::escape);
    press(Key::p, {.ctrl = true});
    press(Key::down);
    EXPECT_EQ(interaction().palette_entry, 1);
    press(Key::enter);
    EXPECT_EQ(interaction().dialog, Dialog::open) << "the second action of the menus";
}

TEST_F(KeyboardTest, TheControlIsOutlinedUntilTheMouseMoves) {
    const gl::Pixels before = picture();
    press(Key::tab);
    EXPECT_NE(picture(), before);
    click(cell_place(1, 1));
    EXPECT_EQ(workspace->controls().focus.id, 0U);
}

TEST_F(KeyboardTest, TheControlIsBroughtIntoSight) {
    start(load_example("scaled-dot-product"), 1024, 700);
    const ImGuiWindow* panel = find_window("/experiment_");
    ASSERT_TRUE(panel);
    // Those of the panel are drawn before those of the status bar, which stands below it.
    unsigned below = 0;
    for (const DrawnControl& control : workspace->controls().focus.drawn)
        if (below == 0 && control.area[2] <= panel->Rect().Max.x && control.area[1] > panel->Rect().Max.y)
            below = control.id;
    ASSERT_NE(below, 0U) << "the panel fits into the window";
    for (std::size_t i = drawn_controls().size(); i > 0 && workspace->controls().focus.id != below; --i)
        press(Key::tab, {.shift = true});
    EXPECT_GT(panel->Scroll.y, 0);
}

}  // namespace
}  // namespace attnscope
