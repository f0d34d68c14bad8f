// Distributes work on the rows of several heads over threads. The blocks depend on shapes alone, so results
// that are computed block by block are the same to the bit for any number of threads.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <stop_token>

#include "core/canceled.h"
#include "core/tensor/tensor.h"

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

/// The rows to process, the same number in each of several heads (or matrices of one shape).
struct RowLoop {
    int heads = 1;
    Eigen::Index rows = 0;
    double work_per_row = 0;  ///< multiply-adds, or the equivalent time
    std::stop_token cancel = {};

    /// A block of more work a row has fewer rows than others.
    static constexpr double k_heavy = 1 << 22;
    Eigen::Index rows_per_block() const;
    Eigen::Index blocks_per_head() const { return (rows + rows_per_block() - 1) / rows_per_block(); }
    /// A block by its index among the blocks of all heads, one head after the other.
    RowBlock block(Eigen::Index index) const;
    /// Whether there is enough work: passing little to another thread costs more than it saves.
    bool is_worth_threads() const;
};

/// Calls run(0), …, run(count − 1), in no particular order and on several threads. Throws whatever `run`
/// throws.
void run_parallel(Eigen::Index count, const std::function<void(Eigen::Index)>& run);

/// Runs `work` so that this thread, while it waits in it for other threads, starts nothing from outside of
/// it, which may need a lock that is held here.
void run_isolated(const std::function<void()>& work);

/// Calls work(RowBlock) once per block, in no particular order, and on several threads if that pays. Throws
/// whatever `work` throws, and Canceled instead of starting another block once `loop.cancel` asks for it.
template <typename Work>
void for_row_blocks(const RowLoop& loop, const Work& work) {
    const Eigen::Index blocks = loop.heads * loop.blocks_per_head();
    const auto run = [&](Eigen::Index index) {
        stop_if_canceled(loop.cancel);
        work(loop.block(index));
    };
    if (blocks > 1 && loop.is_worth_threads()) {
        run_parallel(blocks, std::cref(run));
        return;
    }
    for (Eigen::Index index = 0; index < blocks; ++index) run(index);
}

/// The approximate cost of one cell of softmax_rows(), in multiply-adds.
constexpr double k_softmax_work = 16;

/// Runs `work` with at most `threads` threads in run_parallel() and for_row_blocks(); 0 = one per core.
void with_threads(int threads, const std::function<void()>& work);

/// From now on no more than `threads` threads compute in this process, whoever asks; 0 = one per core.
void limit_threads(int threads);

}  // namespace attnscope
