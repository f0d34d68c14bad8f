#include "core/io/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <thread>
#include <vector>

#include "core/error.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

/// A folder of its own for each test, removed afterwards.
class file_test : public testing::Test {
protected:
    file_test() {
        std::string pattern = (fs::temp_directory_path() / "attnscope-file-XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
    }
    ~file_test() override { fs::remove_all(folder_); }

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

TEST_F(file_test, what_is_written_is_read_back) {
    const std::string bytes("a\0b\r\n\xff", 6);
    write_file(path("out"), bytes);
    EXPECT_EQ(read_file(path("out")), bytes);
    write_file(path("out"), "");
    EXPECT_EQ(read_file(path("out")), "");
    write_file(path("out"), std::string(3'000'000, 'x'));
    EXPECT_EQ(read_file(path("out")).size(), 3'000'000u);
    EXPECT_EQ(files(), 1);
}

TEST_F(file_test, a_relative_path_is_written_where_one_stands) {
    const fs::path before = fs::current_path();
    fs::current_path(folder_);
    write_file("plain.csv", "1");
    fs::current_path(before);
    EXPECT_EQ(read_file(path("plain.csv")), "1");
}

TEST_F(file_test, a_replaced_file_keeps_its_permissions_and_a_new_one_obeys_the_umask) {
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

TEST_F(file_test, an_open_reader_of_the_old_file_keeps_all_of_it) {
    write_file(path("out"), "old content");
    const int reader = ::open(path("out").c_str(), O_RDONLY);
    write_file(path("out"), "new");
    char buffer[32];
    const ssize_t count = ::read(reader, buffer, sizeof buffer);
    ::close(reader);
    EXPECT_EQ(std::string(buffer, static_cast<std::size_t>(count)), "old content");
}

TEST_F(file_test, a_reader_never_sees_half_a_file) {
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

TEST_F(file_test, a_link_stays_a_link) {
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

TEST_F(file_test, a_missing_folder_a_folder_and_a_file_used_as_folder_are_named) {
    EXPECT_EQ(io_message([&] { write_file(path("no/out"), "1"); }),
              "cannot write " + path("no/out") + ": no such file or folder: check the path");
    EXPECT_EQ(io_message([&] { write_file(folder_.string(), "1"); }),
              "cannot write " + folder_.string() + ": it is a folder: name a file");
    write_file(path("file"), "kept");
    EXPECT_EQ(io_message([&] { write_file(path("file/out"), "1"); }),
              "cannot write " + path("file/out") + ": a part of the path is no folder: check the path");
    EXPECT_EQ(read_file(path("file")), "kept");
    EXPECT_EQ(io_message([&] { read_file(path("gone")); }),
              "cannot read " + path("gone") + ": no such file or folder: check the path");
    EXPECT_EQ(io_message([&] { read_file(folder_.string()); }),
              "cannot read " + folder_.string() + ": it is a folder: name a file");
    EXPECT_NE(io_message([&] { write_file("", "1"); }), "nothing thrown");
    EXPECT_EQ(files(), 1);
}

TEST_F(file_test, a_full_disk_is_reported_by_what_is_no_regular_file) {
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

TEST_F(file_test, a_write_that_fails_midway_leaves_the_old_file_and_nothing_else) {
    write_file(path("out"), "old");
    EXPECT_EXIT(replace_beyond_the_limit(path("out")), testing::ExitedWithCode(3), "too large");
    EXPECT_EQ(read_file(path("out")), "old");
    EXPECT_EQ(files(), 1);
}

}  // namespace
}  // namespace attnscope
