#include "core/graph/row_entropy.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace attnscope {
namespace {

TEST(RowEntropyTest, EqualWeightsAreAllTokensWhateverTheySumTo) {
    for (const float weight : {0.25F, 1.0F, 0.001F}) {
        const RowEntropy spread = row_entropy(std::vector<float>(4, weight));
        EXPECT_FLOAT_EQ(static_cast<float>(spread.sum), 4 * weight);
        EXPECT_NEAR(spread.entropy, std::log(4), 1e-12) << weight;
        EXPECT_NEAR(spread.effective_tokens, 4, 1e-12) << weight;
    }
}

TEST(RowEntropyTest, OneWeightIsOneToken) {
    for (const float weight : {1.0F, 0.3F, 7.0F}) {
        const RowEntropy spread = row_entropy(std::vector{0.0F, weight, 0.0F});
        EXPECT_NEAR(spread.entropy, 0, 1e-12) << weight;
        EXPECT_NEAR(spread.effective_tokens, 1, 1e-12) << weight;
    }
}

TEST(RowEntropyTest, WithoutAnyWeightThereIsNone) {
    for (const std::vector<float>& row : {std::vector<float>{}, std::vector<float>(3, 0.0F),
                                          std::vector<float>(2, std::numeric_limits<float>::quiet_NaN())}) {
        const RowEntropy spread = row_entropy(row);
        EXPECT_EQ(spread.sum, 0);
        EXPECT_EQ(spread.entropy, 0);
        EXPECT_EQ(spread.effective_tokens, 0);
    }
}

TEST(RowEntropyTest, OfARowThatSumsToOneItIsThatOfItsWeights) {
    // −0.5 ln 0.5 − 2 · 0.25 ln 0.25 = 1.5 ln 2
    EXPECT_NEAR(row_entropy(std::vector{0.5F, 0.25F, 0.25F}).entropy, 1.5 * std::log(2), 1e-12);
}

}  // namespace
}  // namespace attnscope
