#include "core/files/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <thread>
#include <vector>

#include "core/canceled.h"
#include "core/error.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

/// A folder of its own for each test, removed afterwards.
class FileTest : public testing::Test {
protected:
    FileTest() {
        std::string pattern = (fs::temp_directory_path() / "attnscope-file-XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
    }
    ~FileTest() override { fs::remove_all(folder_); }

    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    /// Hidden ones as well.
    std::ptrdiff_t files() const {
        return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
    }
    fs::path folder_;
};

template <typename Action>
std::string io_message(Action action) {
    try {
        action();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::io);
        return error.what();
    }
    return "nothing thrown";
}

TEST_F(FileTest, WhatIsWrittenIsReadBack) {
    const std::string bytes("a\0b\r\n\xff", 6);
    write_file(path("out"), bytes);
    EXPECT_EQ(read_file(path("out")), bytes);
    write_file(path("out"), "");
    EXPECT_EQ(read_file(path("out")), "");
    write_file(path("out"), std::string(3'000'000, 'x'));
    EXPECT_EQ(read_file(path("out")).size(), 3'000'000u);
    EXPECT_EQ(files(), 1);
}

TEST_F(FileTest, WhatIsMadeInPartsIsWrittenMeanwhile) {
    constexpr std::size_t k_part = 100'000;
    constexpr int k_parts = 50;
    std::vector<std::size_t> written;
    FileCalls calls;
    calls.write = [&](int file, const void* bytes, std::size_t count) {
        written.push_back(count);
        return ::write(file, bytes, count);
    };
    std::string all;
    const auto make = [&](const ByteSink& to) {
        for (int i = 0; i < k_parts; ++i) {
            const std::string part(k_part, static_cast<char>('a' + i % 26));
            all += part;
            to(part);
        }
    };
    write_file(path("out"), make, {}, calls);
    EXPECT_EQ(read_file(path("out")), all);
    EXPECT_GE(written.size(), 4u);
    for (const std::size_t count : written) EXPECT_LE(count, (std::size_t{1} << 20) + k_part);
}

TEST_F(FileTest, WhatIsMadeInPartsAndFailsLeavesTheOldFileAndNothingElse) {
    write_file(path("out"), "old");
    for (const std::size_t before : {std::size_t{0}, std::size_t{5'000'000}}) {
        const auto make = [&](const ByteSink& to) {
            to(std::string(before, 'x'));
            throw Canceled{};
        };
        EXPECT_THROW(write_file(path("out"), make), Canceled);
        EXPECT_THROW(write_file(path("new"), make), Canceled);
        EXPECT_THROW(write_file("/dev/null", make), Canceled);
    }
    EXPECT_EQ(read_file(path("out")), "old");
    EXPECT_EQ(files(), 1);
}

TEST_F(FileTest, NothingIsMadeForAPlaceThatCannotBeWrittenTo) {
    bool is_made = false;
    const auto make = [&](const ByteSink&) { is_made = true; };
    for (const std::string& place : {path("missing/out"), folder_.string(), std::string()})
        EXPECT_THROW(write_file(place, make), Error) << place;
    EXPECT_FALSE(is_made);
}

TEST_F(FileTest, ARelativePathIsWrittenWhereOneStands) {
    const fs::path before = fs::current_path();
    fs::current_path(folder_);
    write_file("plain.csv", "1");
    fs::current_path(before);
    EXPECT_EQ(read_file(path("plain.csv")), "1");
}

TEST_F(FileTest, AReplacedFileKeepsItsPermissionsAndANewOneObeysTheUmask) {
    const mode_t umask_before = ::umask(027);
    write_file(path("new"), "1");
    ::umask(umask_before);
    struct stat info {};
    ASSERT_EQ(::stat(path("new").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0640u);
    ASSERT_EQ(::chmod(path("new").c_str(), 0604), 0);
    write_file(path("new"), "2");
    ASSERT_EQ(::stat(path("new").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0604u);
}

TEST_F(FileTest, AnOpenReaderOfTheOldFileKeepsAllOfIt) {
    write_file(path("out"), "old content");
    const int reader = ::open(path("out").c_str(), O_RDONLY);
    write_file(path("out"), "new");
    char buffer[32];
    const ssize_t count = ::read(reader, buffer, sizeof buffer);
    ::close(reader);
    EXPECT_EQ(std::string(buffer, static_cast<std::size_t>(count)), "old content");
}

TEST_F(FileTest, AReaderNeverSeesHalfAFile) {
    const std::string a(200'000, 'a');
    const std::string b(100'000, 'b');
    write_file(path("out"), a);
    std::thread writer([&] {
        for (int i = 0; i < 20; ++i) write_file(path("out"), i % 2 == 0 ? b : a);
    });
    for (int i = 0; i < 200; ++i) {
        const std::string seen = read_file(path("out"));
        EXPECT_TRUE(seen == a || seen == b);
    }
    writer.join();
    EXPECT_EQ(files(), 1);
}

TEST_F(FileTest, ALinkStaysALink) {
    fs::create_directory(folder_ / "there");
    write_file(path("there/real"), "old");
    fs::create_symlink("there/real", folder_ / "link");
    write_file(path("link"), "new");
    EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
    EXPECT_EQ(read_file(path("there/real")), "new");
    fs::create_symlink("there/later", folder_ / "dangling");
    write_file(path("dangling"), "made");
    EXPECT_TRUE(fs::is_symlink(folder_ / "dangling"));
    EXPECT_EQ(read_file(path("there/later")), "made");
}

TEST_F(FileTest, AMissingFolderAFolderAndAFileUsedAsFolderAreNamed) {
    EXPECT_EQ(io_message([&] { write_file(path("no/out"), "1"); }),
              "cannot write " + path("no/out") + ": no such file or folder: check the path");
    EXPECT_EQ(io_message([&] { write_file(folder_.string(), "1"); }),
              "cannot write " + folder_.string() + ": it is a folder: name a file");
    write_file(path("file"), "kept");
    EXPECT_EQ(io_message([&] { write_file(path("file/out"), "1"); }),
              "cannot write " + path("file/out") + ": a part of the path is not a folder: check the path");
    EXPECT_EQ(read_file(path("file")), "kept");
    EXPECT_EQ(io_message([&] { read_file(path("gone")); }),
              "cannot read " + path("gone") + ": no such file or folder: check the path");
    EXPECT_EQ(io_message([&] { read_file(folder_.string()); }),
              "cannot read " + folder_.string() + ": it is a folder: name a file");
    EXPECT_NE(io_message([&] { write_file("", "1"); }), "nothing thrown");
    EXPECT_EQ(files(), 1);
}

TEST_F(FileTest, AFullDiskIsReportedForSpecialFiles) {
    if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
    EXPECT_EQ(io_message([] { write_file("/dev/full", "1"); }),
              "cannot write /dev/full: the disk is full: free some space or choose another place");
    EXPECT_TRUE(fs::is_character_file("/dev/full"));
    write_file("/dev/null", "1");
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

/// Runs in a process of its own, for the limit stays.
[[noreturn]] void replace_beyond_the_limit(const std::string& path) {
    std::signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit { .rlim_cur = 65536, .rlim_max = RLIM_INFINITY };
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
        write_file(path, std::string(1 << 20, 'n'));
    } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        std::_Exit(3);
    }
    std::_Exit(0);
}

TEST_F(FileTest, AWriteThatFailsMidwayLeavesTheOldFileAndNothingElse) {
    write_file(path("out"), "old");
    EXPECT_EXIT(replace_beyond_the_limit(path("out")), testing::ExitedWithCode(3), "too large");
    EXPECT_EQ(read_file(path("out")), "old");
    EXPECT_EQ(files(), 1);
}

TEST_F(FileTest, OnlyWhatIsNotThereCountsAsAbsent) {
    write_file(path("real"), "kept");
    fs::create_symlink("real", folder_ / "link");
    FileCalls calls;
    calls.status = [&](const char* name, struct stat* info) {
        if (name != path("link")) return ::stat(name, info);
        errno = EACCES;  // as Linux answers for another user's link in a world-writable folder
        return -1;
    };
    EXPECT_EQ(io_message([&] { write_file(path("link"), "new", calls); }),
              "cannot write " + path("link") +
                  ": permission denied: choose another place or change its permissions");
    EXPECT_EQ(read_file(path("real")), "kept");
    EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
    EXPECT_EQ(files(), 2);
}

TEST_F(FileTest, AnotherUsersLinkInAWorldWritableFolderIsRefused) {
    fs::create_directory(folder_ / "shared");
    ASSERT_EQ(::chmod(path("shared").c_str(), 01777), 0);
    write_file(path("victim"), "kept");
    fs::create_symlink(path("victim"), folder_ / "shared/link");
    fs::create_symlink(path("later"), folder_ / "shared/dangling");
    FileCalls calls;
    calls.link_status = [](const char* name, struct stat* info) {
        const int result = ::lstat(name, info);
        if (result == 0 && S_ISLNK(info->st_mode)) ++info->st_uid;
        return result;
    };
    for (const char* link : {"shared/link", "shared/dangling"}) {
        EXPECT_NE(io_message([&] { write_file(path(link), "new", calls); }).find("links of other users"),
                  std::string::npos);
        EXPECT_TRUE(fs::is_symlink(folder_ / link));
    }
    EXPECT_EQ(read_file(path("victim")), "kept");
    EXPECT_FALSE(fs::exists(folder_ / "later"));
    // One's own is followed, and anybody's in a folder of one's own.
    write_file(path("shared/link"), "new");
    EXPECT_EQ(read_file(path("victim")), "new");
    ASSERT_EQ(::chmod(path("shared").c_str(), 0755), 0);
    write_file(path("shared/link"), "newer", calls);
    EXPECT_EQ(read_file(path("victim")), "newer");
}

TEST_F(FileTest, LinksInACircleAreAnError) {
    fs::create_symlink("b", folder_ / "a");
    fs::create_symlink("a", folder_ / "b");
    EXPECT_EQ(io_message([&] { write_file(path("a"), "1"); }),
              "cannot write " + path("a") + ": its links form a loop: choose another path");
    EXPECT_TRUE(fs::is_symlink(folder_ / "a"));
    EXPECT_TRUE(fs::is_symlink(folder_ / "b"));
    EXPECT_EQ(files(), 2);
}

TEST_F(FileTest, AFileThatTakesThePlaceOfAnotherMeanwhileIsNotReplaced) {
    write_file(path("real"), "old");
    write_file(path("other"), "kept");
    fs::create_symlink("real", folder_ / "link");
    FileCalls calls;
    calls.status = [&](const char* name, struct stat* info) {
        const int result = ::stat(name, info);
        fs::remove(folder_ / "link");
        fs::create_symlink("other", folder_ / "link");
        return result;
    };
    EXPECT_NE(io_message([&] { write_file(path("link"), "new", calls); }).find("try again"),
              std::string::npos);
    EXPECT_EQ(read_file(path("other")), "kept");
    EXPECT_EQ(read_file(path("real")), "old");
}

/// Calls of which the n-th, counted from 1 over all kinds, fails with `error`.
FileCalls failing_at(int n, int error, int& made) {
    FileCalls calls;
    const auto fails = [n, error, &made] {
        errno = error;
        return ++made == n;
    };
    calls.status = [=, real = calls.status](const char* name, struct stat* info) {
        return fails() ? -1 : real(name, info);
    };
    calls.link_status = [=, real = calls.link_status](const char* name, struct stat* info) {
        return fails() ? -1 : real(name, info);
    };
    calls.open = [=, real = calls.open](const char* name, int flags, mode_t mode) {
        return fails() ? -1 : real(name, flags, mode);
    };
    calls.fchmod = [=](int file, mode_t mode) { return fails() ? -1 : ::fchmod(file, mode); };
    // Half of what is asked for, so that there are several.
    calls.write = [=](int file, const void* bytes, std::size_t size) {
        return fails() ? -1 : ::write(file, bytes, (size + 1) / 2);
    };
    calls.fsync = [=](int file) { return fails() ? -1 : ::fsync(file); };
    calls.close = [=](int file) {
        const bool failed = fails();
        const int result = ::close(file);
        return failed ? -1 : result;
    };
    calls.rename = [=](const char* from, const char* to) { return fails() ? -1 : std::rename(from, to); };
    return calls;
}

TEST_F(FileTest, WhicheverCallFailsTheFileIsWholeOrAsBeforeAndNothingElseIsLeft) {
    fs::create_directory(folder_ / "there");
    for (const bool existing : {false, true})
        for (const char* name : {"out", "link"})
            for (const int error : {EIO, ENOSPC, EACCES, EINTR}) {
                int refused = 0;
                for (int n = 1;; ++n) {
                    fs::remove_all(folder_);
                    fs::create_directories(folder_ / "there");
                    fs::create_symlink("there/real", folder_ / "link");
                    const std::string real = path(name == std::string("out") ? "out" : "there/real");
                    if (existing) write_file(real, "the old content");
                    int made = 0;
                    const FileCalls calls = failing_at(n, error, made);
                    std::string message;
                    try {
                        write_file(path(name), "the new content", calls);
                    } catch (const Error& problem) {
                        EXPECT_EQ(problem.kind(), ErrorKind::io);
                        message = problem.what();
                    }
                    SCOPED_TRACE(std::string(name) + ", call " + std::to_string(n) + ": " + message);
                    if (message.empty()) {
                        EXPECT_EQ(read_file(real), "the new content");
                    } else {
                        ++refused;
                        EXPECT_TRUE(message.starts_with("cannot write " + path(name) + ": "));
                        EXPECT_EQ(message.find('\n'), std::string::npos);
                        EXPECT_EQ(fs::exists(real), existing);
                        EXPECT_EQ(existing ? read_file(real) : "", existing ? "the old content" : "");
                    }
                    const bool beside = name == std::string("out") && fs::exists(real);
                    EXPECT_EQ(files(), 2 + (beside ? 1 : 0));  // there/ and link
                    EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "there"), {}),
                              fs::exists(path("there/real")) ? 1 : 0);
                    if (made < n) break;  // none failed
                }
                EXPECT_GE(refused, 8);  // status, link, open, four writes, fsync, close, rename
            }
}

TEST_F(FileTest, WhatHasNoEndIsReadUpToALimit) {
    const auto refusal = [](const std::string& name, std::size_t most) {
        try {
            read_file(name, most);
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::too_large);
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_EQ(refusal("/dev/zero", 100'000),
              "/dev/zero is larger than the limit of 100000 bytes: use a smaller file");
    write_file(path("file"), std::string(1000, 'x'));
    EXPECT_EQ(refusal(path("file"), 1000), "");
    EXPECT_EQ(refusal(path("file"), 999),
              path("file") + " is larger than the limit of 999 bytes: use a smaller file");
    // A hole in a file takes no room on the disk.
    fs::resize_file(path("file"), k_max_file_bytes + 1);
    EXPECT_NE(refusal(path("file"), k_max_file_bytes), "");
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    std::thread writer([&] { write_file(path("pipe"), std::string(1001, 'x')); });
    EXPECT_NE(refusal(path("pipe"), 1000), "");
    writer.join();
}

TEST_F(FileTest, WhatNoFormatStartsWithIsRefusedBeforeTheRestIsRead) {
    std::size_t seen = 0;
    const CheckStart refuse = [&](std::string_view start, const std::string& source) {
        EXPECT_EQ(source, "/dev/zero");
        seen = start.size();
        throw Error(ErrorKind::bad_input, "refused");
    };
    EXPECT_THROW(read_file("/dev/zero", k_max_file_bytes, refuse), Error);
    EXPECT_EQ(seen, k_file_start_bytes);
}

TEST_F(FileTest, APipeIsReadWholeWhateverItsLength) {
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    for (const std::size_t size : {0, 1, 131'071, 131'072, 131'073, 3'000'000}) {
        std::string bytes(size, 'x');
        for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i % 251);
        std::thread writer([&] { write_file(path("pipe"), bytes); });
        EXPECT_EQ(read_file(path("pipe")), bytes);
        writer.join();
    }
}

/// Ends the process: 0 if reading up to a limit of 64 MiB takes little more.
[[noreturn]] void read_up_to_a_limit() {
    constexpr std::size_t k_most = std::size_t{64} << 20;
    const auto largest_kb = [] {
        struct rusage usage {};
        ::getrusage(RUSAGE_SELF, &usage);
        return usage.ru_maxrss;
    };
    const long before = largest_kb();
    try {
        read_file("/dev/zero", k_most);
    } catch (const Error&) {
        std::_Exit(largest_kb() - before < 80 * 1024 ? 0 : 1);
    }
    std::_Exit(2);
}

TEST_F(FileTest, WhatIsRefusedAtTheLimitTakesNoMoreMemoryThanThat) {
    EXPECT_EXIT(read_up_to_a_limit(), testing::ExitedWithCode(0), "");
}

TEST_F(FileTest, APipeIsWrittenWholeToASlowReader) {
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    const std::string bytes(1'000'000, 'x');
    std::string read;
    std::thread reader([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(80));  // the writer waits for a reader
        const int pipe = ::open(path("pipe").c_str(), O_RDONLY);
        std::this_thread::sleep_for(std::chrono::milliseconds(80));  // and for room
        char block[65536];
        for (ssize_t count = 0; (count = ::read(pipe, block, sizeof block)) > 0;)
            read.append(block, static_cast<std::size_t>(count));
        ::close(pipe);
    });
    write_file(path("pipe"), bytes);
    reader.join();
    EXPECT_EQ(read, bytes);
}

TEST_F(FileTest, WaitingForAPipeCanBeEnded) {
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    int asked = 0;
    const MayWait three_times = [&] { return ++asked < 4; };
    EXPECT_THROW(write_file(path("pipe"), "no reader", three_times), Canceled);
    EXPECT_EQ(asked, 4);
    // A reader that reads nothing: a pipe holds 64 KiB.
    const int reader = ::open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
    asked = 0;
    EXPECT_THROW(write_file(path("pipe"), std::string(1'000'000, 'x'), three_times), Canceled);
    EXPECT_EQ(asked, 4);
    ::close(reader);
}

TEST_F(FileTest, WhereMemoryDoesNotSufficeTheFileIsNamed) {
    write_file(path("file"), "x");
    for (const bool length : {false, true}) {
        try {
            opened(path("file"), [&](const std::string& bytes, const std::string&) -> int {
                EXPECT_EQ(bytes, "x");
                if (length) throw std::length_error("vector::reserve");
                throw std::bad_alloc();
            });
            ADD_FAILURE();
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::too_large);
            EXPECT_EQ(error.what(), path("file") +
                                        " does not fit into memory: close other programs or use a "
                                        "smaller file");
        }
    }
}

TEST_F(FileTest, TheTemporaryNameOfALongNameIsUtf8) {
    for (const int before : {0, 1, 2}) {
        std::string name(static_cast<std::size_t>(before), 'x');
        while (name.size() < 230) name += "咖";
        FileCalls calls;
        std::vector<std::string> opened;
        calls.open = [&](const char* path, int flags, mode_t mode) {
            opened.push_back(fs::path(path).filename().string());
            return ::open(path, flags, mode);
        };
        write_file(path(name), "whole", calls);
        EXPECT_EQ(read_file(path(name)), "whole");
        bool temporary = false;
        for (const std::string& each : opened) {
            EXPECT_TRUE(is_utf8(each)) << each;
            temporary |= each.ends_with(".part");
        }
        EXPECT_TRUE(temporary);
    }
}

TEST_F(FileTest, OnlyOldTemporaryFilesOfOnesOwnAreCleared) {
    // No process has a number as large as the first two, which are not written to any more; one still writes.
    const std::string old = ".weights.png.attnscope-99999991-0.part",
                      newer = ".weights.png.attnscope-99999992-0.part",
                      running = ".weights.png.attnscope-" + std::to_string(::getpid()) + "-0.part";
    const std::vector<std::string> others = {"weights.png",
                                             "weights.png.attnscope-99999991-0.part",
                                             ".weights.png.99999991-0.part",
                                             ".weights.png.attnscope-x-0.part",
                                             ".weights.png.attnscope-99999991-.part",
                                             ".a.attnscope-99999991-0.partial"};
    for (const std::string& name : others) write_file(path(name), "kept");
    for (const std::string& name : {old, newer, running}) write_file(path(name), "half");
    fs::create_symlink("weights.png", folder_ / ".b.attnscope-99999991-0.part");
    fs::create_directory(folder_ / ".c.attnscope-99999991-0.part");
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_))
        if (entry.path().filename() != newer)
            fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - std::chrono::hours(2));
    clear_abandoned_files(folder_.string());
    EXPECT_FALSE(fs::exists(path(old)));
    EXPECT_TRUE(fs::exists(path(newer)));
    EXPECT_TRUE(fs::exists(path(running))) << "a long survey writes nothing for hours";
    EXPECT_EQ(files(), std::ptrdiff_t(others.size()) + 4);
    clear_abandoned_files(path("absent"));
}

TEST_F(FileTest, WhatAKilledProcessLeavesIsWhatIsCleared) {
    FileCalls killed;
    killed.rename = [](const char*, const char*) -> int { std::_Exit(9); };
    EXPECT_EXIT(write_file(path("out"), "half", killed), testing::ExitedWithCode(9), "");
    ASSERT_EQ(files(), 1);
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_))
        fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - std::chrono::hours(2));
    clear_abandoned_files(folder_.string());
    EXPECT_EQ(files(), 0);
}

}  // namespace
}  // namespace attnscope
