// The products (products.cpp) and the softmax (softmax.cpp) of evaluate() and the benchmark. Each computes
// some rows of one head on the calling thread; for_row_blocks (core/cpu/row_blocks.h) distributes the calls
// over threads.
#pragma once

#include <Eigen/Core>
#include <limits>
#include <span>

#include "core/tensor/tensor.h"

namespace attnscope {

/// Views whose row stride may exceed their width, such as one head's columns of Q.
using Strided = Eigen::Ref<Matrix, 0, Eigen::OuterStride<>>;
using ConstStrided = Eigen::Ref<const Matrix, 0, Eigen::OuterStride<>>;

// If B has few numbers, the products accumulate in double: the numbers of a small example are then right to
// the last digit and the same on every machine; otherwise the order of summation depends on the machine and
// on how many rows and columns the result has.

/// out = A B; A n × k, B k × m, out n × m, which overlaps neither.
void product(const ConstStrided& A, const ConstStrided& B, Strided out);
/// out = A Bᵀ; A n × k, B m × k, out n × m, which overlaps neither.
void product_transposed(const ConstStrided& A, const ConstStrided& B, Strided out);
/// Whether product() by a Bᵀ that is kept, for several As or for later evaluations, is faster than
/// product_transposed() by B.
bool is_worth_transposing(const ConstStrided& A, const ConstStrided& B);
/// out = Bᵀ, which do not overlap.
void transpose(const ConstStrided& B, Strided out);

// What a product passes back to its operands, always in single precision; `sum` overlaps neither.

/// sum += A B; A n × k, B k × m, sum n × m.
void add_product(const ConstStrided& A, const ConstStrided& B, Strided sum);
/// sum += A Bᵀ; A n × k, B m × k, sum n × m.
void add_product_transposed(const ConstStrided& A, const ConstStrided& B, Strided sum);
/// sum += Aᵀ B; A k × n, B k × m, sum n × m.
void add_transposed_product(const ConstStrided& A, const ConstStrided& B, Strided sum);

/// out = x · factor ÷ divisor, element by element, multiplied first; x and out may be the same memory.
void scale_rows(ConstMatrixView x, float factor, float divisor, MatrixView out);
/// out = x where open is not 0, else −∞; n × m each; x and out may be the same memory.
void mask_rows(ConstMatrixView x, ConstMatrixView open, MatrixView out);
/// Softmax along each row; x and out n × m, may be the same memory. −∞ is closed: weight exactly 0, and a row
/// with nothing open is all zeros. A NaN or a +∞ in an open cell makes the row's open cells NaN. The
/// exponentials are accurate to 1.01 ulp, and a row's result does not depend on its address.
void softmax_rows(ConstMatrixView x, MatrixView out);
/// What a softmax subtracts from a row and divides it by. A row may be read in parts.
struct RowSum {
    float largest = -std::numeric_limits<float>::infinity();  ///< NaN if the row has one; −∞: nothing is open
    double sum = 0;  ///< Σ exp(x − largest) over the open cells: 1 at least if there is one

    /// Adds a part of the row with these values.
    void add(float part_largest, double part_sum);
};
/// What softmax_rows() does to whole rows, for parts of rows whose sums are known, in place; one sum
/// for each row. A cell above its row's largest, which may have been rounded differently, counts as that.
void softmax_cells(std::span<const RowSum> rows, MatrixView x);
/// The largest weight of each block of 2^level × 2^level cells, which is that of the largest
/// (x − row's largest) − ln(row's sum), so that a block takes one exponential: equal to the largest of
/// softmax_cells() but for rounding. −∞ where all cells of a block are −∞, NaN where another one is NaN.
void strongest_weights(std::span<const RowSum> rows, ConstMatrixView x, int level, MatrixView out);
/// The sum of the weights of each block of 2^level × 2^level cells: that of softmax_cells() but for rounding.
/// Closed cells (−∞) add nothing; NaN where a cell's weight is.
void sums_of_weights(std::span<const RowSum> rows, ConstMatrixView x, int level, MatrixView out);
/// The sums of each row and group of `group` columns, a multiple of 16; the last group may be shorter.
/// `largest` and `sums` are rows × groups. `smallest` is lowered to each row's smallest open cell.
void softmax_groups(ConstMatrixView x, int group, Strided largest, Strided sums, std::span<float> smallest);
/// x = exp(x − largest), which none exceeds; as accurate as softmax_rows().
void exponentials(std::span<float> x, float largest);
/// Adds the cells of x that are not −∞, and how many these are, column by column.
void add_open(std::span<const float> x, std::span<float> sums, std::span<float> counts);
/// Raises `largest` and lowers `smallest` to the cells of x that are not −∞, column by column; a NaN in
/// `largest` stays.
void widen(std::span<const float> x, std::span<float> largest, std::span<float> smallest);
/// out = A V where closed cells of A (closed(i, j) = −∞) are excluded even if V is NaN or infinite there; A
/// and closed n × m, V m × k, out n × k. Slow: use it only for a V that all_finite() rejects; otherwise
/// product() gives the same result.
void sum_open(ConstMatrixView A, ConstMatrixView closed, const ConstStrided& V, MatrixView out);

/// Whether no value is NaN or ±∞.
bool all_finite(std::span<const float> values);

}  // namespace attnscope
