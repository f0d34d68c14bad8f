// Runs scripts in PyTorch, where it is installed.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/sanitized.h"
#include "tests/temporary_folder.h"

namespace attnscope::test {

inline const char* python() {
    const char* given = std::getenv("ATTNSCOPE_PYTHON");
    return given && *given ? given : "/usr/bin/python3";
}

/// Runs Python; what it prints goes to `out`, and what it warns of to `out`.err. Its exit status.
inline int run_python(const std::string& arguments, const std::string& out) {
    const std::string command = std::string(python()) + " " + arguments + " > " + out + " 2> " + out + ".err";
    return std::system(command.c_str());
}

/// Tests that are skipped where there is no torch, and under a sanitizer, which finds nothing in Python; with
/// ATTNSCOPE_WITH_TORCH in the environment they run or fail.
class TorchTest : public testing::Test {
protected:
    void SetUp() override {
        const bool wanted = std::getenv("ATTNSCOPE_WITH_TORCH") != nullptr;
        if (k_sanitized && !wanted) GTEST_SKIP() << "the sanitizers find nothing in Python";
        if (run_python("-c 'import torch'", folder_.file("import")) == 0) return;
        if (wanted) FAIL() << python() << " has no torch";
        GTEST_SKIP() << python() << " has no torch (scripts/test --with-torch installs it)";
    }

    TemporaryFolder folder_;
};

}  // namespace attnscope::test
