#include "core/op/sparsemax.h"

#include <gtest/gtest.h>

#include <cmath>

namespace attnscope {
namespace {

Matrix sparsemax(const Matrix& x) {
    Matrix out(x.rows(), x.cols());
    op::sparsemax_rows(ConstMatrixView(x.data(), x.rows(), x.cols()),
                       MatrixView(out.data(), out.rows(), out.cols()));
    return out;
}

TEST(SparsemaxTest, ScoresBelowTheThresholdGetExactlyZero) {
    // By hand: τ = (1 + 0.5 − 1) ÷ 2 = 0.25, which two of the three exceed.
    EXPECT_EQ(sparsemax(Matrix{{1, 0.5f, -1}}), (Matrix{{0.75f, 0.25f, 0}}));
    EXPECT_EQ(sparsemax(Matrix{{0.5f, -1, 1}}), (Matrix{{0.25f, 0, 0.75f}}));
    EXPECT_EQ(sparsemax(Matrix{{3, 0, 0}}), (Matrix{{1, 0, 0}}));
    EXPECT_EQ(sparsemax(Matrix{{7, 7, 7, 7}}), (Matrix{{0.25f, 0.25f, 0.25f, 0.25f}}));
}

TEST(SparsemaxTest, ClosedCellsAreZeroAndARowOfThemIsAllZeros) {
    EXPECT_EQ(sparsemax(Matrix{{1, -INFINITY, 0.5f}}), (Matrix{{0.75f, 0, 0.25f}}));
    EXPECT_EQ(sparsemax(Matrix{{-INFINITY, -INFINITY}}), (Matrix{{0, 0}}));
}

TEST(SparsemaxTest, WhatIsNotFiniteSpoilsTheOpenCellsOfItsRowAlone) {
    for (const float spoils : {NAN, INFINITY}) {
        const Matrix out = sparsemax(Matrix{{spoils, 1, -INFINITY}, {1, 0.5f, -1}});
        EXPECT_TRUE(std::isnan(out(0, 0)) && std::isnan(out(0, 1)));
        EXPECT_EQ(out(0, 2), 0);
        EXPECT_EQ(out(1, 0), 0.75f);
    }
}

}  // namespace
}  // namespace attnscope
