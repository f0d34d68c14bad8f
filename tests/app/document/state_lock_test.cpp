#include "app/document/state_lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "core/files/file.h"
#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

TEST(StateLockTest, TheFirstWindowHoldsItUntilItEnds) {
    const test::TemporaryFolder folder;
    const std::string state = folder.file("not there yet/state");
    {
        const StateLock first(state);
        EXPECT_TRUE(first.held());
        EXPECT_FALSE(StateLock(state).held());
        EXPECT_TRUE(StateLock(folder.path()).held()) << "another folder";
    }
    EXPECT_TRUE(StateLock(state).held());
}

TEST(StateLockTest, AProcessThatIsKilledHoldsItNoLonger) {
    const test::TemporaryFolder folder;
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const StateLock lock(folder.path());
        const char held = lock.held() ? 1 : 0;
        if (write(pipe_ends[1], &held, 1) != 1) _exit(1);
        for (;;) pause();
    }
    char held = 0;
    ASSERT_EQ(read(pipe_ends[0], &held, 1), 1);
    EXPECT_EQ(held, 1);
    EXPECT_FALSE(StateLock(folder.path()).held());
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_TRUE(StateLock(folder.path()).held());
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

TEST(StateLockTest, WithoutAFolderEveryProcessHoldsIt) {
    const test::TemporaryFolder folder;
    write_file(folder.file("file"), "");
    for (const std::string& none : {std::string(), folder.file("file"), folder.file("file/state")}) {
        EXPECT_TRUE(StateLock(none).held()) << none;
        TrialMark mark(none);
        mark.set(true);
        EXPECT_FALSE(mark.is_set()) << none;
    }
}

TEST(TrialMarkTest, StaysOnlyAfterAnUnfinishedStart) {
    const test::TemporaryFolder folder;
    {
        TrialMark mark(folder.path());
        EXPECT_FALSE(mark.is_set());
        mark.set(true);
        EXPECT_TRUE(TrialMark(folder.path()).is_set());
        mark.set(false);
        EXPECT_FALSE(TrialMark(folder.path()).is_set());
        mark.set(true);
    }
    EXPECT_FALSE(TrialMark(folder.path()).is_set());
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        TrialMark mark(folder.path());
        mark.set(true);
        _exit(0);
    }
    waitpid(child, nullptr, 0);
    EXPECT_TRUE(TrialMark(folder.path()).is_set());
}

}  // namespace
}  // namespace attnscope
