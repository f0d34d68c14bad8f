#include "app/document/saved_state.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <random>
#include <set>

#include "core/error.h"
#include "core/files/file.h"
#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

SavedState some_state() {
    SavedState state;
    state.session.experiment.input.text = "naïve 👍 e\u0301";
    state.session.experiment.weights.seed = Seed::parse("18446744073709551615");
    state.session.experiment.attention.heads = 4;
    state.session.presentation.theme = ThemeKind::light;
    state.session.presentation.stage = "scores"_stage;
    state.session.presentation.locked = Cell{1, 2};
    state.session.note = "a note";
    state.file = "/somewhere/a b.json";
    state.recent_files = {"/somewhere/a b.json", "/elsewhere/ü.json"};
    state.width = 1234;
    state.height = 789;
    state.scale = 1.75;
    state.export_folder = "/pictures";
    state.closed_note = "a note";
    state.panels = {.experiment_open = false, .inspector_width = 401.5f, .folded_sections = {"Heads"}};
    return state;
}

class SavedStateTest : public ::testing::Test {
protected:
    std::optional<SavedState> load() { return load_state(folder.path(), problem); }

    test::TemporaryFolder folder;
    std::string problem;
};

TEST_F(SavedStateTest, ComesBackAsItWas) {
    StateWriter(folder.path()).write(some_state());
    EXPECT_EQ(load(), some_state());
    EXPECT_EQ(problem, "");
}

TEST_F(SavedStateTest, PanelsAreOpenAndAtTheirFirstWidthWhereNothingIsSaidAndNeverTooNarrow) {
    StateWriter(folder.path()).write(some_state());
    write_file(folder.file("window.json"), "{}");
    EXPECT_EQ(load()->panels, PanelLayout{});
    write_file(folder.file("window.json"),
               R"({"panels": {"inspector_open": false, "experiment_width": 3, "inspector_width": 1e9}})");
    EXPECT_EQ(load()->panels, (PanelLayout{.inspector_open = false,
                                           .experiment_width = k_narrowest_panel,
                                           .inspector_width = k_widest_panel}));
}

TEST_F(SavedStateTest, MakesItsFolder) {
    const std::string deep = folder.file("a/b/attnscope");
    StateWriter(deep).write(some_state());
    EXPECT_EQ(load_state(deep, problem), some_state());
}

TEST_F(SavedStateTest, AMissingFileIsNotAProblem) {
    EXPECT_FALSE(load());
    EXPECT_EQ(problem, "");
    EXPECT_FALSE(load_state("", problem));
    EXPECT_FALSE(load_state(folder.file("nowhere"), problem));
    EXPECT_EQ(problem, "");
}

TEST_F(SavedStateTest, AnUnreadableSessionIsSetAsideAndSaidSo) {
    StateWriter(folder.path()).write(some_state());
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
        StateWriter(folder.path()).write(some_state());
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

TEST_F(SavedStateTest, APipeInTheWayIsAProblemAndNotWaitedFor) {
    for (const char* name : {"window.json", "session.json"}) {
        StateWriter(folder.path()).write(some_state());
        fs::remove(folder.file(name));
        ASSERT_EQ(::mkfifo(folder.file(name).c_str(), 0600), 0);
        const auto state = load();
        EXPECT_EQ(state.has_value(), name == std::string("window.json"));
        EXPECT_FALSE(fs::exists(folder.file(name))) << "it is set aside";
    }
    EXPECT_NE(problem.find("session.json: it is not a regular file"), std::string::npos) << problem;
}

TEST_F(SavedStateTest, ABrokenWindowFileCostsTheSessionNothing) {
    for (const char* broken : {"not json", "[]", R"({"file": "/x", "width": "wide"})", "{\"scale\": null}"}) {
        StateWriter(folder.path()).write(some_state());
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
    StateWriter(folder.path()).write(some_state());
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
        StateWriter(folder.file("a file")).write(some_state());
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::io);
    }
}

/// Random numbers, and the special values of float32.
Matrix large_matrix(int seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    Matrix matrix(60, 70);
    for (float& cell : matrix.reshaped()) cell = static_cast<float>(random()) / 1e9f - 2;
    matrix(0, 0) = std::numeric_limits<float>::quiet_NaN();
    matrix(1, 0) = -std::numeric_limits<float>::infinity();
    matrix(2, 0) = std::numeric_limits<float>::denorm_min();
    matrix(3, 0) = -0.0f;
    return matrix;
}

SavedState with_parts() {
    SavedState state = some_state();
    Experiment& e = state.session.experiment;
    e.weights.custom.emplace("scores", CustomMatrix(large_matrix(1)));
    e.weights.custom.emplace("query", CustomMatrix(Matrix::Ones(60, 70)));
    e.weights.custom.emplace("mask", CustomMatrix(Matrix::Ones(60, 70)));
    e.weights.custom.emplace("W_q", CustomMatrix(Matrix::Ones(5, 7)));
    e.attention.key_size = 4 * 33 + 1;  // of a query that is given, which the heads need not divide
    Image image{.width = 30, .height = 30, .rgb = {}};
    for (int i = 0; i < 2700; ++i) image.rgb.push_back(static_cast<std::uint8_t>(i * 31));
    e.input.image = CustomImage(std::move(image));
    return state;
}

std::set<std::string> names_in(const fs::path& folder) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
    return names;
}

TEST_F(SavedStateTest, PicturesAndLargeMatricesStandApartAndComeBack) {
    StateWriter writer(folder.path());
    SavedState state = with_parts();
    writer.write(state);
    EXPECT_EQ(load(), state) << problem;
    EXPECT_LT(fs::file_size(folder.file("session.json")), 8192U);
    const auto parts = names_in(folder.file("parts"));
    EXPECT_EQ(parts.size(), 3U);
    const auto written = fs::last_write_time(folder.file("parts/" + *parts.begin()));
    state.session.experiment.input.text += "!";
    writer.write(state);
    EXPECT_EQ(load(), state);
    EXPECT_EQ(names_in(folder.file("parts")), parts);
    EXPECT_EQ(fs::last_write_time(folder.file("parts/" + *parts.begin())), written) << "written again";
    StateWriter(folder.path()).write(*load());
    EXPECT_EQ(names_in(folder.file("parts")), parts) << "named by their content";
}

TEST_F(SavedStateTest, PartsThatNothingRefersToAreRemoved) {
    StateWriter writer(folder.path());
    SavedState state = with_parts();
    writer.write(state);
    write_file(folder.file("parts/.torn.part"), "left by a process that was killed");
    state.session.experiment.weights.custom.insert_or_assign("scores", CustomMatrix(large_matrix(2)));
    state.session.experiment.input.image.reset();
    writer.write(state);
    EXPECT_EQ(names_in(folder.file("parts")).size(), 2U);
    EXPECT_EQ(load(), state);
    writer.write(some_state());
    EXPECT_TRUE(names_in(folder.file("parts")).empty());
    EXPECT_EQ(load(), some_state());
}

TEST_F(SavedStateTest, ASessionThatWasSetAsideKeepsItsParts) {
    StateWriter(folder.path()).write(with_parts());
    const auto parts = names_in(folder.file("parts"));
    std::string session = read_file(folder.file("session.json"));
    write_file(folder.file("session.json"), "{" + session);
    EXPECT_FALSE(load());
    StateWriter(folder.path()).write(some_state());
    EXPECT_EQ(names_in(folder.file("parts")), parts);
}

TEST_F(SavedStateTest, AMissingPartSetsTheSessionAside) {
    StateWriter(folder.path()).write(with_parts());
    fs::remove_all(folder.file("parts"));
    EXPECT_FALSE(load_state(folder.path(), problem, false));
    EXPECT_NE(problem, "");
    EXPECT_TRUE(fs::exists(folder.file("session.json"))) << "another window's is left alone";
    EXPECT_FALSE(load());
    EXPECT_TRUE(fs::exists(folder.file("session.json.unreadable")));
}

TEST_F(SavedStateTest, APartIsNeverAFileElsewhere) {
    SavedState state = some_state();
    state.session.experiment.weights.custom.emplace("scores", CustomMatrix(large_matrix(1)));
    StateWriter(folder.path()).write(state);
    const std::string part = *names_in(folder.file("parts")).begin();
    fs::rename(folder.file("parts/" + part), folder.file(part));
    std::string session = read_file(folder.file("session.json"));
    session.replace(session.find(part), part.size(), "../" + part);
    write_file(folder.file("session.json"), session);
    EXPECT_FALSE(load());
    EXPECT_NE(problem.find("is not the name of a part"), std::string::npos) << problem;
}

TEST_F(SavedStateTest, FieldsOfAnotherTypeAreRefusedByTheirPath) {
    const ReadPart no_part = [](const std::string&) -> std::string { throw Error(ErrorKind::io, "no part"); };
    const auto message_of = [](const std::function<void()>& read) -> std::string {
        try {
            read();
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    const auto session = [&](std::string_view kept) {
        return message_of([&] {
            session_from_state("{\"version\": 1, \"kept\": " + std::string(kept) + "}", "s", no_part);
        });
    };
    EXPECT_EQ(session(R"({"given": {"W_q": 3}})"), "s: kept.given.W_q: 3 has another type");
    EXPECT_EQ(session(R"({"given": {"W_x": "a"}})"), "s: kept: \"W_x\" is not the name of a matrix");
    EXPECT_EQ(session(R"({"image": []})"), "s: kept.image: a list has another type");
    EXPECT_EQ(session("[]"), "s: kept: expected an object {…}, not a list");
    EXPECT_EQ(session(R"({"given": {"W_q": "a"}})"), "no part");
    SavedState state = some_state();
    const SavedState before = state;
    EXPECT_EQ(
        message_of([&] { read_window(state, R"({"file": "a", "panels": {"inspector_open": 1}})", "w"); }),
        "w: panels.inspector_open: 1 has another type");
    EXPECT_EQ(state, before);
}

TEST_F(SavedStateTest, AStateWithItsMatricesInlineStillOpens) {
    const SavedState state = with_parts();
    write_file(folder.file("session.json"), to_json(state.session));
    ASSERT_TRUE(load()) << problem;
    EXPECT_EQ(load()->session, state.session);
}

TEST_F(SavedStateTest, IsItsOwnersAlone) {
    StateWriter writer(folder.file("state"));
    writer.write(with_parts());
    const auto mode = [&](const std::string& name) {
        return static_cast<int>(fs::status(folder.file(name)).permissions());
    };
    EXPECT_EQ(mode("state"), 0700);
    EXPECT_EQ(mode("state/session.json"), 0600);
    EXPECT_EQ(mode("state/window.json"), 0600);
    for (const std::string& part : names_in(folder.file("state/parts")))
        EXPECT_EQ(mode("state/parts/" + part), 0600);
    fs::permissions(folder.file("state"), fs::perms(0755));
    fs::permissions(folder.file("state/session.json"), fs::perms(0644));
    writer.write(some_state());
    EXPECT_EQ(mode("state"), 0700) << "one of an older version";
    EXPECT_EQ(mode("state/session.json"), 0600);
}

TEST_F(SavedStateTest, ASessionSetAsideIsWholeAndCanBeOpened) {
    EXPECT_EQ(set_session_aside(folder.path()), "");
    StateWriter writer(folder.path());
    writer.write(with_parts());
    const std::string file = set_session_aside(folder.path());
    EXPECT_FALSE(load());
    EXPECT_EQ(problem, "");
    SavedState habits;
    load_habits(folder.path(), habits);
    EXPECT_EQ(habits.recent_files, some_state().recent_files);
    EXPECT_EQ(habits.file, "") << "what is open now is another session";
    writer.write(some_state());
    EXPECT_EQ(load_session(file), with_parts().session);
}

TEST_F(SavedStateTest, OneThatCannotBeReadIsSetAsideAsItIs) {
    write_file(folder.file("session.json"), "torn");
    const std::string file = set_session_aside(folder.path());
    EXPECT_EQ(read_file(file), "torn");
    EXPECT_FALSE(load());
    EXPECT_EQ(problem, "");
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
    {
        const Variable xdg("XDG_STATE_HOME", "relative/state");
        EXPECT_EQ(state_folder(), "/people/someone/.local/state/attnscope");
    }
    const Variable xdg("XDG_STATE_HOME", nullptr);
    const Variable homeless("HOME", nullptr);
    EXPECT_EQ(state_folder(), "");
}

}  // namespace
}  // namespace attnscope
