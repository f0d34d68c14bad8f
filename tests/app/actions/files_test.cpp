// Dialogs, files, menus and saved state.
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "app/actions/files.h"
#include "core/export/export.h"
#include "core/files/file.h"
#include "core/mechanism/evaluate.h"
#include "core/recipe/recipe.h"
#include "core/session/comparisons.h"
#include "tests/drawn_sessions.h"
#include "tests/interface.h"
#include "tests/keys.h"
#include "tests/screen_texts.h"
#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

using namespace test;

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

    /// Whether a popup of the root window is open.
    static bool is_open(const char* popup) {
        const ImGuiID id = ImHashStr(popup, 0, find_window("attnscope")->ID);
        return std::ranges::any_of(ImGui::GetCurrentContext()->OpenPopupStack,
                                   [&](const ImGuiPopupData& open) { return open.PopupId == id; });
    }

    test::TemporaryFolder folder;
};

TEST_F(FilesTest, ExportingWritesTheBytesThatRenderGives) {
    document().change([](Session& s) { s.experiment.weighting.mask = {{MaskForm::causal, {}}}; });
    settle();
    export_by_keys();
    EXPECT_EQ(interaction().dialog, Dialog::none);
    EXPECT_FALSE(interaction().notice.problem) << interaction().notice.text;
    const Session session = document().session();
    const Trace trace = evaluate(session.experiment);
    const auto items = plan_export(trace, {{"weights"}, session.presentation.head, {FileFormat::png}});
    ASSERT_EQ(items.size(), 1U);
    EXPECT_EQ(read_file(folder.file("weights.png")), export_bytes(trace, session, items.front()));
    EXPECT_EQ(folder.file_count(), 1U);
}

TEST_F(FilesTest, TheCellSizeOfAnExportIsThatOfTheNext) {
    press(Key::e, k_ctrl);
    interaction().export_form.presentation.cell_size = 20;
    push(pressing(Key::a, k_ctrl));
    push(typing(folder.path()));
    play(pressing(Key::enter));
    workspace->exporter().wait();
    settle();
    ASSERT_EQ(interaction().dialog, Dialog::none) << interaction().export_form.problem;
    press(Key::e, k_ctrl);
    EXPECT_EQ(interaction().export_form.presentation.cell_size, 20);
    press(Key::escape);
    EXPECT_FALSE(document().can_undo());
}

TEST_F(FilesTest, OfAnOpenViewItsOwnPictureIsExported) {
    Session session = test::words_and_patches();
    session.presentation.locked = Cell{4, 0};
    start(std::move(session));
    export_by_keys();
    EXPECT_FALSE(interaction().notice.problem) << interaction().notice.text;
    const Trace trace = evaluate(document().experiment());
    const auto items = plan_export(trace, {{}, {}, {FileFormat::png}, ViewKind::image, true});
    ASSERT_EQ(items.size(), 1U);
    EXPECT_EQ(read_file(folder.file("image-view.png")),
              export_bytes(trace, document().session(), items.front()));
    EXPECT_EQ(folder.file_count(), 1U);
    // In another view it is the stage in focus again.
    document().change([](Session& s) { s.presentation.view = ViewKind::pipeline; });
    settle();
    export_by_keys();
    EXPECT_EQ(read_file(folder.file("weights.png")).substr(1, 3), "PNG");
    EXPECT_EQ(folder.file_count(), 2U);
}

TEST_F(FilesTest, OfHeadsAndOfAComparisonAllIsExportedThatIsShown) {
    start(load_example("multi-head"));
    const auto composition = [&](ViewKind view) {
        document().change([&](Session& s) { s.presentation.view = view; });
        settle();
        press(Key::e, k_ctrl);
        const Compose shown = interaction().export_form.presentation.compose;
        press(Key::escape);
        return shown;
    };
    EXPECT_EQ(composition(ViewKind::pipeline), Compose::none);
    EXPECT_EQ(composition(ViewKind::heads), Compose::heads);
    EXPECT_EQ(composition(ViewKind::step), Compose::steps);
    EXPECT_EQ(composition(ViewKind::compare), Compose::none) << "nothing is pinned";
    document().change([](Session& s) { s = *with_preset(s, *find_comparison_preset("no scaling")); });
    EXPECT_EQ(composition(ViewKind::compare), Compose::compare);
}

TEST_F(FilesTest, AfterAFailedExportTheFolderCanBeTypedAgain) {
    press(Key::e, k_ctrl);
    push(pressing(Key::a, k_ctrl));
    push(typing("/nowhere/at/all"));
    play(pressing(Key::enter));
    workspace->exporter().wait();
    settle();
    ASSERT_EQ(interaction().dialog, Dialog::exporting);
    EXPECT_NE(interaction().export_form.problem, "");
    push(pressing(Key::a, k_ctrl));
    push(typing(folder.path()));
    play(pressing(Key::enter));
    workspace->exporter().wait();
    settle();
    EXPECT_EQ(interaction().dialog, Dialog::none);
    EXPECT_EQ(folder.file_count(), 1U);
}

TEST_F(FilesTest, ALongExportCanBeHiddenAndCanceledInTheStatusBar) {
    Session session = document().session();
    session.experiment.input.text.clear();
    for (int i = 0; i < 200; ++i) session.experiment.input.text += "word ";
    const auto trace = std::make_shared<const Trace>(evaluate(session.experiment));
    workspace->exporter().start(trace, session, {{}, {}, {FileFormat::svg, FileFormat::pdf}}, folder.path());
    while (workspace->exporter().running() && !workspace->exporter().takes_long()) step(true);
    ASSERT_TRUE(workspace->exporter().running());
    press(Key::e, k_ctrl);
    click(place_of("Export##dialog", {"Hide"}));
    ASSERT_EQ(interaction().dialog, Dialog::none);
    ASSERT_TRUE(workspace->exporter().running());
    click(place_of("attnscope", {"cancel export", "Cancel"}));
    workspace->exporter().wait();
    settle();
    EXPECT_TRUE(interaction().notice.text.starts_with("export canceled")) << interaction().notice.text;
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

TEST_F(FilesTest, TheDialogNamesTheStageByItsHeading) {
    Session session = test::four_heads();
    session.presentation.stage = "query_heads"_stage;
    start(session);
    press(Key::e, k_ctrl);
    EXPECT_NE(place_of("Export##dialog", {"What", "query heads"}).x, -1);
}

TEST_F(FilesTest, ATitleThatIsClearedIsNoneAndARightClickBringsTheStagesNameBack) {
    press(Key::e, k_ctrl);
    const auto title = [&] { return interaction().export_form.presentation.title; };
    ASSERT_FALSE(title());
    const ImVec2 field = place_of("Export##dialog", {"Title", "##title"});
    click(field);
    play(typing("A"));
    EXPECT_EQ(title(), "A");
    play(pressing(Key::backspace));
    EXPECT_EQ(title(), "") << "empty is empty";
    click(field, 1);
    EXPECT_FALSE(title());
}

TEST_F(FilesTest, AFilmIsPreviewedAsItIsWritten) {
    press(Key::digit_9);
    press(Key::e, k_ctrl);
    ExportForm& form = interaction().export_form;
    form.what = ExportForm::What::film;
    // What the preview's caption says before the picture's size.
    const auto caption = [&]() -> std::string {
        for (int i = 0; i < 500; ++i) {
            step(true);
            for (const test::ScreenText& each : test::texts_on_screen())
                if (each.text.ends_with("pixels"))
                    return each.text.substr(0, each.text.find_first_of("123456789"));
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return "no picture";
    };
    form.presentation.compose = Compose::none;
    EXPECT_EQ(caption(), "thefirstframe:");
    form.formats = {FileFormat::csv};
    step();
    workspace->previewer().wait();
    step();
    step();
    for (const test::ScreenText& each : test::texts_on_screen())
        EXPECT_FALSE(each.text.starts_with("thefirstframe")) << "there is no picture: " << each.text;
    form.formats = {FileFormat::png};
    form.presentation.compose = Compose::film;
    step();
    EXPECT_EQ(caption(), "") << "of all frames together";
    EXPECT_TRUE(workspace->previewer().known());
    press(Key::escape);
    EXPECT_FALSE(workspace->previewer().known()) << "its frames are not kept";
}

TEST_F(FilesTest, TheFilesOfAFilmAreCountedBeforeTheyAreWritten) {
    press(Key::digit_9);
    press(Key::e, k_ctrl);
    ExportForm& form = interaction().export_form;
    form.what = ExportForm::What::film;
    form.presentation.compose = Compose::none;
    push(pressing(Key::a, k_ctrl));
    play(typing(folder.path()));
    click(place_of("Export##dialog", {"Export"}));
    EXPECT_TRUE(form.confirms) << "a file for each of " << form.frames << " frames";
    EXPECT_EQ(folder.file_count(), 0U);
    form.confirms = false;
    form.presentation.compose = Compose::film;
    step();
    click(place_of("Export##dialog", {"Export"}));
    workspace->exporter().wait();
    settle();
    EXPECT_EQ(folder.file_count(), 1U) << "one picture is written unasked";
}

TEST_F(FilesTest, ADialogOpensAgainAfterEscape) {
    for (int i = 0; i < 3; ++i) {
        press(Key::e, k_ctrl);
        EXPECT_NE(place_of("Export##dialog", {"Cancel"}).x, -1);
        press(Key::escape);
    }
}

TEST_F(FilesTest, ADialogKeepsTheKeysThatEditFromWhatIsBehind) {
    document().change([](Session& s) { s.experiment.weights.seed = 5; });
    document().change([](Session& s) { s.experiment.weights.seed = 6; });
    document().undo();
    settle();
    for (const Key key : {Key::e, Key::o, Key::p}) {
        press(key, k_ctrl);
        ASSERT_NE(interaction().dialog, Dialog::none);
        push(typing("ab"));
        for (const Key edit : {Key::z, Key::y, Key::r, Key::n}) press(edit, k_ctrl);
        press(Key::z, k_ctrl_shift);
        EXPECT_EQ(document().experiment().weights.seed, Seed(5));
        press(Key::escape);
    }
    press(Key::z, k_ctrl);
    EXPECT_EQ(document().experiment().weights.seed, Seed(123));
}

TEST_F(FilesTest, ANumberThatIsTypedHasUndoOfItsOwn) {
    document().change([](Session& s) { s.experiment.weights.seed = 5; });
    settle();
    click(field_of("Seed", {"seed", "drag"}));
    push(typing("77"));
    press(Key::z, k_ctrl);
    EXPECT_EQ(document().experiment().weights.seed, Seed(5));
}

TEST_F(FilesTest, ADialogBeginsAtHome) {
    press(Key::o, k_ctrl);
    const char* home = std::getenv("HOME");
    EXPECT_EQ(interaction().file_form.folder,
              home && *home ? home : std::filesystem::current_path().string());
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
    EXPECT_EQ(document().presentation().theme, ThemeKind::light);
    EXPECT_EQ(interaction().dialog, Dialog::none);
}

TEST_F(FilesTest, AnExportedPictureBringsItsSessionBack) {
    document().change([](Session& s) {
        s.experiment.input.text = "bring me back 👍";
        s.experiment.attention.heads = 2;
        s.presentation.colormap = ColormapKind::magma;
    });
    settle();
    export_by_keys();
    const Session exported = document().session();
    workspace->run(*find_action("file.new"));
    settle();
    ASSERT_NE(document().session(), exported);
    ASSERT_TRUE(std::filesystem::exists(folder.file("weights-head1.png")));
    play({Drop{{folder.file("weights-head1.png")}}});
    settle();
    EXPECT_EQ(document().session(), exported);
    EXPECT_EQ(document().file(), "");
    EXPECT_FALSE(document().stale());
}

TEST_F(FilesTest, ADroppedSessionIsOpenedAndOneUndoTakesItBack) {
    const Session before = document().session();
    Session other;
    other.experiment.weights.seed = 99;
    write_file(folder.file("other.json"), to_json(other));
    play({Drop{{folder.file("other.json")}}});
    EXPECT_EQ(document().experiment(), other.experiment);
    EXPECT_EQ(document().file(), folder.file("other.json"));
    press(Key::z, k_ctrl);
    EXPECT_EQ(document().experiment(), before.experiment);
}

TEST_F(FilesTest, ASessionWithTensorsIsDroppedAndSavedAgain) {
    Session other;
    other.experiment.weights.custom.emplace("W_q", CustomMatrix(Matrix::Ones(16, 16)));
    const std::string path = folder.file("other.safetensors");
    write_file(path, to_safetensors(other));
    EXPECT_TRUE(can_be_opened(path));
    play({Drop{{path}}});
    EXPECT_EQ(document().experiment(), other.experiment);
    EXPECT_EQ(document().file(), path);
    EXPECT_FALSE(document().modified());
    document().change([](Session& s) { s.experiment.weights.seed = 5; });
    press(Key::s, k_ctrl);
    EXPECT_EQ(interaction().dialog, Dialog::none);
    EXPECT_EQ(read_file(path), to_safetensors(document().session()));
    EXPECT_FALSE(document().modified());
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

TEST_F(FilesTest, ATextFileThatIsNotASentenceIsRefusedByName) {
    const Session before = document().session();
    write_file(folder.file("latin1.txt"), "caf\xe9");
    write_file(folder.file("long.txt"), std::string(k_max_text_bytes + 1, 'a'));
    for (const char* name : {"latin1.txt", "long.txt"}) {
        interaction().notice = {};
        play({Drop{{folder.file(name)}}});
        EXPECT_TRUE(interaction().notice.problem) << name;
        EXPECT_TRUE(interaction().notice.text.starts_with(folder.file(name))) << interaction().notice.text;
        EXPECT_EQ(document().session(), before);
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
    document().change([](Session& s) { s.experiment.weights.seed = 5; });
    press(Key::s, k_ctrl);
    EXPECT_EQ(interaction().dialog, Dialog::none);
    EXPECT_EQ(load_session(folder.file("mine.json")).experiment.weights.seed, Seed(5));
    EXPECT_EQ(workspace->title(), "mine.json — attnscope");
}

TEST_F(FilesTest, SavingUnderANameOfTensorsWritesThem) {
    press(Key::s, k_ctrl_shift);
    interaction().file_form.folder = folder.path();
    push(pressing(Key::a, k_ctrl));
    push(typing("mine.safetensors"));
    play(pressing(Key::enter));
    EXPECT_EQ(interaction().dialog, Dialog::none);
    EXPECT_EQ(read_file(folder.file("mine.safetensors")), to_safetensors(document().session()));
    EXPECT_EQ(workspace->title(), "mine.safetensors — attnscope");
}

TEST_F(FilesTest, CtrlCCopiesTheMatrixButInTheSentenceTheText) {
    press(Key::c, k_ctrl);
    EXPECT_TRUE(compat::text_bridge().clipboard.get().starts_with("\tCan\t"));
    click(sentence_field());
    push(pressing(Key::a, k_ctrl));
    press(Key::c, k_ctrl);
    EXPECT_EQ(compat::text_bridge().clipboard.get(), text());
}

TEST_F(FilesTest, CopyAsPyTorchPutsTheRecipeOnTheClipboardByKeysAndFromThePalette) {
    const std::string script = recipe(*document().trace());
    press(Key::c, k_ctrl_shift);
    EXPECT_EQ(compat::text_bridge().clipboard.get(), script);
    compat::text_bridge().clipboard.set("");
    press(Key::p, k_ctrl);
    push(typing("pytorch"));
    play(pressing(Key::enter));
    EXPECT_EQ(compat::text_bridge().clipboard.get(), script);
}

TEST_F(FilesTest, TheStateOfTheWorkspaceComesBack) {
    document().change([](Session& s) { s.experiment.weights.seed = 1234; });
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
    state.session.experiment.weights.seed = 5;
    state.file = folder.file("a.json");
    start_with(state, state.session, 1600, 1000, 1);
    EXPECT_EQ(document().file(), state.file);
    EXPECT_TRUE(document().modified());
    start_with(state, Session{}, 1600, 1000, 1);
    EXPECT_FALSE(document().modified());
    state.file = folder.file("gone.json");
    start_with(state, Session{}, 1600, 1000, 1);
    EXPECT_EQ(document().file(), "");
}

TEST_F(FilesTest, AFileThatHangsDoesNotKeepTheWindowFromOpening) {
    SavedState state;
    state.file = folder.file("pipe");
    ASSERT_EQ(::mkfifo(state.file.c_str(), 0600), 0);
    workspace = std::make_unique<Workspace>(state, EvaluateOptions{}, [] {});
    callbacks = workspace->callbacks();
    step_through_input();
    EXPECT_TRUE(workspace->first_reader().running());
    EXPECT_EQ(workspace->title(), "pipe — attnscope");
    EXPECT_EQ(workspace->state().file, state.file) << "the next start tries again";
    document().change([](Session& s) { s.experiment.weights.seed = 7; });
    std::ofstream(state.file) << to_json(Session{});
    settle();
    EXPECT_EQ(document().file(), state.file);
    EXPECT_TRUE(document().modified());
}

TEST_F(FilesTest, AFileThatIsReadAfterItWasSavedChangesNothing) {
    SavedState state;
    state.file = folder.file("pipe");
    ASSERT_EQ(::mkfifo(state.file.c_str(), 0600), 0);
    workspace = std::make_unique<Workspace>(state, EvaluateOptions{}, [] {});
    callbacks = workspace->callbacks();
    document().saved_as(folder.file("b.json"));
    std::ofstream(state.file) << to_json(load_example("causal"));
    settle();
    EXPECT_EQ(document().file(), folder.file("b.json"));
    EXPECT_FALSE(document().modified());
}

TEST_F(FilesTest, CtrlQQuitsAndClosingIsAllowed) {
    EXPECT_TRUE(callbacks.on_close_request());
    press(Key::q, k_ctrl);
    EXPECT_TRUE(workspace->quits());
}

}  // namespace
}  // namespace attnscope
