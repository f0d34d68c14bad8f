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

/// Adds the cells of a row that are not −∞, column by column.
void add_open(const float* x, std::span<float> sums, std::span<float> counts) {
    for (std::size_t j = 0; j < sums.size(); ++j) {
        const bool open = x[j] != k_nothing;
        sums[j] += open ? x[j] : 0.0F;
        counts[j] += open ? 1.0F : 0.0F;
    }
}

}  // namespace

void pool_dominant(ConstMatrixView x, int level, Strided out) {
    const auto columns = static_cast<std::size_t>(x.cols());
    std::vector<float> largest(columns), smallest(columns);
    for (Eigen::Index p = 0; p < out.rows(); ++p) {
        std::ranges::fill(largest, k_nothing);
        std::ranges::fill(smallest, -k_nothing);
        for (Eigen::Index i = p << level; i < std::min((p + 1) << level, x.rows()); ++i)
            widen({x.row(i).data(), columns}, largest, smallest);
        for (Eigen::Index q = 0; q < out.cols(); ++q) {
            float high = k_nothing, low = -k_nothing;
            const auto first = static_cast<std::size_t>(q << level),
                       end = std::min(static_cast<std::size_t>((q + 1) << level), columns);
            for (std::size_t j = first; j < end; ++j) {
                widen({&largest[j], 1}, {&high, 1}, {&low, 1});
                low = std::min(low, smallest[j]);
            }
            out(p, q) = strongest(high, low);
        }
    }
}

PooledTotals::PooledTotals(Eigen::Index rows, Eigen::Index columns)
    : sum(Matrix::Zero(rows, columns)), count(Matrix::Zero(rows, columns)) {}

void PooledTotals::add(ConstMatrixView x, int level, Eigen::Index row, Eigen::Index column) {
    const auto columns = static_cast<std::size_t>(x.cols());
    // Of the block's rows in each column first: a block of 2^16 cells added up one by one would lose digits.
    std::vector<float> sums(columns), counts(columns);
    for (Eigen::Index first = 0; first < x.rows(); first += Eigen::Index{1} << level, ++row) {
        std::ranges::fill(sums, 0);
        std::ranges::fill(counts, 0);
        for (Eigen::Index i = first; i < std::min(first + (Eigen::Index{1} << level), x.rows()); ++i)
            add_open(x.row(i).data(), sums, counts);
        for (std::size_t j = 0; j < columns; ++j) {
            const Eigen::Index block = column + static_cast<Eigen::Index>(j >> level);
            sum(row, block) += sums[j];
            count(row, block) += counts[j];
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

}  // namespace attnscope
