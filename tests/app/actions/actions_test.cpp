#include "app/actions/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "app/actions/matrix_text.h"
#include "core/error.h"
#include "core/export/export.h"
#include "core/export/matrix_files.h"
#include "core/files/file.h"
#include "core/graph/stage_table.h"
#include "core/learn/training_run.h"
#include "core/mechanism/evaluate.h"
#include "core/recipe/recipe.h"
#include "core/session/examples.h"
#include "tests/keys.h"
#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

using namespace test;

TEST(ActionTableTest, IdsAreUniqueAndFound) {
    std::set<std::string_view> seen;
    for (const Action& action : actions()) {
        EXPECT_FALSE(action.id.empty());
        EXPECT_TRUE(seen.insert(action.id).second) << action.id << " is there twice";
        EXPECT_EQ(find_action(action.id), &action);
    }
    EXPECT_TRUE(std::ranges::equal(actions(), k_action_names, {}, &Action::id))
        << "k_action_names is not in the order of actions()";
    EXPECT_EQ(find_action("no.such"), nullptr);
    EXPECT_EQ(find_action(""), nullptr);
}

TEST(ActionTableTest, ShortcutsAreUnique) {
    std::set<std::string> seen;
    for (const Action& action : actions()) {
        if (action.shortcut.key != Key::none) {
            EXPECT_TRUE(seen.insert(shortcut_text(action.shortcut)).second)
                << shortcut_text(action.shortcut) << " does two things";
        }
    }
}

TEST(ActionTableTest, EveryShortcutCanBeWritten) {
    for (const Action& action : actions()) {
        const std::string text = shortcut_text(action.shortcut);
        EXPECT_EQ(text.empty(), action.shortcut.key == Key::none) << action.id;
        EXPECT_EQ(text.find('?'), std::string::npos) << action.id << ": " << text;
    }
    EXPECT_EQ(shortcut_text({Key::z, {.ctrl = true, .shift = true}}), "Ctrl+Shift+Z");
    EXPECT_EQ(shortcut_text({Key::f2, {}}), "F2");
    EXPECT_EQ(shortcut_text({Key::digit_0, k_ctrl}), "Ctrl+0");
    EXPECT_EQ(shortcut_text({}), "");
}

TEST(ActionTableTest, EveryActionHasATitleAndOneLineOfHelpAndStandsInAMenuOnce) {
    std::set<std::pair<Menu, std::string_view>> entries;
    for (const Action& action : actions()) {
        EXPECT_FALSE(action.title.empty()) << action.id;
        EXPECT_FALSE(action.help.empty()) << action.id;
        EXPECT_FALSE(action.help.ends_with('.')) << action.id;
        EXPECT_LT(action.help.size(), 100) << action.id << ": one line of the search";
        EXPECT_NE(action.enabled, nullptr) << action.id;
        EXPECT_NE(action.run, nullptr) << action.id;
        if (!action.menu) {
            EXPECT_EQ(action.id, "escape");
            continue;
        }
        EXPECT_TRUE(entries.emplace(*action.menu, action.title).second) << action.title;
    }
}

TEST(ActionTableTest, ShortcutsThatWorkWhileTypingAreNotCharacters) {
    for (const Action& action : actions()) {
        const bool types = is_printing(action.shortcut.key) && !action.shortcut.mods.ctrl &&
                           !action.shortcut.mods.alt && !action.shortcut.mods.super;
        const bool moves = action.shortcut.key >= Key::left && action.shortcut.key <= Key::tab &&
                           action.shortcut.key != Key::escape;
        if (types || moves) {
            EXPECT_FALSE(action.while_typing) << action.id << " would take a key from the text";
        }
    }
}

TEST(ActionForTest, ATypedKeyIsTextWhileTyping) {
    EXPECT_EQ(action_for({Key::digit_0}, false), find_action("view.whole"));
    EXPECT_EQ(action_for({Key::digit_0}, true), nullptr);
    EXPECT_EQ(action_for({Key::left}, true), nullptr);
    EXPECT_EQ(action_for({Key::c, k_ctrl}, true), nullptr) << "in a field, Ctrl+C copies its text";
    EXPECT_EQ(action_for({Key::c, k_ctrl}, false), find_action("edit.copy_matrix"));
}

TEST(ActionForTest, UndoWorksInTheSentenceToo) {
    for (const bool typing : {false, true}) {
        EXPECT_EQ(action_for({Key::z, k_ctrl}, typing), find_action("edit.undo"));
        EXPECT_EQ(action_for({Key::z, {.ctrl = true, .shift = true}}, typing), find_action("edit.redo"));
        EXPECT_EQ(action_for({Key::e, k_ctrl}, typing), find_action("file.export"));
        EXPECT_EQ(action_for({Key::q, k_ctrl}, typing), find_action("file.quit"));
    }
}

TEST(ActionForTest, ModifiersMustMatch) {
    EXPECT_EQ(action_for({Key::z}, false), nullptr);
    EXPECT_EQ(action_for({Key::z, {.ctrl = true, .alt = true}}, false), nullptr);
    EXPECT_EQ(action_for({Key::digit_0, k_ctrl}, false), find_action("view.normal"));
    EXPECT_EQ(action_for({Key::none}, false), nullptr);
}

TEST(ActionForTest, PlusStandsOnAShiftedKey) {
    const Action* larger = find_action("view.larger");
    EXPECT_EQ(action_for({Key::equal, k_ctrl}, false), larger);
    EXPECT_EQ(action_for({Key::equal, {.ctrl = true, .shift = true}}, false), larger);
}

class ActionTest : public ::testing::Test {
protected:
    void SetUp() override { document.settle(); }
    void run(std::string_view id) {
        ActionContext c = context();
        run_action(*find_action(id), c);
        document.settle();
    }
    ActionContext context() { return {document, interaction, saved, copy}; }
    void set_heads(int heads) {
        document.change([&](Session& s) { s.experiment.attention.heads = heads; });
        document.settle();
    }

    Document document{Session{}, {}, {}};
    Interaction interaction;
    SavedState saved;
    std::string copied;
    std::function<void(const std::string&)> copy = [this](const std::string& text) { copied = text; };
    test::TemporaryFolder folder;
};

TEST_F(ActionTest, EveryActionRunsOnAFreshDocument) {
    for (const Action& action : actions()) run(action.id);
    EXPECT_TRUE(document.trace());
}

TEST_F(ActionTest, EveryActionRunsOrIsDisabledWithoutATrace) {
    Session empty;
    empty.experiment.input.text.clear();
    Document nothing(empty, {}, {});
    for (const Action& action : actions()) {
        ActionContext c{nothing, interaction, saved, copy};
        run_action(action, c);
    }
    ActionContext c{nothing, interaction, saved, copy};
    nothing.open(empty, "");
    EXPECT_FALSE(find_action("file.export")->enabled(c));
}

TEST_F(ActionTest, UndoIsEnabledWhenThereIsSomethingToUndo) {
    ActionContext c = context();
    EXPECT_FALSE(find_action("edit.undo")->enabled(c));
    EXPECT_FALSE(find_action("edit.redo")->enabled(c));
    set_heads(2);
    EXPECT_TRUE(find_action("edit.undo")->enabled(c));
    run("edit.undo");
    EXPECT_EQ(document.experiment().attention.heads, 1);
    EXPECT_TRUE(find_action("edit.redo")->enabled(c));
}

TEST_F(ActionTest, ArrowsMoveAlongTheStripAndStopAtItsEnds) {
    std::vector<StageKey> keys;
    for (const StagePtr& stage : document.trace()->stages())
        if (stage->info->unit != Unit::token_id) keys.push_back(stage->key());
    document.change([&](Session& s) { s.presentation.stage = keys.front(); });
    run("view.previous_stage");
    EXPECT_EQ(document.presentation().stage, keys.front());
    for (std::size_t i = 1; i < keys.size(); ++i) {
        run("view.next_stage");
        EXPECT_EQ(document.presentation().stage, keys[i]);
    }
    run("view.next_stage");
    EXPECT_EQ(document.presentation().stage, keys.back());
    run("view.previous_stage");
    EXPECT_EQ(document.presentation().stage, keys[keys.size() - 2]);
}

TEST_F(ActionTest, ACopiedStageIsNamedByItsHeading) {
    document.change([](Session& s) { s.experiment.attention.score = Score::additive; });
    document.settle();
    for (const StageInfo* stage : {"score_hidden"_stage, "weights"_stage, "W_aq"_stage}) {
        document.change([&](Session& s) { s.presentation.stage = stage; });
        run("edit.copy_matrix");
        EXPECT_EQ(interaction.notice.text, "copied " + stage_heading(*stage) + " as tab-separated text");
    }
}

TEST_F(ActionTest, WhereTheFocusedStageVanishedTheWeightsAreCopiedAndLeft) {
    document.change([](Session& s) { s.presentation.stage = "score_hidden"_stage; });
    run("edit.copy_matrix");
    EXPECT_EQ(interaction.notice.text, "copied weights as tab-separated text");
    EXPECT_EQ(copied, focused_matrix_text(*document.trace(), Presentation{}));
    run("view.next_stage");
    EXPECT_EQ(document.presentation().stage, "context"_stage);
}

TEST_F(ActionTest, MovingTheFocusKeepsTheLockAndShowsTheWhole) {
    document.change([](Session& s) { s.presentation.locked = Cell{1, 1}; });
    interaction.zoom = {4, 0.2, 0.2};
    run("view.previous_stage");
    EXPECT_EQ(document.presentation().stage, "masked"_stage);
    EXPECT_EQ(locked_cell(document.presentation(), document.trace().get()), (Cell{1, 1}));
    EXPECT_EQ(interaction.zoom, Zoom{});
}

TEST_F(ActionTest, HeadsGoAroundWithTheirMean) {
    set_heads(2);
    EXPECT_EQ(document.presentation().head, (HeadChoice{HeadChoice::Kind::one, 0}));
    run("view.next_head");
    EXPECT_EQ(document.presentation().head, (HeadChoice{HeadChoice::Kind::one, 1}));
    run("view.next_head");
    EXPECT_EQ(document.presentation().head.kind, HeadChoice::Kind::mean);
    run("view.next_head");
    EXPECT_EQ(document.presentation().head, (HeadChoice{HeadChoice::Kind::one, 0}));
    run("view.previous_head");
    EXPECT_EQ(document.presentation().head.kind, HeadChoice::Kind::mean);
}

TEST_F(ActionTest, WithOneHeadThereIsNoOtherAndNoStepToUndo) {
    run("view.next_head");
    run("view.previous_head");
    EXPECT_EQ(document.presentation().head, HeadChoice{});
    EXPECT_FALSE(document.can_undo());
}

TEST_F(ActionTest, EscapeClosesFirstThenUnlocksAndNeverQuits) {
    document.change([](Session& s) { s.presentation.locked = Cell{1, 1}; });
    run("file.export");
    EXPECT_EQ(interaction.dialog, Dialog::exporting);
    run("escape");
    EXPECT_EQ(interaction.dialog, Dialog::none);
    EXPECT_TRUE(document.presentation().locked);
    run("escape");
    EXPECT_FALSE(document.presentation().locked);
    run("escape");
    EXPECT_FALSE(interaction.quit);
    EXPECT_FALSE(document.can_undo());
    run("file.quit");
    EXPECT_TRUE(interaction.quit);
}

TEST_F(ActionTest, TheScaleStaysWithinItsBounds) {
    for (int i = 0; i < 20; ++i) run("view.larger");
    EXPECT_EQ(interaction.interface_scale, 4);
    for (int i = 0; i < 20; ++i) run("view.smaller");
    EXPECT_EQ(interaction.interface_scale, 0.5);
    run("view.normal");
    EXPECT_EQ(interaction.interface_scale, 1);
}

TEST_F(ActionTest, ThemesAreKeptInTheSessionAndNotUndone) {
    run("view.light");
    EXPECT_EQ(document.presentation().theme, ThemeKind::light);
    EXPECT_FALSE(document.can_undo());
    run("view.contrast");
    EXPECT_EQ(document.presentation().theme, ThemeKind::contrast);
    run("view.dark");
    EXPECT_EQ(document.presentation().theme, ThemeKind::dark);
}

TEST_F(ActionTest, ANewSessionAndAnExampleKeepTheTheme) {
    run("view.light");
    run("file.new");
    EXPECT_EQ(document.presentation().theme, ThemeKind::light);
    EXPECT_FALSE(document.modified());
    ActionContext c = context();
    open_example(c, "causal");
    EXPECT_EQ(document.presentation().theme, ThemeKind::light);
    EXPECT_EQ(document.experiment(), load_example("causal").experiment);
}

TEST_F(ActionTest, AnOpenedSessionBringsItsTheme) {
    write_file(folder.file("a.json"), to_json(Session{}));
    run("view.light");
    ActionContext c = context();
    take_opened(c, read_to_open(folder.file("a.json")));
    EXPECT_EQ(document.presentation().theme, ThemeKind::dark);
}

TEST_F(ActionTest, WhatTheDialogListsCanBeOpened) {
    write_file(folder.file("plain"), "one two");
    ActionContext c = context();
    for (const char* name : {"a.txt", "a.md", "a.text", "A.TXT"}) {
        EXPECT_TRUE(can_be_opened(name)) << name;
        write_file(folder.file(name), std::string("words of ") + name);
        take_opened(c, read_to_open(folder.file(name)));
        EXPECT_EQ(document.experiment().input.text, std::string("words of ") + name);
    }
    for (const char* name : {"README", "a.log"}) {
        write_file(folder.file(name), std::string("lines of\n") + name);
        take_opened(c, read_to_open(folder.file(name)));
        EXPECT_EQ(document.experiment().input.text, std::string("lines of ") + name);
    }
    write_file(folder.file("session"), "\n" + to_json(Session{}));
    take_opened(c, read_to_open(folder.file("session")));
    EXPECT_EQ(document.experiment(), Experiment{});
    write_file(folder.file("binary"), std::string("a\0b", 3));
    EXPECT_THROW(read_to_open(folder.file("binary")), Error);
    EXPECT_TRUE(can_be_opened("a.json"));
    EXPECT_TRUE(can_be_opened("a.png"));
    EXPECT_FALSE(can_be_opened("a.csv"));
    EXPECT_FALSE(can_be_opened("json"));
}

TEST_F(ActionTest, CopiesTheFocusedMatrixAsATableThatReadsBackExactly) {
    run("edit.copy_matrix");
    const Stage& weights = *document.trace()->find("weights"_stage);
    std::istringstream lines(copied);
    std::string line;
    std::getline(lines, line);
    EXPECT_TRUE(line.starts_with("\tCan\tyou")) << line;
    int rows = 0;
    for (; std::getline(lines, line); ++rows) {
        std::istringstream cells(line);
        std::string cell;
        std::getline(cells, cell, '\t');
        EXPECT_EQ(cell, document.trace()->rows[static_cast<std::size_t>(rows)]);
        int columns = 0;
        for (; std::getline(cells, cell, '\t'); ++columns)
            EXPECT_EQ(std::stof(cell), weights.buffer.at(0, rows, columns));
        EXPECT_EQ(columns, weights.shape().columns);
    }
    EXPECT_EQ(rows, weights.shape().rows);
    EXPECT_NE(interaction.notice.text.find("weights"), std::string::npos);
}

TEST_F(ActionTest, CopiesTheFocusedMatrixAsALatexTableWithTheChosenDecimals) {
    document.change([](Session& s) { s.presentation.decimals = 2; });
    run("edit.copy_latex");
    const Stage& weights = *document.trace()->find("weights"_stage);
    EXPECT_EQ(copied, to_latex(*document.trace(), weights, {}, 2));
    EXPECT_NE(copied.find("you & $"), std::string::npos) << copied;
    EXPECT_NE(interaction.notice.text.find("LaTeX"), std::string::npos);
}

TEST_F(ActionTest, CopiesTheExperimentOnScreenAsAPyTorchScript) {
    run("edit.copy_recipe");
    EXPECT_EQ(copied, recipe(*document.trace()));
    EXPECT_NE(interaction.notice.text.find("PyTorch"), std::string::npos);
}

TEST_F(ActionTest, CopiesAnEncoderAndADecoderAsAPyTorchScript) {
    document.change([](Session& s) { s.experiment.mechanism = MechanismKind::seq2seq; });
    document.settle();
    run("edit.copy_recipe");
    EXPECT_NE(copied.find("dec = torch.nn.GRUCell("), std::string::npos) << copied;
}

TEST_F(ActionTest, CopiesTheHeadOrTheMeanThatIsShown) {
    set_heads(2);
    document.change([](Session& s) { s.presentation.head = {HeadChoice::Kind::one, 1}; });
    run("edit.copy_matrix");
    const std::string second = copied;
    document.change([](Session& s) { s.presentation.head = {HeadChoice::Kind::mean}; });
    run("edit.copy_matrix");
    EXPECT_NE(copied, second);
    const float mean = document.trace()->find("weights"_stage)->buffer.mean().at(0, 0, 0);
    const std::size_t first_cell = copied.find("\nCan\t") + 5;
    EXPECT_EQ(std::stof(copied.substr(first_cell)), mean);
}

TEST_F(ActionTest, SavesAndOpensASession) {
    document.change([](Session& s) { s.experiment.input.text = "kept 👍"; });
    const std::string file = folder.file("a session.json");
    ActionContext c = context();
    save_file(c, file);
    EXPECT_EQ(document.file(), file);
    EXPECT_FALSE(document.modified());
    EXPECT_EQ(saved.recent_files.front(), file);
    const Session kept = document.session();
    run("file.new");
    EXPECT_EQ(document.file(), "");
    Session fresh;
    fresh.experiment.input.vocabulary = VocabularyOrder::stable;
    fresh.experiment.attention.projection = Projection::xavier;
    EXPECT_EQ(document.session(), fresh);
    take_opened(c, read_to_open(file));
    EXPECT_EQ(document.session(), kept);
    EXPECT_EQ(document.file(), file);
    document.change([](Session& s) { s.experiment.weights.seed = 4; });
    run("file.save");
    EXPECT_EQ(load_session(file).experiment.weights.seed, Seed(4));
    EXPECT_EQ(interaction.dialog, Dialog::none);
}

TEST_F(ActionTest, ARelativePathIsKeptWhole) {
    const auto here = std::filesystem::current_path();
    std::filesystem::current_path(folder.path());
    ActionContext c = context();
    save_file(c, "relative.json");
    std::filesystem::current_path(here);
    EXPECT_TRUE(std::filesystem::path(document.file()).is_absolute()) << document.file();
    EXPECT_TRUE(std::filesystem::exists(document.file()));
}

TEST_F(ActionTest, SavingWithoutAFileAsksForOne) {
    run("file.save");
    EXPECT_EQ(interaction.dialog, Dialog::save);
}

TEST_F(ActionTest, SavingThatFailsIsANoticeAndKeepsTheSessionModified) {
    document.belongs_to(folder.file("nowhere/file.json"));
    document.change([](Session& s) { s.experiment.weights.seed = 4; });
    run("file.save");
    EXPECT_TRUE(interaction.notice.problem);
    EXPECT_NE(interaction.notice.text.find("nowhere"), std::string::npos) << interaction.notice.text;
    EXPECT_TRUE(document.modified());
}

TEST_F(ActionTest, SavingToAPipeThatNobodyReadsIsANotice) {
    const std::string pipe = folder.file("pipe");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    document.belongs_to(pipe);
    run("file.save");
    EXPECT_EQ(interaction.notice.text, "cannot write " + pipe + ": nothing reads from this pipe");
    EXPECT_TRUE(interaction.notice.problem);
}

TEST_F(ActionTest, APictureOpensItsSessionAndIsNotWrittenOver) {
    Session session;
    session.experiment.weights.seed = 77;
    const Trace trace = evaluate(session.experiment);
    const auto files = export_files(trace, session, {{"weights"}, {}, {FileFormat::png}}, folder.path());
    ActionContext c = context();
    take_opened(c, read_to_open(files.front()));
    EXPECT_EQ(document.session(), session);
    EXPECT_EQ(document.file(), "") << "saving would replace the picture";
}

TEST_F(ActionTest, ATextFileBecomesTheSentence) {
    write_file(folder.file("a.txt"), "one\r\ntwo\nthree");
    ActionContext c = context();
    take_opened(c, read_to_open(folder.file("a.txt")));
    EXPECT_EQ(document.experiment().input.text, "one two three");
    run("edit.undo");
    EXPECT_EQ(document.session(), Session{});
}

TEST_F(ActionTest, ATextFileIsWhatATaskLearnsFrom) {
    document.change([](Session& s) { s.experiment = task_experiment(TaskKind::next_word); });
    write_file(folder.file("a.txt"), "one two\r\none two three");
    write_file(folder.file("short.txt"), "one");
    ActionContext c = context();
    take_opened(c, read_to_open(folder.file("a.txt")));
    EXPECT_EQ(document.experiment().training.corpus, "one two one two three");
    EXPECT_EQ(document.experiment().input.words, "one three two");
    EXPECT_NE(interaction.notice.text.find("training text"), std::string::npos) << interaction.notice.text;
    const Session before = document.session();
    EXPECT_THROW(take_opened(c, read_to_open(folder.file("short.txt"))), Error);
    EXPECT_EQ(document.session(), before);
}

TEST_F(ActionTest, TheCopiedScriptOfARunTrainsTheSameSteps) {
    document.change([](Session& s) {
        s.experiment = task_experiment(TaskKind::copy);
        s.experiment.input.dim = 8;
        s.experiment.training.batch = 2;
        s.presentation.view = ViewKind::training;
    });
    document.play(4);
    document.settle();
    run("edit.copy_recipe");
    EXPECT_EQ(interaction.to_script, document.experiment()) << "the workspace writes and copies it";
    EXPECT_EQ(copied, "");
    run("view.pipeline");
    run("edit.copy_recipe");
    EXPECT_EQ(copied, recipe(*document.trace())) << "of the trace, where that is in view";
}

TEST_F(ActionTest, ATextFileIsRememberedAsWell) {
    write_file(folder.file("words.txt"), "one two three");
    ActionContext c = context();
    take_opened(c, read_to_open(folder.file("words.txt")));
    EXPECT_EQ(document.experiment().input.text, "one two three");
    EXPECT_EQ(saved.recent_files, std::vector<std::string>{folder.file("words.txt")});
}

TEST_F(ActionTest, WhatCannotBeOpenedChangesNothing) {
    write_file(folder.file("broken.json"), "{\"version\": 1, ");
    write_file(folder.file("broken.png"), "\x89PNG\r\n\x1a\nnonsense");
    write_file(folder.file("broken.txt"), "one \xFF");
    const Session before = document.session();
    ActionContext c = context();
    for (const char* name : {"broken.json", "broken.png", "broken.txt", "missing.json"}) {
        EXPECT_THROW(take_opened(c, read_to_open(folder.file(name))), Error) << name;
        EXPECT_EQ(document.session(), before);
        EXPECT_FALSE(document.can_undo());
        EXPECT_TRUE(saved.recent_files.empty());
    }
}

}  // namespace
}  // namespace attnscope
