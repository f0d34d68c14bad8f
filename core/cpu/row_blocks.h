// Spreads work on the rows of several heads over threads. The cut depends on shapes alone, so what is
// computed block by block is the same to the bit for any number of threads.
#pragma once

#include <Eigen/Core>
#include <functional>

#include "core/attention/tensor.h"

namespace attnscope {

/// Rows first … first + count − 1 of one head, counted from 0.
struct RowBlock {
    int head = 0;
    Eigen::Index first = 0;
    Eigen::Index count = 0;

    MatrixView of(MatrixView matrix) const {
        return {matrix.data() + first * matrix.cols(), count, matrix.cols()};
    }
    ConstMatrixView of(ConstMatrixView matrix) const {
        return {matrix.data() + first * matrix.cols(), count, matrix.cols()};
    }
};

/// The rows to go through, each of several heads (or matrices of one shape) having as many.
struct RowLoop {
    int heads = 1;
    Eigen::Index rows = 0;
    double work_per_row = 0;  ///< multiply-adds, or what takes as long

    Eigen::Index rows_per_block() const;
    Eigen::Index blocks_per_head() const { return (rows + rows_per_block() - 1) / rows_per_block(); }
    /// The blocks of all heads, one head after the other.
    RowBlock block(Eigen::Index index) const;
    /// Handing little work to another thread costs more than it spares.
    bool is_worth_threads() const;
};

namespace detail {
void run_parallel(Eigen::Index count, const std::function<void(Eigen::Index)>& run);
}

/// Calls work(RowBlock) once for each block, in no particular order and on several threads if that pays.
/// Throws what `work` throws.
template <typename Work>
void for_row_blocks(const RowLoop& loop, const Work& work) {
    const Eigen::Index blocks = loop.heads * loop.blocks_per_head();
    const auto run = [&](Eigen::Index index) { work(loop.block(index)); };
    if (blocks > 1 && loop.is_worth_threads()) {
        detail::run_parallel(blocks, std::cref(run));
        return;
    }
    for (Eigen::Index index = 0; index < blocks; ++index) run(index);
}

/// What one cell of softmax_rows takes in multiply-adds, roughly.
constexpr double k_softmax_work = 16;

/// Runs `work` with at most `threads` threads under for_row_blocks; 0 = one for each core.
void with_threads(int threads, const std::function<void()>& work);

}  // namespace attnscope
