#include "app/document/keeper.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <optional>
#include <thread>
#include <utility>

#include "core/error.h"
#include "core/files/file.h"
#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

TEST(KeepingTimesTest, AChangeIsDueOnceItIsQuiet) {
    KeepingTimes times;
    EXPECT_EQ(times.due(), std::nullopt);
    times.changed(10);
    EXPECT_EQ(times.due(), 10.5);
    times.changed(10.25);
    EXPECT_EQ(times.due(), 10.75);
    times.taken();
    EXPECT_EQ(times.due(), std::nullopt);
}

TEST(KeepingTimesTest, SteadyChangeIsDueEverySecond) {
    KeepingTimes times;
    for (int change = 0; change <= 100; ++change) times.changed(20 + change / 64.0);
    EXPECT_EQ(times.due(), 21);
    times.taken();
    times.changed(22);
    times.changed(22.75);
    EXPECT_EQ(times.due(), 23) << "counted from the first change that is not written";
}

TEST(KeepingTimesTest, OfSteadyTypingAtMostTheLastTwoSecondsAreUnsaved) {
    // Changes at 128 a second, and a disk that takes a second to write.
    KeepingTimes times;
    constexpr double k_writing = 1;
    struct Writing {
        double taken, done;
    };
    std::optional<Writing> writing;
    double oldest_unsaved = 0;
    int written = 0;
    for (int tick = 0; tick < 128 * 10; ++tick) {
        const double now = tick / 128.0;
        if (writing && writing->done <= now) {
            oldest_unsaved = std::exchange(writing, std::nullopt)->taken;
            ++written;
        }
        if (!writing && times.due() && *times.due() <= now) {
            times.taken();
            writing = Writing{now, now + k_writing};
        }
        EXPECT_LE(now - oldest_unsaved, 2) << now;
        times.changed(now);
    }
    EXPECT_GE(written, 7);
}

TEST(KeepingTimesTest, AFailureIsTriedAgainWhateverChanges) {
    KeepingTimes times;
    times.changed(1);
    times.taken();
    times.failed(2);
    EXPECT_EQ(times.due(), 5);
    times.changed(3);
    EXPECT_EQ(times.due(), 5);
    times.taken();
    EXPECT_EQ(times.due(), std::nullopt);
}

class KeeperTest : public ::testing::Test {
protected:
    SavedState typed(const std::string& text) {
        state.session.experiment.input.text = text;
        return state;
    }
    std::string on_disk() {
        std::string problem;
        const auto loaded = load_state(path(), problem);
        EXPECT_EQ(problem, "");
        return loaded ? loaded->session.experiment.input.text : "";
    }
    std::string path() { return (fs::path(folder.path()) / "state").string(); }

    test::TemporaryFolder folder;
    SavedState state;
};

TEST_F(KeeperTest, WritesByItselfWhatItWasHandedOver) {
    Keeper keeper(path(), state);
    keeper.look(typed("a"));
    while (!fs::exists(path() + "/window.json")) std::this_thread::yield();
    EXPECT_EQ(on_disk(), "a");
}

TEST_F(KeeperTest, KeepWritesTheNewestAtOnce) {
    Keeper keeper(path(), state);
    std::string text;
    for (int i = 0; i < 200; ++i) keeper.look(typed(text += "a"));
    keeper.keep();
    EXPECT_EQ(on_disk(), text);
    fs::remove_all(path());
    keeper.look(state);
    keeper.keep();
    EXPECT_FALSE(fs::exists(path())) << "what is written is not written again";
}

TEST_F(KeeperTest, AnEmptyFolderKeepsNothing) {
    Keeper keeper("", state);
    keeper.look(typed("a"));
    keeper.keep();
    EXPECT_EQ(keeper.problem(), "");
}

TEST_F(KeeperTest, AFailureIsSaidAndTriedAgain) {
    write_file(path(), "in the way");
    std::promise<void> woken;
    Keeper keeper(path(), state);
    keeper.watch([&, first = true]() mutable {
        if (std::exchange(first, false)) woken.set_value();
    });
    keeper.look(typed("a"));
    EXPECT_THROW(keeper.keep(), Error);
    woken.get_future().wait();
    EXPECT_NE(keeper.problem().find("cannot be saved"), std::string::npos);
    EXPECT_THROW(keeper.keep(), Error) << "at quit it is tried whatever the time";
    fs::remove(path());
    keeper.keep();
    EXPECT_EQ(keeper.problem(), "");
    EXPECT_EQ(on_disk(), "a");
}

TEST_F(KeeperTest, WhoeverCallsExitLosesNothing) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    const std::string shared = testing::TempDir() + "attnscope-at-exit";
    fs::remove_all(shared);
    EXPECT_EXIT(
        {
            Keeper keeper(shared, state);
            const SaveAtExit save_at_exit(keeper);
            keeper.look(typed("typed a moment before"));
            std::exit(3);
        },
        testing::ExitedWithCode(1), "");
    std::string problem;
    const auto loaded = load_state(shared, problem);
    EXPECT_TRUE(loaded && loaded->session.experiment.input.text == "typed a moment before") << problem;
    fs::remove_all(shared);
}

TEST_F(KeeperTest, ClosingKeepsTheStateOrSaysWhyNot) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    write_file(path(), "in the way");
    EXPECT_EXIT(
        {
            Keeper keeper(path(), state);
            keeper.look(typed("a"));
            keep_and_leave(keeper, 0);
        },
        testing::ExitedWithCode(1), "attnscope: the session cannot be saved");
    Keeper nothing("", state);
    EXPECT_EXIT(keep_and_leave(nothing, 0), testing::ExitedWithCode(0), "");
}

/// look() returns at once even if the disk does not respond, here a pipe without a reader.
TEST_F(KeeperTest, ADiskThatDoesNotRespondDoesNotBlockTheWindow) {
    fs::create_directories(path());
    const std::string file = path() + "/session.json", pipe = path() + "/pipe";
    ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
    Keeper keeper(path(), state);
    keeper.look(typed("a"));
    std::thread keep([&] { keeper.keep(); });
    std::string text;
    for (int i = 0; i < 200; ++i) keeper.look(typed(text += "b"));
    EXPECT_EQ(keeper.problem(), "");
    const int reader = open(file.c_str(), O_RDONLY | O_NONBLOCK);
    keep.join();
    fs::rename(file, pipe);
    keeper.look(typed(text += "b"));
    keeper.keep();
    EXPECT_EQ(on_disk(), text);
    close(reader);
}

}  // namespace
}  // namespace attnscope
