#include "core/graph/pooled_tile.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace attnscope {
namespace {

constexpr float k_nothing = -std::numeric_limits<float>::infinity();

/// The value that represents a block with these extremes of its cells other than −∞.
float strongest(float largest, float smallest) {
    return std::isfinite(largest) ? dominant(largest, smallest) : largest;
}

}  // namespace

void pool_dominant(ConstMatrixView x, int level, Strided out) {
    const auto columns = static_cast<std::size_t>(x.cols());
    const Eigen::Index side = Eigen::Index{1} << level;
    Eigen::RowVectorXf largest(x.cols()), smallest(x.cols());
    for (Eigen::Index p = 0; p < out.rows(); ++p) {
        largest.setConstant(k_nothing);
        smallest.setConstant(-k_nothing);
        for (Eigen::Index i = p << level; i < std::min((p + 1) << level, x.rows()); ++i)
            widen({x.row(i).data(), columns}, {largest.data(), columns}, {smallest.data(), columns});
        for (Eigen::Index q = 0; q < out.cols(); ++q) {
            const Eigen::Index first = q << level, width = std::min(side, x.cols() - first);
            out(p, q) = strongest(largest.segment(first, width).maxCoeff<Eigen::PropagateNaN>(),
                                  smallest.segment(first, width).minCoeff());
        }
    }
}

PooledTotals::PooledTotals(Eigen::Index rows, Eigen::Index columns)
    : sum(Matrix::Zero(rows, columns)), count(Matrix::Zero(rows, columns)) {}

PooledTotals PooledTotals::uninitialized(Eigen::Index rows, Eigen::Index columns) {
    PooledTotals totals;
    totals.sum.resize(rows, columns);
    totals.count.resize(rows, columns);
    return totals;
}

void PooledTotals::add(ConstMatrixView x, int level, Eigen::Index row, Eigen::Index column) {
    // Of the block's rows in each column first: a block of 2^16 cells added up one by one would lose digits.
    Eigen::RowVectorXf sums(x.cols()), counts(x.cols());
    const auto columns = static_cast<std::size_t>(x.cols());
    const Eigen::Index side = Eigen::Index{1} << level;
    for (Eigen::Index first = 0; first < x.rows(); first += side, ++row) {
        sums.setZero();
        counts.setZero();
        for (Eigen::Index i = first; i < std::min(first + side, x.rows()); ++i)
            add_open({x.row(i).data(), columns}, {sums.data(), columns}, {counts.data(), columns});
        for (Eigen::Index left = 0, block = column; left < x.cols(); left += side, ++block) {
            const Eigen::Index width = std::min(side, x.cols() - left);
            sum(row, block) += sums.segment(left, width).sum();
            count(row, block) += counts.segment(left, width).sum();
        }
    }
}

void PooledTotals::add(const PooledTotals& finer, int level) {
    for (Eigen::Index i = 0; i < finer.sum.rows(); ++i)
        for (Eigen::Index j = 0; j < finer.sum.cols(); ++j) {
            sum(i >> level, j >> level) += finer.sum(i, j);
            count(i >> level, j >> level) += finer.count(i, j);
        }
}

Matrix PooledTotals::mean() const {
    return (count.array() > 0).select(sum.array() / count.array(), k_nothing).matrix();
}

PooledTile::PooledTile(Pool by, const Region& region) : pool(by) {
    if (pool == Pool::mean)
        totals = PooledTotals(region.rows, region.columns);
    else
        dominant = Matrix::Constant(region.rows, region.columns, k_nothing);
}

void PooledTile::add(ConstMatrixView x, int level, Eigen::Index row, Eigen::Index column) {
    const Eigen::Index rows = ((x.rows() - 1) >> level) + 1, columns = ((x.cols() - 1) >> level) + 1;
    if (pool == Pool::mean)
        totals.add(x, level, row, column);
    else
        pool_dominant(x, level, dominant.block(row, column, rows, columns));
}

void PooledTile::add(const PooledTile& finer, int level) {
    if (pool == Pool::mean)
        totals.add(finer.totals, level);
    else
        pool_dominant(view_of(finer.dominant), level, dominant);
}

void PooledTile::add_columns(const PooledTile& narrower, int level, Eigen::Index row) {
    if (pool == Pool::dominant) {
        for (Eigen::Index i = 0; i < narrower.dominant.rows(); ++i)
            pool_dominant({narrower.dominant.row(i).data(), 1, narrower.dominant.cols()}, level,
                          dominant.middleRows(row + i, 1));
        return;
    }
    for (Eigen::Index i = 0; i < narrower.totals.sum.rows(); ++i)
        for (Eigen::Index j = 0; j < narrower.totals.sum.cols(); ++j) {
            totals.sum(row + i, j >> level) += narrower.totals.sum(i, j);
            totals.count(row + i, j >> level) += narrower.totals.count(i, j);
        }
}

}  // namespace attnscope
