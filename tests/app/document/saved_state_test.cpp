#include "app/document/saved_state.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "core/error.h"
#include "core/io/file.h"
#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

SavedState some_state() {
    SavedState state;
    state.session.experiment.text = "naïve 👍 e\u0301";
    state.session.experiment.seed = Seed::parse("18446744073709551615");
    state.session.experiment.heads = 4;
    state.session.presentation.theme = "light";
    state.session.presentation.stage = "scores";
    state.session.presentation.locked = Cell{1, 2};
    state.session.note = "a note";
    state.file = "/somewhere/a b.json";
    state.recent_files = {"/somewhere/a b.json", "/elsewhere/ü.json"};
    state.width = 1234;
    state.height = 789;
    state.scale = 1.75;
    state.export_folder = "/pictures";
    state.closed_note = "a note";
    return state;
}

class SavedStateTest : public ::testing::Test {
protected:
    std::optional<SavedState> load() { return load_state(folder.path(), problem); }

    test::TemporaryFolder folder;
    std::string problem;
};

TEST_F(SavedStateTest, ComesBackAsItWas) {
    save_state(folder.path(), some_state());
    EXPECT_EQ(load(), some_state());
    EXPECT_EQ(problem, "");
}

TEST_F(SavedStateTest, MakesItsFolder) {
    const std::string deep = folder.file("a/b/attnscope");
    save_state(deep, some_state());
    EXPECT_EQ(load_state(deep, problem), some_state());
}

TEST_F(SavedStateTest, NothingSavedIsNoProblem) {
    EXPECT_FALSE(load());
    EXPECT_EQ(problem, "");
    EXPECT_FALSE(load_state("", problem));
    EXPECT_FALSE(load_state(folder.file("nowhere"), problem));
    EXPECT_EQ(problem, "");
}

TEST_F(SavedStateTest, AnUnreadableSessionIsSetAsideAndSaidSo) {
    save_state(folder.path(), some_state());
    const std::string torn = read_file(folder.file("session.json")).substr(0, 100);
    write_file(folder.file("session.json"), torn);
    EXPECT_FALSE(load());
    EXPECT_NE(problem.find("session.json.unreadable"), std::string::npos) << problem;
    EXPECT_EQ(problem.find('\n'), std::string::npos) << problem;
    EXPECT_FALSE(fs::exists(folder.file("session.json")));
    EXPECT_EQ(read_file(folder.file("session.json.unreadable")), torn);
}

TEST_F(SavedStateTest, NothingSetAsideIsLost) {
    for (const char* broken : {"first", "second", "third"}) {
        write_file(folder.file("session.json"), broken);
        EXPECT_FALSE(load());
        save_state(folder.path(), some_state());
    }
    EXPECT_EQ(read_file(folder.file("session.json.unreadable")), "first");
    EXPECT_EQ(read_file(folder.file("session.json.unreadable2")), "second");
    EXPECT_EQ(read_file(folder.file("session.json.unreadable3")), "third");
    EXPECT_EQ(load(), some_state());
}

TEST_F(SavedStateTest, ASessionOfTheFutureIsSetAside) {
    write_file(folder.file("session.json"), R"({"version": 999, "experiment": {}})");
    EXPECT_FALSE(load());
    EXPECT_NE(problem, "");
    EXPECT_TRUE(fs::exists(folder.file("session.json.unreadable")));
}

TEST_F(SavedStateTest, AFolderInTheWayIsAProblemNotACrash) {
    fs::create_directory(folder.file("session.json"));
    EXPECT_FALSE(load());
    EXPECT_NE(problem, "");
}

TEST_F(SavedStateTest, ABrokenWindowFileCostsTheSessionNothing) {
    for (const char* broken : {"not json", "[]", R"({"file": "/x", "width": "wide"})", "{\"scale\": null}"}) {
        save_state(folder.path(), some_state());
        write_file(folder.file("window.json"), broken);
        const auto state = load();
        ASSERT_TRUE(state) << broken;
        EXPECT_EQ(state->session, some_state().session);
        EXPECT_EQ(state->file, "") << "half of a broken file was believed";
        EXPECT_EQ(state->width, SavedState{}.width);
        EXPECT_FALSE(fs::exists(folder.file("window.json")));
    }
}

TEST_F(SavedStateTest, SizesOutOfRangeAreBroughtIntoIt) {
    save_state(folder.path(), some_state());
    write_file(folder.file("window.json"), R"({"width": 1, "height": 1000000, "scale": 77})");
    const auto state = load();
    ASSERT_TRUE(state);
    EXPECT_EQ(state->width, 640);
    EXPECT_EQ(state->height, 16384);
    EXPECT_EQ(state->scale, 4.0);
}

TEST_F(SavedStateTest, AFolderThatCannotBeWrittenToIsAnError) {
    write_file(folder.file("a file"), "");
    try {
        save_state(folder.file("a file"), some_state());
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::io);
    }
}

TEST_F(SavedStateTest, RecentFilesAreTheNewestTenOnceEach) {
    SavedState state;
    for (int i = 0; i < 15; ++i) remember_file(state, "/file" + std::to_string(i));
    ASSERT_EQ(state.recent_files.size(), 10U);
    EXPECT_EQ(state.recent_files.front(), "/file14");
    EXPECT_EQ(state.recent_files.back(), "/file5");
    remember_file(state, "/file7");
    ASSERT_EQ(state.recent_files.size(), 10U);
    EXPECT_EQ(state.recent_files[0], "/file7");
    EXPECT_EQ(state.recent_files[1], "/file14");
    EXPECT_EQ(std::ranges::count(state.recent_files, "/file7"), 1);
}

/// An environment variable for the length of a test.
class Variable {
public:
    Variable(const char* name, const char* value) : name_(name) {
        if (const char* before = std::getenv(name)) before_ = before;
        value ? setenv(name, value, 1) : unsetenv(name);
    }
    ~Variable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    const char* name_;
    std::optional<std::string> before_;
};

TEST(StateFolderTest, FollowsTheEnvironment) {
    const Variable home("HOME", "/people/someone");
    {
        const Variable xdg("XDG_STATE_HOME", "/state");
        EXPECT_EQ(state_folder(), "/state/attnscope");
    }
    {
        const Variable xdg("XDG_STATE_HOME", "");
        EXPECT_EQ(state_folder(), "/people/someone/.local/state/attnscope");
    }
    const Variable xdg("XDG_STATE_HOME", nullptr);
    const Variable homeless("HOME", nullptr);
    EXPECT_EQ(state_folder(), "");
}

}  // namespace
}  // namespace attnscope
