#include "core/cpu/kernels.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace attnscope {
namespace {

constexpr Eigen::Index k_rows_per_block = 64;
// Work under this many multiply-adds (or bytes moved) costs less than handing it to another thread.
constexpr double k_smallest_parallel_work = 1 << 20;
constexpr float k_infinity = std::numeric_limits<float>::infinity();

/// Calls block(first, count) for consecutive runs of k_rows_per_block rows.
template <typename Block>
void for_row_blocks(Eigen::Index rows, double work_per_row, const Block& block) {
    const Eigen::Index blocks = (rows + k_rows_per_block - 1) / k_rows_per_block;
    const auto run = [&](Eigen::Index b) {
        const Eigen::Index first = b * k_rows_per_block;
        block(first, std::min(k_rows_per_block, rows - first));
    };
    if (blocks < 2 || work_per_row * static_cast<double>(rows) < k_smallest_parallel_work) {
        for (Eigen::Index b = 0; b < blocks; ++b) run(b);
        return;
    }
    tbb::parallel_for(Eigen::Index{0}, blocks, run);
}

template <typename View>
double cells(const View& view) {
    return static_cast<double>(view.rows()) * static_cast<double>(view.cols());
}

void softmax_row(const float* x, float* out, Eigen::Index n) {
    const Eigen::Map<const Eigen::ArrayXf> in(x, n);
    Eigen::Map<Eigen::ArrayXf> weights(out, n);
    const float largest = in.maxCoeff<Eigen::PropagateNaN>();
    if (largest == -k_infinity) {
        weights.setZero();
        return;
    }
    const auto closed = in == -k_infinity;
    // A closed cell is written as 0: the vectorised exp(−∞) is a small positive number in some builds. The
    // closed cells are found before the exponentials are written, since both may be the same memory.
    const bool any_closed = closed.any();
    if (!any_closed) {
        weights = (in - largest).exp();
        weights /= weights.sum();
        return;
    }
    // NaN in `largest` must not reach closed cells.
    weights = closed.select(-1.0f, (in - largest).exp());
    const auto open = weights >= 0.0f || weights.isNaN();
    const float sum = open.select(weights, 0.0f).sum();
    weights = open.select(weights / sum, 0.0f);
}

}  // namespace

void product(const ConstStrided& A, const ConstStrided& B, Strided out) {
    for_row_blocks(A.rows(), cells(B), [&](Eigen::Index first, Eigen::Index count) {
        out.middleRows(first, count).noalias() = A.middleRows(first, count) * B;
    });
}

void product_transposed(const ConstStrided& A, const ConstStrided& B, Strided out) {
    for_row_blocks(A.rows(), cells(B), [&](Eigen::Index first, Eigen::Index count) {
        out.middleRows(first, count).noalias() = A.middleRows(first, count) * B.transpose();
    });
}

void scale_into(ConstMatrixView x, float factor, float divisor, MatrixView out) {
    for_row_blocks(x.rows(), static_cast<double>(x.cols()), [&](Eigen::Index first, Eigen::Index count) {
        auto block = out.middleRows(first, count);
        block = x.middleRows(first, count) * factor;
        if (divisor != 1) block /= divisor;
    });
}

void mask_into(ConstMatrixView x, ConstMatrixView open, MatrixView out) {
    for_row_blocks(x.rows(), static_cast<double>(x.cols()), [&](Eigen::Index first, Eigen::Index count) {
        out.middleRows(first, count) =
            (open.middleRows(first, count).array() != 0).select(x.middleRows(first, count), -k_infinity);
    });
}

void softmax_rows(ConstMatrixView x, MatrixView out) {
    for_row_blocks(x.rows(), 16.0 * static_cast<double>(x.cols()),
                   [&](Eigen::Index first, Eigen::Index count) {
                       for (Eigen::Index i = first; i < first + count; ++i)
                           softmax_row(x.row(i).data(), out.row(i).data(), x.cols());
                   });
}

void weighted_sum(ConstMatrixView A, ConstMatrixView closed, const ConstStrided& V, MatrixView out) {
    if (V.allFinite()) {
        product(A, V, out);
        return;
    }
    out.setZero();
    for (Eigen::Index i = 0; i < A.rows(); ++i)
        for (Eigen::Index j = 0; j < A.cols(); ++j)
            if (closed(i, j) != -k_infinity) out.row(i) += A(i, j) * V.row(j);
}

void with_threads(int threads, const std::function<void()>& work) {
    if (threads <= 0) {
        work();
        return;
    }
    tbb::task_arena arena(threads);
    arena.execute(work);
}

}  // namespace attnscope
