// The products and the softmax under evaluate and under the benchmark, cut into blocks of rows that run in
// parallel. The cut depends on shapes alone, so the result is the same to the bit for any number of threads.
#pragma once

#include <Eigen/Core>
#include <functional>

#include "core/attention/tensor.h"

namespace attnscope {

/// Views whose rows may lie further apart than their columns are wide: one head's columns of Q.
using Strided = Eigen::Ref<Matrix, 0, Eigen::OuterStride<>>;
using ConstStrided = Eigen::Ref<const Matrix, 0, Eigen::OuterStride<>>;

/// out = A B; A n × k, B k × m, out n × m.
void product(const ConstStrided& A, const ConstStrided& B, Strided out);
/// out = A Bᵀ; A n × k, B m × k, out n × m.
void product_transposed(const ConstStrided& A, const ConstStrided& B, Strided out);
/// out = x · factor, element by element, multiplied first and then divided, as scores · scale ÷ temperature.
void scale_into(ConstMatrixView x, float factor, float divisor, MatrixView out);
/// out = x where open is not 0, else −∞; n × m each.
void mask_into(ConstMatrixView x, ConstMatrixView open, MatrixView out);
/// Softmax along each row; x and out n × m, may be the same memory. −∞ counts as closed: weight exactly 0,
/// and a row with nothing open is all zeros. A NaN or a +∞ in an open cell makes the row's open cells NaN.
void softmax_rows(ConstMatrixView x, MatrixView out);
/// out = A V where closed cells of A (closed(i, j) = −∞) take no part even if V is NaN or infinite there;
/// A and closed n × m, V m × k, out n × k.
void weighted_sum(ConstMatrixView A, ConstMatrixView closed, const ConstStrided& V, MatrixView out);

/// Runs `work` with at most `threads` threads under the kernels; 0 = one for each core.
void with_threads(int threads, const std::function<void()>& work);

}  // namespace attnscope
