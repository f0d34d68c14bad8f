// The products and the softmax under evaluate and under the benchmark. Each works on some rows of one head,
// on the thread that calls it; for_row_blocks (core/cpu/row_blocks.h) spreads the calls over threads.
#pragma once

#include <Eigen/Core>
#include <span>

#include "core/attention/tensor.h"

namespace attnscope {

/// Views whose rows may lie further apart than their columns are wide: one head's columns of Q.
using Strided = Eigen::Ref<Matrix, 0, Eigen::OuterStride<>>;
using ConstStrided = Eigen::Ref<const Matrix, 0, Eigen::OuterStride<>>;

// Where B has few numbers the products add up in double: what a person reads off a small example is then
// right to the last digit and the same on every machine, whose vectors else decide the order of the terms.

/// out = A B; A n × k, B k × m, out n × m, which overlaps neither.
void product(const ConstStrided& A, const ConstStrided& B, Strided out);
/// out = A Bᵀ; A n × k, B m × k, out n × m, which overlaps neither.
void product_transposed(const ConstStrided& A, const ConstStrided& B, Strided out);
/// out = x · factor ÷ divisor, element by element, multiplied first; x and out may be the same memory.
void scale_rows(ConstMatrixView x, float factor, float divisor, MatrixView out);
/// out = x where open is not 0, else −∞; n × m each; x and out may be the same memory.
void mask_rows(ConstMatrixView x, ConstMatrixView open, MatrixView out);
/// Softmax along each row; x and out n × m, may be the same memory. −∞ counts as closed: weight exactly 0,
/// and a row with nothing open is all zeros. A NaN or a +∞ in an open cell makes the row's open cells NaN.
/// The exponentials are right to 2 ulp, and a row's result does not depend on where the row lies in memory.
void softmax_rows(ConstMatrixView x, MatrixView out);
/// out = A V where closed cells of A (closed(i, j) = −∞) take no part even if V is NaN or infinite there;
/// A and closed n × m, V m × k, out n × k. Slow: for a V that all_finite() refuses; else product() is the
/// same.
void sum_open(ConstMatrixView A, ConstMatrixView closed, const ConstStrided& V, MatrixView out);

/// Neither NaN nor ±∞ among them.
bool all_finite(std::span<const float> values);

}  // namespace attnscope
