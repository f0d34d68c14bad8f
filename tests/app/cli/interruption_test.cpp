// Interrupting an export with Ctrl+C.
#include "app/cli/interruption.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "core/error.h"
#include "core/export/export.h"
#include "core/files/file.h"
#include "core/mechanism/evaluate.h"
#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

TEST(InterruptionTest, ASignalIsNotedAndTheProgramGoesOn) {
    const Interruption interruption;
    EXPECT_FALSE(Interruption::asked());
    Interruption::obey();
    std::raise(SIGINT);
    EXPECT_TRUE(Interruption::asked());
}

TEST(InterruptionTest, TheNextOneBeginsWithoutANote) {
    {
        const Interruption first;
        std::raise(SIGTERM);
    }
    const Interruption second;
    EXPECT_FALSE(Interruption::asked());
}

TEST(InterruptionTest, TheSignalsAreAsBeforeAfterwards) {
    { const Interruption interruption; }
    struct sigaction action {};
    sigaction(SIGINT, nullptr, &action);
    EXPECT_EQ(action.sa_handler, SIG_DFL);
}

TEST(InterruptionTest, TheProgramEndsByTheSignal) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(
        {
            const Interruption interruption;
            std::raise(SIGINT);
            Interruption::obey();
        },
        testing::KilledBySignal(SIGINT), "");
}

TEST(InterruptionTest, APipeThatNobodyReadsIsGivenUp) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    const test::TemporaryFolder folder;
    const std::string pipe = folder.file("pipe");
    EXPECT_EXIT(
        {
            if (mkfifo(pipe.c_str(), 0600) != 0) _exit(1);
            const Interruption interruption;
            std::thread([main = pthread_self()] {
                for (;;) {
                    usleep(20000);
                    pthread_kill(main, SIGINT);
                }
            }).detach();
            EXPECT_THROW(write_file(pipe, "a picture"), Error);
            Interruption::obey();
        },
        testing::KilledBySignal(SIGINT), "");
}

TEST(InterruptionTest, OneSignalEndsTheWaitForAReaderThatReadsNothing) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    const test::TemporaryFolder folder;
    const std::string pipe = folder.file("pipe");
    EXPECT_EXIT(
        {
            if (mkfifo(pipe.c_str(), 0600) != 0 || open(pipe.c_str(), O_RDONLY | O_NONBLOCK) < 0) _exit(1);
            const Interruption interruption;
            alarm(20);  // ends a wait that goes on
            std::thread([main = pthread_self()] {
                usleep(100'000);
                pthread_kill(main, SIGINT);
            }).detach();
            try {
                write_file(pipe, std::string(1'000'000, 'x'), [] { return !Interruption::asked(); });
            } catch (...) {
                Interruption::obey();
            }
        },
        testing::KilledBySignal(SIGINT), "");
}

TEST(InterruptionTest, AnExportStopsWithoutTheFileInHand) {
    const test::TemporaryFolder folder;
    const Session session;
    const Trace trace = evaluate(session.experiment);
    const Interruption interruption;
    const auto files = export_files(trace, session, {{"weights", "scores"}, {}, {FileFormat::svg}},
                                    folder.path(), [](const ExportStep& step) {
                                        if (step.done == 1 && step.part > 0.1) std::raise(SIGINT);
                                        return !Interruption::asked();
                                    });
    EXPECT_EQ(files, std::vector<std::string>{folder.file("weights.svg")});
    EXPECT_EQ(folder.file_count(), 1u);
}

}  // namespace
}  // namespace attnscope
