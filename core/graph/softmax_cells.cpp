#include "core/graph/softmax_cells.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace attnscope {
namespace {

/// The weights of a softmax over the keys. A row's sum is found when a part of the row is read first, or for
/// all rows by the survey, which sees each score once.
class SoftmaxCells : public StageCells {
public:
    explicit SoftmaxCells(StageParts parts)
        : StageCells(std::move(parts)), sums_(static_cast<std::size_t>(shape_.heads)) {}

    bool reads_columns(int head) const override {
        const std::lock_guard lock(mutex_);
        const std::vector<std::optional<RowSum>>& all = sums_[static_cast<std::size_t>(head)];
        return !all.empty() && std::ranges::all_of(all, [](const auto& sum) { return sum.has_value(); });
    }

    /// Whole rows are divided by their own sums: the rounding of scores depends on which are computed
    /// together, and where scores are large, a sum found elsewhere would make weights that add up to 1.0001.
    void read(int head, const Region& region, MatrixView out) const override {
        if (region.columns == shape_.columns) {
            buffers_[0]->read(head, region, out);
            return softmax_rows({out.data(), out.rows(), out.cols()}, out);
        }
        if (read_on_card(head, region, out)) return;
        const std::vector<RowSum> rows = sums_of_rows(head, region);
        cells(*op_, {buffers_, head, region, rows}, out);
    }

    /// All rows read some columns before any reads the next ones, so that keys come from the memory once.
    void find_sums(int head, std::span<const int> rows, const std::stop_token& cancel) const override {
        std::vector<int> unknown;
        {
            const std::lock_guard lock(mutex_);
            const std::vector<std::optional<RowSum>>& all = sums_[static_cast<std::size_t>(head)];
            std::ranges::copy_if(rows, std::back_inserter(unknown),
                                 [&](int row) { return all.empty() || !all[static_cast<std::size_t>(row)]; });
        }
        std::vector<Groups> of_rows(unknown.size(), no_groups(1));
        Matrix x;
        for_each_part(Region{0, 0, 1, shape_.columns}, 1, columns_at_once(), [&](const Region& columns) {
            stop_if_canceled(cancel);
            for (std::size_t i = 0; i < unknown.size(); ++i)
                add_up(head, {unknown[i], columns.column, 1, columns.columns}, x, of_rows[i]);
        });
        for (std::size_t i = 0; i < unknown.size(); ++i) keep(head, unknown[i], divide(of_rows[i]));
    }

protected:
    std::vector<RowSum> sums_of_rows(int head, const Region& region) const override {
        return row_sums(head, region.row, region.rows);
    }

    void add_cells(int head, const Region& cells, Matrix& x, int level, PooledTile& tile, Eigen::Index row,
                   Eigen::Index column) const override {
        if (add_cells_on_card(head, cells, level, tile, row, column)) return;
        // Found once for all parts of these rows.
        const std::vector<RowSum> sums = row_sums(head, cells.row, cells.rows);
        if (level == 0) return SurveyedCells::add_cells(head, cells, x, level, tile, row, column);
        for_each_part(cells, std::max(k_rows_in_cache, 1 << level), cells.columns, [&](const Region& part) {
            const int first = part.row - cells.row;
            x.resize(part.rows, part.columns);
            buffers_[0]->read(head, part, view_of(x));
            const ConstMatrixView scores = view_of(std::as_const(x));
            const auto of_rows = std::span(sums).subspan(static_cast<std::size_t>(first));
            const Matrix open = open_cells(head, part, level);
            Matrix blocks(open.rows(), open.cols());
            const auto of_tile = [&](Matrix& all) {
                return all.block(row + (first >> level), column, blocks.rows(), blocks.cols());
            };
            if (tile.pool == Pool::dominant) {
                strongest_weights(of_rows, scores, level, view_of(blocks));
                // The weight of an open pair is 0 where its score is −∞.
                of_tile(tile.dominant) = (blocks.array() == k_closed && open.array() > 0).select(0, blocks);
                return;
            }
            sums_of_weights(of_rows, scores, level, view_of(blocks));
            of_tile(tile.totals.sum) += blocks;
            of_tile(tile.totals.count) += open;
        });
    }

    PooledTile pooled_bands(int head, Pool pool, std::span<const Region> bands,
                            const std::stop_token& cancel) const override {
        std::vector<Groups> of_bands;
        for (const Region& rows : bands) of_bands.push_back(counting_groups(rows.rows));
        Matrix x;
        for_each_part(Region{0, 0, 1, shape_.columns}, 1, columns_at_once(), [&](const Region& columns) {
            stop_if_canceled(cancel);
            for (std::size_t band = 0; band < bands.size(); ++band)
                add_up(head, {bands[band].row, columns.column, bands[band].rows, columns.columns}, x,
                       of_bands[band]);
        });
        PooledTile tile(pool, {0, 0, static_cast<int>(bands.size()), pooled(shape_.columns, kept_level_)});
        for (std::size_t band = 0; band < bands.size(); ++band) {
            const auto row = static_cast<Eigen::Index>(band);
            Groups& groups = of_bands[band];
            divide(groups);
            const auto open = groups.open.row(0);  // a band has fewer rows than a block
            if (pool == Pool::mean) {
                tile.totals.sum.row(row) = groups.parts.colwise().sum();
                tile.totals.count.row(row) = open;
                continue;
            }
            Eigen::RowVectorXf largest(groups.largest.cols());
            largest_of_columns(groups.largest, largest);
            tile.dominant.row(row) = (open.array() > 0).select(largest, k_closed);
        }
        return tile;
    }

    Survey made_survey(int head, const Progress& progress, const std::stop_token& cancel) const override {
        const int rows = pooled(shape_.rows, kept_level_), columns = pooled(shape_.columns, kept_level_);
        Survey survey;
        Matrix base(rows, columns);
        PooledTotals totals = PooledTotals::uninitialized(rows, columns);
        const auto count = static_cast<std::size_t>(shape_.rows);
        survey.row_largest.resize(count);
        std::vector<float> row_smallest(count);
        std::vector<RowSum> sums(count);
        for_each_task(progress, cancel, [&](int, const Region& of, const PartRead& tell) {
            Groups groups = counting_groups(of.rows);
            const std::vector<RowSum> of_rows = sums_of(head, of, groups, tell);
            for (int i = 0; i < of.rows; ++i) {
                const auto row = static_cast<std::size_t>(of.row + i);
                const RowSum& sum = sums[row] = of_rows[static_cast<std::size_t>(i)];
                const bool closed = sum.largest == k_closed;
                survey.row_largest[row] = closed ? 0 : static_cast<float>(1 / sum.sum);
                const double smallest = groups.smallest[static_cast<std::size_t>(i)];
                row_smallest[row] = static_cast<float>(std::exp(smallest - sum.largest) / sum.sum);
                if (std::isfinite(sum.largest)) continue;
                if (!closed) survey.row_largest[row] = std::numeric_limits<float>::quiet_NaN();
            }
            const int side = 1 << kept_level_;
            for (int i = 0; i < of.rows; i += side) {
                const int p = (of.row + i) >> kept_level_, count_of = std::min(side, of.rows - i);
                largest_of_columns(groups.largest.middleRows(i, count_of), base.row(p));
                totals.sum.row(p) = groups.parts.middleRows(i, count_of).colwise().sum();
                totals.count.row(p) = groups.open.row(i >> kept_level_);
                for (int c = 0; c < columns; ++c)
                    if (totals.count(p, c) == 0) base(p, c) = k_closed;
            }
        });
        survey.range = range_of_rows(head, survey.row_largest, row_smallest);
        survey.dominant.push_back(std::move(base));
        survey.add_levels(std::move(totals));
        keep(head, 0, sums);
        return survey;
    }

private:
    /// A number for each row and group of 2^kept_level columns. Before divide(): the group's largest score,
    /// and its Σ exp(score − largest). After it: its largest weight, and the sum of its weights.
    struct Groups {
        Matrix largest, parts;
        Matrix open = {};             ///< open cells by block of 2^kept_level rows; empty: not counted
        std::vector<float> smallest;  ///< score of each row
    };

    Groups no_groups(int rows) const {
        const int groups = pooled(shape_.columns, kept_level_);
        return {.largest = Matrix::Constant(rows, groups, k_closed),
                .parts = Matrix::Zero(rows, groups),
                .smallest = std::vector<float>(static_cast<std::size_t>(rows), -k_closed)};
    }
    Groups counting_groups(int rows) const {
        Groups groups = no_groups(rows);
        groups.open = Matrix::Zero(pooled(rows, kept_level_), groups.largest.cols());
        return groups;
    }

    /// Adds `part`, some columns of exactly the rows that `to` holds; `x` is memory for their scores.
    void add_up(int head, const Region& part, Matrix& x, Groups& to) const {
        if (coverage(head, part) == Coverage::none) return;
        const int group = 1 << kept_level_;
        const int first = part.column / group, count = pooled(part.columns, kept_level_);
        if (add_up_on_card(head, part, first, count, to)) return;
        for_each_part(part, std::max(k_rows_in_cache, group), part.columns, [&](const Region& rows) {
            if (coverage(head, rows) == Coverage::none) return;
            const int row = rows.row - part.row;
            x.resize(rows.rows, rows.columns);
            buffers_[0]->read(head, rows, view_of(x));
            softmax_groups(view_of(std::as_const(x)), group, to.largest.block(row, first, rows.rows, count),
                           to.parts.block(row, first, rows.rows, count),
                           std::span(to.smallest).subspan(static_cast<std::size_t>(row)));
            if (to.open.size() > 0)
                to.open.block(row / group, first, pooled(rows.rows, kept_level_), count) =
                    open_cells(head, rows, kept_level_);
        });
    }

    /// Divides what was added up of whole rows by their sums, which it returns.
    static std::vector<RowSum> divide(Groups& of) {
        std::vector<RowSum> sums;
        for (Eigen::Index i = 0; i < of.largest.rows(); ++i) {
            auto largest = of.largest.row(i), parts = of.parts.row(i);
            RowSum& sum = sums.emplace_back(RowSum{largest.maxCoeff<Eigen::PropagateNaN>(), 0});
            if (sum.largest == k_closed) continue;
            if (!std::isfinite(sum.largest)) {  // the open cells are NaN
                const auto unknown =
                    Eigen::RowVectorXf::Constant(largest.size(), std::numeric_limits<float>::quiet_NaN());
                largest = (largest.array() == k_closed).select(0.0F, unknown);
                parts = (largest.array() == 0).select(0.0F, unknown);
                continue;
            }
            exponentials({largest.data(), static_cast<std::size_t>(largest.size())}, sum.largest);
            parts.array() *= largest.array();
            sum.sum = parts.cast<double>().sum();
            largest /= static_cast<float>(sum.sum);
            parts /= static_cast<float>(sum.sum);
        }
        return sums;
    }

    /// The sums of whole rows, whose weights it leaves in `groups`.
    std::vector<RowSum> sums_of(int head, const Region& rows, Groups& groups,
                                const PartRead& tell = {}) const {
        Matrix x;
        for_each_part(rows, rows.rows, columns_at_once(), [&](const Region& part) {
            add_up(head, part, x, groups);
            if (tell) tell(part);
        });
        return divide(groups);
    }

    /// add_up() of a part, whose groups are `count` from `first` on.
    bool add_up_on_card(int head, const Region& part, int first, int count, Groups& to) const {
        const auto* scores = dynamic_cast<const StageCells*>(buffers_[0]->on_demand());
        return scores && done_on_card(part, [&] {
                   const CardValues x = scores->on_card(head, part);
                   if (!x) return false;
                   const int group = 1 << kept_level_;
                   to.largest.middleCols(first, count) = card_->blocks(*x, BlockFact::largest, 1, group);
                   to.parts.middleCols(first, count) = card_->blocks(*x, BlockFact::exponential, 1, group);
                   const Matrix least = card_->blocks(*x, BlockFact::smallest, 1, group);
                   for (Eigen::Index i = 0; i < least.rows(); ++i) {
                       float& own = to.smallest[static_cast<std::size_t>(i)];
                       own = std::min(own, least.row(i).minCoeff());
                   }
                   if (to.open.size() > 0)
                       to.open.middleCols(first, count) = open_cells(head, part, kept_level_);
                   return true;
               });
    }

    /// How many cells of each block of 2^level × 2^level the mask opens.
    Matrix open_cells(int head, const Region& region, int level) const {
        PooledTotals open(pooled(region.rows, level), pooled(region.columns, level));
        if (coverage(head, region) != Coverage::all) {
            const Matrix mask = mask_of(head, region);
            open.add(view_of(mask), level, 0, 0);
            return open.sum;
        }
        const int side = 1 << level;
        for (int p = 0; p < open.sum.rows(); ++p)
            for (int q = 0; q < open.sum.cols(); ++q)
                open.sum(p, q) = static_cast<float>(std::min(side, region.rows - p * side)) *
                                 static_cast<float>(std::min(side, region.columns - q * side));
        return open.sum;
    }

    /// NaN if a column contains one.
    static void largest_of_columns(const ConstStrided& x, Eigen::Ref<Eigen::RowVectorXf> out) {
        out = x.row(0);
        float* const largest = out.data();
        for (Eigen::Index i = 1; i < x.rows(); ++i) {
            const float* const row = x.row(i).data();
            for (Eigen::Index j = 0; j < x.cols(); ++j)
                largest[j] = row[j] > largest[j] || std::isnan(row[j]) ? row[j] : largest[j];
        }
    }

    ValueRange range_of_rows(int head, const std::vector<float>& largest,
                             const std::vector<float>& smallest) const {
        ValueRange range;
        const Region all{0, 0, shape_.rows, shape_.columns};
        std::size_t rows_with_nan = 0;
        for (std::size_t i = 0; i < largest.size(); ++i) {
            if (std::isnan(largest[i])) {
                ++rows_with_nan;
                continue;
            }
            range.max = std::max(range.max, largest[i]);
            range.min = i == 0 ? smallest[i] : std::min(range.min, smallest[i]);
        }
        if (coverage(head, all) != Coverage::all) range.min = 0;
        range.nan = rows_with_nan * static_cast<std::size_t>(shape_.columns);
        range.finite = all.size() - range.nan;
        return range;
    }

    std::vector<RowSum> row_sums(int head, int first, int count) const {
        {
            const std::lock_guard lock(mutex_);
            const std::vector<std::optional<RowSum>>& all = sums_[static_cast<std::size_t>(head)];
            const auto begin = all.begin() + (all.empty() ? 0 : first),
                       end = begin + (all.empty() ? 0 : count);
            if (!all.empty() && std::all_of(begin, end, [](const auto& sum) { return sum.has_value(); })) {
                std::vector<RowSum> found;
                std::transform(begin, end, std::back_inserter(found), [](const auto& sum) { return *sum; });
                return found;
            }
        }
        std::vector<RowSum> sums;
        for (int done = 0; done < count; done += k_task_rows) {
            const int rows = std::min(k_task_rows, count - done);
            Groups groups = no_groups(rows);
            std::ranges::copy(sums_of(head, {first + done, 0, rows, shape_.columns}, groups),
                              std::back_inserter(sums));
        }
        keep(head, first, sums);
        return sums;
    }

    void keep(int head, int first, const std::vector<RowSum>& sums) const {
        const std::lock_guard lock(mutex_);
        std::vector<std::optional<RowSum>>& all = sums_[static_cast<std::size_t>(head)];
        all.resize(static_cast<std::size_t>(shape_.rows));
        std::ranges::copy(sums, all.begin() + first);
    }

    mutable std::mutex mutex_;
    mutable std::vector<std::vector<std::optional<RowSum>>> sums_;  ///< by head and row, as far as known
};

}  // namespace

std::shared_ptr<const OnDemandValues> softmax_cells(StageParts parts) {
    return std::make_shared<const SoftmaxCells>(std::move(parts));
}

}  // namespace attnscope
