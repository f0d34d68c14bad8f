// What bad input is refused with.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/error.h"
#include "core/mechanism/evaluate.h"

namespace attnscope::test {

/// The message of the Error that `act` throws, which must be bad_input; empty if it throws none.
template <typename Act>
std::string refusal(const Act& act) {
    try {
        act();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::bad_input) << error.what();
        return error.what();
    }
    return "";
}
inline std::string refusal(const Experiment& e) {
    return refusal([&] { evaluate(e); });
}

}  // namespace attnscope::test
