#include "app/document/desk.h"

#include <gtest/gtest.h>

namespace attnscope {
namespace {

TEST(DeskTest, ErrorsNameTheControlAndNoFlag) {
    const Error error(ErrorKind::bad_input, "1 … 512");
    EXPECT_EQ(named_as("seed", "Own seed", error.at("--seed")), "Own seed: 1 … 512");
    EXPECT_EQ(named_as("cell-size", "", error.at("--cell-size")), "Cell size: 1 … 512");
    EXPECT_EQ(named_as("seed", "Seed", error), "1 … 512");
}

}  // namespace
}  // namespace attnscope
