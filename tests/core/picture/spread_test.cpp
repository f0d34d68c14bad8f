// What frames share, and where they part.
#include <gtest/gtest.h>

#include "core/picture/spread.h"
#include "tests/special_numbers.h"

namespace attnscope {
namespace {

using namespace test;

Matrix row(std::initializer_list<float> numbers) {
    Matrix matrix(1, static_cast<Eigen::Index>(numbers.size()));
    std::ranges::copy(numbers, matrix.data());
    return matrix;
}

TEST(SpreadTest, IsTheMeanAndThePopulationDeviationOfEachCell) {
    const std::vector<MaskedMatrix> frames{
        {row({2, 1}), {}}, {row({4, 1}), {}}, {row({4, 1}), {}}, {row({6, 1}), {}}};
    const auto spread = spread_of(frames);
    ASSERT_TRUE(spread);
    EXPECT_EQ(spread->mean, row({4, 1}));
    EXPECT_FLOAT_EQ(spread->deviation(0, 0), std::sqrt(2.0f)) << "√((4 + 0 + 0 + 4) ÷ 4)";
    EXPECT_EQ(spread->deviation(0, 1), 0);
    EXPECT_EQ(spread->least, row({2, 1}));
    EXPECT_EQ(spread->most, row({6, 1}));
    EXPECT_EQ(spread->count, row({4, 4}));
    EXPECT_FLOAT_EQ(spread->largest_deviation(), std::sqrt(2.0f));
}

TEST(SpreadTest, LeavesOutWhatIsClosedOrNotFinite) {
    const std::vector<MaskedMatrix> frames{{row({1, 5, -k_infinity}), row({0, 1, 1})},
                                           {row({3, k_nan, -k_infinity}), row({1, 1, 1})}};
    const auto spread = spread_of(frames);
    ASSERT_TRUE(spread);
    EXPECT_EQ(spread->mean(0, 0), 3) << "open in the second frame alone";
    EXPECT_EQ(spread->mean(0, 1), 5);
    EXPECT_EQ(spread->count, row({1, 1, 0}));
    EXPECT_EQ(spread->deviation, row({0, 0, 0}));
}

TEST(SpreadTest, ThereIsNoneOfMatricesOfDifferentShapes) {
    EXPECT_FALSE(spread_of({}));
    const std::vector<MaskedMatrix> frames{{row({1, 2}), {}}, {row({1}), {}}};
    EXPECT_FALSE(spread_of(frames));
}

}  // namespace
}  // namespace attnscope
