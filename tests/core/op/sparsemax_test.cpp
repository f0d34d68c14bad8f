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

TEST(sparsemax_test, scores_below_the_threshold_get_exactly_zero) {
    // By hand: τ = (1 + 0.5 − 1) ÷ 2 = 0.25, which two of the three exceed.
    EXPECT_EQ(sparsemax(Matrix{{1, 0.5f, -1}}), (Matrix{{0.75f, 0.25f, 0}}));
    EXPECT_EQ(sparsemax(Matrix{{0.5f, -1, 1}}), (Matrix{{0.25f, 0, 0.75f}}));
    EXPECT_EQ(sparsemax(Matrix{{3, 0, 0}}), (Matrix{{1, 0, 0}}));
    EXPECT_EQ(sparsemax(Matrix{{7, 7, 7, 7}}), (Matrix{{0.25f, 0.25f, 0.25f, 0.25f}}));
}

TEST(sparsemax_test, closed_cells_are_zero_and_a_row_of_them_is_all_zeros) {
    EXPECT_EQ(sparsemax(Matrix{{1, -INFINITY, 0.5f}}), (Matrix{{0.75f, 0, 0.25f}}));
    EXPECT_EQ(sparsemax(Matrix{{-INFINITY, -INFINITY}}), (Matrix{{0, 0}}));
}

TEST(sparsemax_test, what_is_not_finite_spoils_the_open_cells_of_its_row_alone) {
    for (const float spoils : {NAN, INFINITY}) {
        const Matrix out = sparsemax(Matrix{{spoils, 1, -INFINITY}, {1, 0.5f, -1}});
        EXPECT_TRUE(std::isnan(out(0, 0)) && std::isnan(out(0, 1)));
        EXPECT_EQ(out(0, 2), 0);
        EXPECT_EQ(out(1, 0), 0.75f);
    }
}

}  // namespace
}  // namespace attnscope
