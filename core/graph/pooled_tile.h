// Cells that each stand for a block of others: the strongest value of the block, or the mean.
#pragma once

#include "core/cpu/kernels.h"
#include "core/tensor/buffer.h"

namespace attnscope {

inline MatrixView view_of(Matrix& matrix) { return {matrix.data(), matrix.rows(), matrix.cols()}; }
inline ConstMatrixView view_of(const Matrix& matrix) { return {matrix.data(), matrix.rows(), matrix.cols()}; }

/// Pools each 2^level × 2^level block of x, as Pool::dominant, into one cell of `out`; −∞ where a block has
/// no other value.
void pool_dominant(ConstMatrixView x, int level, Strided out);

/// Sums and counts of the cells that are not −∞.
struct PooledTotals {
    Matrix sum, count;

    PooledTotals() = default;
    PooledTotals(Eigen::Index rows, Eigen::Index columns);  ///< zeros
    /// Whose numbers the caller sets, all of them.
    static PooledTotals uninitialized(Eigen::Index rows, Eigen::Index columns);

    /// Adds the cells of x, whose first block is (row, column).
    void add(ConstMatrixView x, int level, Eigen::Index row, Eigen::Index column);
    /// Adds totals of blocks that are 2^level times finer.
    void add(const PooledTotals& finer, int level);
    Matrix mean() const;  ///< −∞ where nothing was counted
};

/// Pooled cells that are added to part by part.
struct PooledTile {
    Pool pool;
    Matrix dominant;
    PooledTotals totals;

    PooledTile(Pool by, const Region& region);
    /// Adds the blocks of x, the first of which is (row, column) of this tile.
    void add(ConstMatrixView x, int level, Eigen::Index row, Eigen::Index column);
    /// Adds a tile of blocks that are 2^level times finer.
    void add(const PooledTile& finer, int level);
    /// Adds a tile of blocks that are 2^level times narrower, from a row of this one on.
    void add_columns(const PooledTile& narrower, int level, Eigen::Index row);
    Matrix values() const { return pool == Pool::mean ? totals.mean() : dominant; }
};

}  // namespace attnscope
