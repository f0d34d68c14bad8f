#include "core/tensor/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace attnscope {
namespace {

/// Sizes that are no multiple of a float's, and such as are kept and used again.
TEST(LargeVectorTest, HoldsWhatItIsGivenAtEverySize) {
    for (const std::size_t size : {1UL, 3UL, 5UL, 65'537UL, 262'147UL, 3'000'001UL}) {
        for (int again = 0; again < 3; ++again) {
            const auto mark = static_cast<std::uint8_t>(again + 7);
            LargeVector<std::uint8_t> bytes(size, mark);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes.data()) % 64, 0U) << size;
            EXPECT_EQ(std::ranges::count(bytes, mark), static_cast<std::ptrdiff_t>(size));
            const LargeVector<std::uint8_t> copy = bytes;
            bytes.resize(size + 1);
            bytes.back() = 0;
            EXPECT_TRUE(std::ranges::equal(copy.begin(), copy.end(), bytes.begin(), bytes.end() - 1)) << size;
        }
    }
    EXPECT_TRUE(LargeVector<float>().empty());
    EXPECT_EQ(LargeVector<float>({1, 2, 3}), LargeVector<float>({1, 2, 3}));
}

}  // namespace
}  // namespace attnscope
