#include "tests/interface.h"

#include <cmath>
#include <filesystem>
#include <set>

#include "app/views/matrix_painter.h"
#include "core/attention/evaluate.h"
#include "core/io/export.h"
#include "core/io/file.h"
#include "core/picture/color_scale.h"
#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

constexpr Mods k_ctrl{.ctrl = true};
constexpr Mods k_ctrl_shift{.ctrl = true, .shift = true};

// The sentence
// -----------------------------------------------------------------------------------------------------

class SentenceTest : public InterfaceTest {
protected:
    void retype(std::string_view sentence) {
        click(sentence_field());
        push(pressing(Key::a, k_ctrl));
        play(typing(sentence));
    }
};

TEST_F(SentenceTest, TypedTextIsTheSessionsAndIsComputed) {
    retype("The cat sat on the mat");
    EXPECT_EQ(text(), "The cat sat on the mat");
    EXPECT_FALSE(document().stale());
    EXPECT_EQ(document().trace()->rows.size(), 6U);
}

TEST_F(SentenceTest, AnEmojiAndACombiningAccentKeepTheirBytes) {
    const std::string sentence = "I 👍🏽 cafe\u0301 naïve 木";
    retype(sentence);
    EXPECT_EQ(text(), sentence);
    EXPECT_EQ(document().problem(), "");
}

TEST_F(SentenceTest, EachWordIsOneUndoStepInTheFieldToo) {
    retype("one two");
    press(Key::z, k_ctrl);
    EXPECT_EQ(text(), "one");
    press(Key::z, k_ctrl_shift);
    EXPECT_EQ(text(), "one two");
    play(typing("!"));
    EXPECT_EQ(text(), "one two!") << "the field did not follow the undo";
}

TEST_F(SentenceTest, UndoGoesBackToTheSentenceBefore) {
    const std::string before = text();
    retype("something else");
    for (int i = 0; i < 20 && document().can_undo(); ++i) press(Key::z, k_ctrl);
    EXPECT_EQ(text(), before);
    EXPECT_FALSE(document().stale());
}

TEST_F(SentenceTest, CtrlLTakesTheKeyboardThere) {
    press(Key::l, k_ctrl);
    EXPECT_TRUE(ImGui::GetIO().WantTextInput);
    push(pressing(Key::end));
    play(typing("!"));
    EXPECT_TRUE(text().ends_with("!")) << text();
}

TEST_F(SentenceTest, LettersAreNoShortcutsWhileTyping) {
    document().change([](Session& s) { s.presentation.stage = "query"; });
    click(sentence_field());
    interaction().zoom = {2, 0.5, 0.5};
    push(pressing(Key::end));
    push(typing("0"));
    play(pressing(Key::left));
    EXPECT_TRUE(text().ends_with("0"));
    EXPECT_EQ(interaction().zoom.factor, 2);
    EXPECT_EQ(document().presentation().stage, "query");
}

TEST_F(SentenceTest, EmptyingItKeepsThePictureAndTypingGoesOn) {
    const auto before = document().trace();
    click(sentence_field());
    push(pressing(Key::a, k_ctrl));
    press(Key::backspace);
    EXPECT_EQ(text(), "");
    EXPECT_EQ(document().trace(), before);
    EXPECT_EQ(document().problem(), "");
    play(typing("again"));
    EXPECT_EQ(document().trace()->rows, std::vector<std::string>{"again"});
}

TEST_F(SentenceTest, EscapeLetsGoOfTheKeyboardAndKeepsTheText) {
    retype("kept");
    press(Key::escape);
    EXPECT_EQ(text(), "kept");
    EXPECT_FALSE(ImGui::GetIO().WantTextInput);
}

// The experiment
// -----------------------------------------------------------------------------------------------------

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

TEST_F(ExperimentPanelTest, ACausalMaskIsChosenFromTheList) {
    click(field_of("Kind", {"##kind"}));
    choose("causal");
    ASSERT_EQ(document().experiment().mask, (std::vector<MaskRule>{{"causal", {}}}));
    const Stage& weights = *document().trace()->find("weights");
    EXPECT_EQ(weights.buffer.at(0, 0, 1), 0.0f);
    press(Key::z, k_ctrl);
    EXPECT_TRUE(document().experiment().mask.empty());
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

// The matrix
// -----------------------------------------------------------------------------------------------------

class FocusTest : public InterfaceTest {};

TEST_F(FocusTest, PointingFindsTheCellAndComputesNothing) {
    const auto before = document().trace();
    const Session session = document().session();
    for (const Cell cell : {Cell{0, 0}, Cell{3, 5}, Cell{7, 7}}) {
        move(cell_place(cell.row, cell.column));
        ASSERT_TRUE(interaction().hovered);
        EXPECT_EQ(interaction().hovered->stage, "weights");
        EXPECT_EQ(interaction().hovered->cell, cell);
    }
    EXPECT_EQ(document().trace(), before);
    EXPECT_FALSE(document().busy());
    EXPECT_EQ(document().session(), session);
}

TEST_F(FocusTest, EveryCellIsFoundAtItsEdgesToo) {
    const SeenMatrix weights = focused();
    for (int i = 0; i < weights.drawn.rows; ++i) {
        for (const float inside : {0.05f, 0.95f}) {
            const float row = static_cast<float>(i) + inside;
            move(weights.at(row, row));
            ASSERT_TRUE(interaction().hovered);
            EXPECT_EQ(interaction().hovered->cell, (Cell{i, i}));
        }
    }
}

TEST_F(FocusTest, EveryMatrixOnScreenTellsItsCell) {
    step();
    std::set<std::string_view> seen;
    for (const SeenMatrix& matrix : seen_matrices()) {
        const int row = matrix.drawn.rows / 2, column = matrix.drawn.columns / 2;
        const ImVec2 place = matrix.at(static_cast<float>(column) + 0.5f, static_cast<float>(row) + 0.5f);
        if (!matrix.sees(place)) continue;
        move(place);
        ASSERT_TRUE(interaction().hovered) << matrix.stage->name();
        EXPECT_EQ(interaction().hovered->stage, matrix.stage->name());
        const Cell wanted = matrix.drawn.transposed ? Cell{column, row} : Cell{row, column};
        EXPECT_EQ(interaction().hovered->cell, wanted) << matrix.stage->name();
        seen.insert(matrix.stage->name());
    }
    for (const char* name : {"embedding", "query", "key", "value", "scores", "weights", "context"})
        EXPECT_TRUE(seen.contains(name)) << name << " is not on screen";
}

TEST_F(FocusTest, LeavingThePointerPointsAtNothing) {
    move(cell_place(1, 1));
    ASSERT_TRUE(interaction().hovered);
    play({MouseLeave{}});
    EXPECT_FALSE(interaction().hovered);
}

TEST_F(FocusTest, AClickLocksASecondUnlocksAndEscapeToo) {
    click(cell_place(2, 4));
    EXPECT_EQ(document().presentation().locked, (Cell{2, 4}));
    click(cell_place(2, 4));
    EXPECT_FALSE(document().presentation().locked);
    click(cell_place(5, 1));
    EXPECT_EQ(document().presentation().locked, (Cell{5, 1}));
    press(Key::escape);
    EXPECT_FALSE(document().presentation().locked);
    EXPECT_FALSE(workspace->quits());
    EXPECT_FALSE(document().can_undo());
}

TEST_F(FocusTest, TheWheelZoomsAroundTheMouse) {
    const ImVec2 mouse = focused().at(2.3f, 6.6f);
    wheel(mouse, 5);
    EXPECT_GT(interaction().zoom.factor, 2);
    const SeenMatrix zoomed = focused();
    EXPECT_NEAR((mouse.x - zoomed.drawn.top_left.x) / zoomed.pitch_x(), 2.3, 0.15);
    EXPECT_NEAR((mouse.y - zoomed.drawn.top_left.y) / zoomed.pitch_y(), 6.6, 0.15);
    ASSERT_TRUE(interaction().hovered);
    EXPECT_EQ(interaction().hovered->cell, (Cell{6, 2}));
    press(Key::digit_0);
    EXPECT_EQ(interaction().zoom, Zoom{});
}

TEST_F(FocusTest, ZoomEndsAtOneCellAndAtTheWhole) {
    wheel(cell_place(0, 0), 200);
    const SeenMatrix close = focused();
    EXPECT_GE(close.pitch_x() * 1.5f, close.drawn.clip_max.x - close.drawn.clip_min.x);
    ASSERT_TRUE(interaction().hovered);
    wheel({close.drawn.clip_min.x + 5, close.drawn.clip_min.y + 5}, -200);
    EXPECT_EQ(interaction().zoom, Zoom{});
}

TEST_F(FocusTest, DraggingPansAndLocksNothing) {
    const ImVec2 mouse = cell_place(4, 4);
    wheel(mouse, 6);
    const ImVec2 before = focused().drawn.top_left;
    drag(mouse, {-40, -30});
    const ImVec2 after = focused().drawn.top_left;
    EXPECT_NEAR(after.x - before.x, -40, 6);
    EXPECT_NEAR(after.y - before.y, -30, 6);
    EXPECT_FALSE(document().presentation().locked);
    EXPECT_FALSE(document().can_undo());
}

TEST_F(FocusTest, PanningStopsAtTheEdges) {
    const ImVec2 mouse = cell_place(4, 4);
    wheel(mouse, 6);
    for (int i = 0; i < 8; ++i) drag(mouse, {300, 300}, 4);
    const SeenMatrix seen = focused();
    EXPECT_NEAR(seen.drawn.top_left.x, seen.drawn.clip_min.x, 1.5);
    EXPECT_NEAR(seen.drawn.top_left.y, seen.drawn.clip_min.y, 1.5);
}

TEST_F(FocusTest, ArrowsMoveAlongTheStrip) {
    const std::string before = document().presentation().stage;
    press(Key::left);
    const std::string left = document().presentation().stage;
    EXPECT_NE(left, before);
    press(Key::right);
    EXPECT_EQ(document().presentation().stage, before);
    press(Key::z, k_ctrl);
    EXPECT_EQ(document().presentation().stage, left);
}

TEST_F(FocusTest, AThumbnailIsFocusedByAClick) {
    const SeenMatrix query = thumbnail("query");
    click(query.at(2.5f, 2.5f));
    EXPECT_EQ(document().presentation().stage, "query");
    EXPECT_EQ(focused().drawn.columns, 16);
}

TEST_F(FocusTest, UpAndDownGoThroughTheHeads) {
    document().change([](Session& s) { s.experiment.heads = 2; });
    settle();
    press(Key::down);
    EXPECT_EQ(document().presentation().head, (HeadChoice{HeadChoice::Kind::one, 1}));
    press(Key::down);
    EXPECT_EQ(document().presentation().head.kind, HeadChoice::Kind::mean);
    press(Key::up);
    EXPECT_EQ(document().presentation().head, (HeadChoice{HeadChoice::Kind::one, 1}));
}

TEST_F(FocusTest, EveryCellOnScreenHasTheColorOfItsValue) {
    play({MouseMove{2, 2}});
    const gl::Pixels pixels = picture();
    int cells = 0;
    for (const SeenMatrix& seen : seen_matrices()) {
        if (seen.stage->info->unit == Unit::boolean) continue;
        const ColorScale scale =
            color_scale(*document().trace(), *seen.stage, HeadChoice{}, document().presentation());
        for (int i = 0; i < seen.drawn.rows; ++i) {
            for (int j = 0; j < seen.drawn.columns; ++j) {
                const ImVec2 at = bare_point(seen, i, j);
                if (!seen.sees(at)) continue;
                const float value =
                    seen.drawn.transposed ? seen.stage->buffer.at(0, j, i) : seen.stage->buffer.at(0, i, j);
                const Rgb8 color = scale.color(value);
                const std::uint32_t wanted = (std::uint32_t{color.red} << 24) |
                                             (std::uint32_t{color.green} << 16) |
                                             (std::uint32_t{color.blue} << 8) | 0xFF;
                EXPECT_EQ(pixels.at(static_cast<int>(at.x), static_cast<int>(at.y)), wanted)
                    << seen.stage->name() << " " << i << " " << j;
                ++cells;
            }
        }
    }
    EXPECT_GT(cells, 1000);
}

// Dialogs and files
// -----------------------------------------------------------------------------------------------------

class FilesTest : public InterfaceTest {
protected:
    void export_by_keys() {
        press(Key::e, k_ctrl);
        ASSERT_EQ(interaction().dialog, Dialog::exporting);
        push(pressing(Key::a, k_ctrl));
        push(typing(folder.path()));
        play(pressing(Key::enter));
        workspace->exporter().wait();
        settle();
    }

    /// In the root window.
    static bool is_open(const char* popup) {
        const ImGuiID id = ImHashStr(popup, 0, find_window("attnscope")->ID);
        return std::ranges::any_of(ImGui::GetCurrentContext()->OpenPopupStack,
                                   [&](const ImGuiPopupData& open) { return open.PopupId == id; });
    }

    test::TemporaryFolder folder;
};

TEST_F(FilesTest, ExportingWritesTheBytesThatRenderGives) {
    document().change([](Session& s) { s.experiment.mask = {{"causal", {}}}; });
    settle();
    export_by_keys();
    EXPECT_EQ(interaction().dialog, Dialog::none);
    EXPECT_FALSE(interaction().notice.problem) << interaction().notice.text;
    const Session session = document().session();
    const Trace trace = evaluate(session.experiment);
    const auto items = plan_export(trace, {{"weights"}, session.presentation.head, {"png"}});
    ASSERT_EQ(items.size(), 1U);
    EXPECT_EQ(read_file(folder.file("weights.png")), export_bytes(trace, session, items.front()));
    EXPECT_EQ(folder.file_count(), 1U);
}

TEST_F(FilesTest, ALongExportCanBeHiddenAndCancelledInTheStatusBar) {
    Session session = document().session();
    session.experiment.text.clear();
    for (int i = 0; i < 200; ++i) session.experiment.text += "word ";
    const auto trace = std::make_shared<const Trace>(evaluate(session.experiment));
    workspace->exporter().start(trace, session, {{}, {}, {"svg", "pdf"}}, folder.path());
    while (workspace->exporter().running() && !workspace->exporter().takes_long()) step(true);
    ASSERT_TRUE(workspace->exporter().running());
    press(Key::e, k_ctrl);
    click(place_of("Export##dialog", {"Hide"}));
    ASSERT_EQ(interaction().dialog, Dialog::none);
    ASSERT_TRUE(workspace->exporter().running());
    click(place_of("attnscope", {"cancel export", "Cancel"}));
    workspace->exporter().wait();
    settle();
    EXPECT_TRUE(interaction().notice.text.starts_with("export cancelled")) << interaction().notice.text;
}

TEST_F(FilesTest, AFolderThatIsNotThereIsSaidInTheDialogAndItStays) {
    press(Key::e, k_ctrl);
    push(pressing(Key::a, k_ctrl));
    push(typing(folder.file("nowhere")));
    play(pressing(Key::enter));
    workspace->exporter().wait();
    settle();
    EXPECT_EQ(interaction().dialog, Dialog::exporting);
    EXPECT_NE(interaction().export_form.problem.find("nowhere"), std::string::npos)
        << interaction().export_form.problem;
    click(place_of("Export##dialog", {"Cancel"}));
    EXPECT_EQ(interaction().dialog, Dialog::none);
}

TEST_F(FilesTest, EscapeClosesADialogAndTheWindowGoesOn) {
    for (const Key key : {Key::e, Key::o, Key::p}) {
        press(key, k_ctrl);
        ASSERT_NE(interaction().dialog, Dialog::none);
        press(Key::escape);
        EXPECT_EQ(interaction().dialog, Dialog::none);
        click(cell_place(3, 3));
        EXPECT_EQ(document().presentation().locked, (Cell{3, 3}))
            << "the closed dialog still blocks the mouse";
        press(Key::escape);
        EXPECT_FALSE(document().presentation().locked);
    }
}

TEST_F(FilesTest, EscapeClosesAMenuAndNothingElse) {
    click(cell_place(3, 3));
    click(place_of("attnscope", {"File"}));
    ASSERT_TRUE(is_open("menu File"));
    press(Key::escape);
    EXPECT_FALSE(is_open("menu File"));
    EXPECT_TRUE(document().presentation().locked);
    press(Key::escape);
    EXPECT_FALSE(document().presentation().locked);
}

TEST_F(FilesTest, EscapeClosesAListBeforeItsDialog) {
    press(Key::e, k_ctrl);
    click(place_of("Export##dialog", {"Theme", "##choice"}));
    press(Key::escape);
    EXPECT_EQ(interaction().dialog, Dialog::exporting);
    EXPECT_NE(place_of("Export##dialog", {"Cancel"}).x, -1) << "the list still takes the mouse";
    press(Key::escape);
    EXPECT_EQ(interaction().dialog, Dialog::none);
}

TEST_F(FilesTest, ADialogOpensAgainAfterEscape) {
    for (int i = 0; i < 3; ++i) {
        press(Key::e, k_ctrl);
        EXPECT_NE(place_of("Export##dialog", {"Cancel"}).x, -1);
        press(Key::escape);
    }
}

TEST_F(FilesTest, ADialogKeepsTheMouseFromWhatIsBehind) {
    const ImVec2 cell = cell_place(0, 0);
    press(Key::f1);
    click(cell);
    EXPECT_FALSE(document().presentation().locked);
}

TEST_F(FilesTest, ThePaletteRunsWhatIsFound) {
    press(Key::p, k_ctrl);
    push(typing("light"));
    play(pressing(Key::enter));
    EXPECT_EQ(document().presentation().theme, "light");
    EXPECT_EQ(interaction().dialog, Dialog::none);
}

TEST_F(FilesTest, AnExportedPictureBringsItsSessionBack) {
    document().change([](Session& s) {
        s.experiment.text = "bring me back 👍";
        s.experiment.heads = 2;
        s.presentation.colormap = "magma";
    });
    settle();
    export_by_keys();
    const Session exported = document().session();
    workspace->run(*find_action("file.new"));
    settle();
    ASSERT_NE(document().session(), exported);
    ASSERT_TRUE(std::filesystem::exists(folder.file("weights-head1.png")));
    play({Drop{{folder.file("weights-head1.png")}}});
    EXPECT_EQ(document().session(), exported);
    EXPECT_EQ(document().file(), "");
    EXPECT_FALSE(document().stale());
}

TEST_F(FilesTest, ADroppedSessionIsOpenedAndOneUndoTakesItBack) {
    const Session before = document().session();
    Session other;
    other.experiment.seed = 99;
    write_file(folder.file("other.json"), to_json(other));
    play({Drop{{folder.file("other.json")}}});
    EXPECT_EQ(document().experiment(), other.experiment);
    EXPECT_EQ(document().file(), folder.file("other.json"));
    press(Key::z, k_ctrl);
    EXPECT_EQ(document().experiment(), before.experiment);
}

TEST_F(FilesTest, ABrokenFileGivesANoticeAndLosesNothing) {
    const Session before = document().session();
    const auto trace = document().trace();
    write_file(folder.file("broken.json"), "{\"version\": 1, \"experiment\": ");
    write_file(folder.file("broken.png"), "\x89PNG\r\n\x1a\n and no more");
    for (const char* name : {"broken.json", "broken.png", "missing.json"}) {
        interaction().notice = {};
        play({Drop{{folder.file(name)}}});
        EXPECT_TRUE(interaction().notice.problem) << name;
        EXPECT_NE(interaction().notice.text.find(name), std::string::npos) << interaction().notice.text;
        EXPECT_EQ(document().session(), before);
        EXPECT_EQ(document().trace(), trace);
        EXPECT_FALSE(document().can_undo());
    }
}

TEST_F(FilesTest, SavingByKeysAsksOnceThenWrites) {
    press(Key::s, k_ctrl);
    ASSERT_EQ(interaction().dialog, Dialog::save);
    interaction().file_form.folder = folder.path();
    push(pressing(Key::a, k_ctrl));
    push(typing("mine.json"));
    play(pressing(Key::enter));
    EXPECT_EQ(interaction().dialog, Dialog::none);
    EXPECT_EQ(load_session(folder.file("mine.json")), document().session());
    document().change([](Session& s) { s.experiment.seed = 5; });
    press(Key::s, k_ctrl);
    EXPECT_EQ(interaction().dialog, Dialog::none);
    EXPECT_EQ(load_session(folder.file("mine.json")).experiment.seed, Seed(5));
    EXPECT_EQ(workspace->title(), "mine.json — attnscope");
}

TEST_F(FilesTest, CtrlCCopiesTheMatrixButInTheSentenceTheText) {
    press(Key::c, k_ctrl);
    EXPECT_TRUE(compat::text_bridge().clipboard.get().starts_with("\tCan\t"));
    click(sentence_field());
    push(pressing(Key::a, k_ctrl));
    press(Key::c, k_ctrl);
    EXPECT_EQ(compat::text_bridge().clipboard.get(), text());
}

TEST_F(FilesTest, TheStateOfTheWorkspaceComesBack) {
    document().change([](Session& s) { s.experiment.seed = 1234; });
    press(Key::equal, k_ctrl);
    const SavedState state = workspace->state();
    EXPECT_EQ(state.session, document().session());
    EXPECT_EQ(state.scale, 1.25);
    workspace = std::make_unique<Workspace>(state, EvaluateOptions{}, [] {});
    callbacks = workspace->callbacks();
    settle();
    EXPECT_EQ(workspace->state(), state);
}

TEST_F(FilesTest, AStateWithAFileThatChangedSinceIsModified) {
    write_file(folder.file("a.json"), to_json(Session{}));
    SavedState state;
    state.session.experiment.seed = 5;
    state.file = folder.file("a.json");
    Workspace changed(state, {}, [] {});
    EXPECT_EQ(changed.document().file(), state.file);
    EXPECT_TRUE(changed.document().modified());
    state.session = Session{};
    EXPECT_FALSE(Workspace(state, {}, [] {}).document().modified());
    state.file = folder.file("gone.json");
    EXPECT_EQ(Workspace(state, {}, [] {}).document().file(), "");
}

TEST_F(FilesTest, CtrlQQuitsAndClosingIsAllowed) {
    EXPECT_TRUE(callbacks.on_close_request());
    press(Key::q, k_ctrl);
    EXPECT_TRUE(workspace->quits());
}

// Sizes
// -----------------------------------------------------------------------------------------------------

struct Screen {
    int width, height;
    float scale;
};

void PrintTo(const Screen& screen, std::ostream* out) {
    *out << screen.width << " × " << screen.height << " at " << screen.scale;
}

class ScreenTest : public InterfaceTest, public ::testing::WithParamInterface<Screen> {
protected:
    void SetUp() override {
        Session session = load_example("multi-head");
        session.experiment.mask = {{"causal", {}}};
        start(session, GetParam().width, GetParam().height, GetParam().scale);
    }
};

TEST_P(ScreenTest, DrawsDarkAndLight) {
    workspace->run(*find_action("view.dark"));
    const gl::Pixels dark = picture();
    workspace->run(*find_action("view.light"));
    const gl::Pixels light = picture();
    EXPECT_NE(dark, light);
    EXPECT_NE(dark.at(dark.width / 2, 3), light.at(light.width / 2, 3));
    EXPECT_TRUE(document().trace());
}

TEST_P(ScreenTest, DrawsEveryDialogAndPanel) {
    for (const Action& action : actions()) {
        if (action.id == "file.quit") continue;
        workspace->run(action);
        settle();
        picture();
        interaction().dialog = Dialog::none;
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, ScreenTest,
                         ::testing::Values(Screen{1024, 700, 0.75f}, Screen{1024, 700, 1},
                                           Screen{1024, 700, 2}, Screen{1024, 700, 3},
                                           Screen{2560, 1440, 0.75f}, Screen{2560, 1440, 1},
                                           Screen{2560, 1440, 2}, Screen{2560, 1440, 3}),
                         [](const auto& screen) {
                             return std::to_string(screen.param.width) + "x" +
                                    std::to_string(screen.param.height) + "at" +
                                    std::to_string(static_cast<int>(screen.param.scale * 100));
                         });

class LengthTest : public InterfaceTest {
protected:
    void show(const std::string& sentence) {
        Session session = load_example("scaled-dot-product");
        session.experiment.text = sentence;
        start(session);
        ASSERT_FALSE(document().stale()) << document().problem();
        for (const StagePtr& stage : document().trace()->stages()) {
            if (stage->info->unit == Unit::token_id) continue;
            document().change([&](Session& s) { s.presentation.stage = stage->name(); });
            const gl::Pixels pixels = picture();
            EXPECT_EQ(focused().stage, stage.get());
            EXPECT_EQ(pixels.width, 1600);
        }
    }
};

TEST_F(LengthTest, ThreeHundredWordsDraw) {
    std::string sentence;
    for (int i = 0; i < 300; ++i) sentence += "word" + std::to_string(i % 83) + " ";
    show(sentence);
    EXPECT_EQ(document().trace()->rows.size(), 300U);
    document().change([](Session& s) { s.presentation.stage = "weights"; });
    settle();
    move(cell_place(150, 299));
    ASSERT_TRUE(interaction().hovered);
    EXPECT_NEAR(interaction().hovered->cell.row, 150, 1);
    EXPECT_NEAR(interaction().hovered->cell.column, 299, 1);
}

TEST_F(LengthTest, OneTokenDraws) {
    show("alone");
    document().change([](Session& s) { s.presentation.stage = "weights"; });
    settle();
    click(cell_place(0, 0));
    EXPECT_EQ(document().presentation().locked, (Cell{0, 0}));
    picture();
}

TEST_F(LengthTest, NoTokenDraws) {
    Session session;
    session.experiment.text.clear();
    start(session);
    picture();
    EXPECT_FALSE(document().trace());
    for (const Action& action : actions())
        if (action.id != "file.quit") press(action.shortcut.key, action.shortcut.mods);
    picture();
}

TEST_F(LengthTest, AFullyMaskedRowDraws) {
    Session session = load_example("scaled-dot-product");
    session.experiment.mask = {{"valid", {0}}};
    start(session);
    click(cell_place(0, 0));
    picture();
    EXPECT_TRUE(document().trace()->fully_masked(0));
}

// Places
// -----------------------------------------------------------------------------------------------------

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
