// The program as a child process.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/sanitized.h"

namespace attnscope::command_line {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

struct Outcome {
    int code = -1;  ///< 128 + the signal that ended it
    std::string out, err;
    double seconds = 0;
};

/// How a child is started, beyond its arguments.
struct Start {
    std::map<std::string, std::string> environment;
    std::string input;   ///< standard input
    std::string output;  ///< a file for standard output; empty: caught
    rlim_t largest_file = RLIM_INFINITY;
    rlim_t largest_space = RLIM_INFINITY;  ///< of memory
};

inline std::string read(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

inline void write(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string repeated(const std::string& text, int times) {
    std::string result;
    for (int i = 0; i < times; ++i) result += text;
    return result;
}

class CommandLineTest : public testing::Test {
protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "attnscope-command-line-XXXXXX").string();
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder_ = name;
        for (const char* each : {"out", "state", "empty"}) fs::create_directory(folder_ / each);
        write(folder_ / "leaks", test::k_suppressed_leaks);
    }
    void TearDown() override { fs::remove_all(folder_); }

    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    std::string file(const std::string& name, const std::string& bytes) const {
        write(folder_ / name, bytes);
        return path(name);
    }

    Outcome run(Words arguments, const Start& start = {}) const {
        arguments.insert(arguments.begin(), ATTNSCOPE_EXECUTABLE);
        write(folder_ / ".in", start.input);
        const auto began = std::chrono::steady_clock::now();
        const pid_t child = ::fork();
        if (child == 0) execute(arguments, start);
        int status = 0;
        ::waitpid(child, &status, 0);
        Outcome outcome;
        outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        outcome.out = read(folder_ / ".out");
        outcome.err = read(folder_ / ".err");
        if (outcome.err.find("Sanitizer") != std::string::npos) ADD_FAILURE() << outcome.err;
        for (const char* each : {".in", ".out", ".err"}) fs::remove(folder_ / each);
        return outcome;
    }

    Words in(const std::string& name) const {
        Words names;
        for (const auto& entry : fs::recursive_directory_iterator(folder_ / name))
            names.push_back(fs::relative(entry.path(), folder_ / name));
        std::ranges::sort(names);
        return names;
    }

    /// Expects the outcome to be a failure with `code` and one line that holds each of `parts`, nothing
    /// printed and nothing written.
    void expect_failure(int code, const Outcome& outcome, const Words& parts) const {
        EXPECT_EQ(outcome.code, code) << outcome.err;
        EXPECT_EQ(outcome.out, "");
        EXPECT_EQ(outcome.err.substr(0, 11), "attnscope: ") << outcome.err;
        EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
        EXPECT_TRUE(outcome.err.ends_with("\n"));
        for (const char* noise : {"what()", "terminate", "exception", "std::"})
            EXPECT_EQ(outcome.err.find(noise), std::string::npos) << outcome.err;
        for (const std::string& part : parts)
            EXPECT_NE(outcome.err.find(part), std::string::npos) << part << " is not in: " << outcome.err;
        EXPECT_EQ(in("out"), Words{});
        EXPECT_EQ(in("state"), Words{});
        EXPECT_LT(outcome.seconds, 20);
    }
    /// Expects both render (into out/) and trace to fail so.
    void expect_both_fail(int code, const Words& arguments, const Words& parts,
                          const Start& start = {}) const {
        for (const Words& command : {Words{"render", "--out", path("out")}, Words{"trace"}}) {
            // What refuses is the same, and a process takes a sanitizer long to start.
            if (test::k_sanitized && command[0] == "trace") continue;
            Words all = command;
            all.insert(all.end(), arguments.begin(), arguments.end());
            SCOPED_TRACE(all[0]);
            expect_failure(code, run(all, start), parts);
        }
    }
    nlohmann::json trace(const Words& arguments, const Start& start = {}) const {
        Words all = {"trace"};
        all.insert(all.end(), arguments.begin(), arguments.end());
        const Outcome outcome = run(all, start);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        EXPECT_EQ(outcome.err, "");
        return outcome.code == 0 ? nlohmann::json::parse(outcome.out) : nlohmann::json();
    }
    /// The bytes of all files of a render, by name.
    std::map<std::string, std::string> render(const Words& arguments, const Start& start = {}) const {
        fs::remove_all(folder_ / "out");
        fs::create_directory(folder_ / "out");
        Words all = {"render", "--out", path("out")};
        all.insert(all.end(), arguments.begin(), arguments.end());
        const Outcome outcome = run(all, start);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        std::map<std::string, std::string> files;
        for (const std::string& name : in("out")) files[name] = read(folder_ / "out" / name);
        return files;
    }

    fs::path folder_;

private:
    [[noreturn]] void execute(const Words& arguments, const Start& start) const {
        const auto redirect = [](const std::string& name, int flags, int to) {
            const int descriptor = ::open(name.c_str(), flags, 0600);
            if (descriptor < 0 || ::dup2(descriptor, to) < 0) ::_exit(99);
        };
        constexpr int k_write = O_WRONLY | O_CREAT | O_TRUNC;
        redirect(path(".in"), O_RDONLY, 0);
        redirect(start.output.empty() ? path(".out") : start.output, k_write, 1);
        redirect(path(".err"), k_write, 2);
        for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "LC_ALL", "LANG"}) ::unsetenv(name);
        ::setenv("XDG_STATE_HOME", path("state").c_str(), 1);
        // The program itself has no suppressions: sanitizers.cpp is linked into the tests alone.
        const std::string leaks = "suppressions=" + path("leaks") + ":print_suppressions=0";
        ::setenv("LSAN_OPTIONS", leaks.c_str(), 1);
        for (const auto& [name, value] : start.environment) ::setenv(name.c_str(), value.c_str(), 1);
        const auto limit = [](int what, rlim_t most) {
            const rlimit both{most, most};
            if (most != RLIM_INFINITY && ::setrlimit(static_cast<__rlimit_resource>(what), &both) != 0)
                ::_exit(97);
        };
        limit(RLIMIT_FSIZE, start.largest_file);
        limit(RLIMIT_AS, start.largest_space);
        std::vector<char*> pointers;
        for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
        pointers.push_back(nullptr);
        ::execv(pointers[0], pointers.data());
        ::_exit(98);
    }
};

}  // namespace attnscope::command_line
