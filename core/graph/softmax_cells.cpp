#include "core/graph/softmax_cells.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

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

protected:
    std::vector<RowSum> sums_of_rows(int head, const Region& region) const override {
        return row_sums(head, region.row, region.rows);
    }

    void add_cells(int head, const Region& cells, Matrix& x, int level, PooledTile& tile, Eigen::Index row,
                   Eigen::Index column) const override {
        if (add_cells_on_card(head, cells, level, tile, row, column)) return;
        if (tile.pool != Pool::dominant || level == 0)
            return SurveyedCells::add_cells(head, cells, x, level, tile, row, column);
        x.resize(cells.rows, cells.columns);
        buffers_[0]->read(head, cells, view_of(x));
        Matrix strongest(pooled(cells.rows, level), pooled(cells.columns, level));
        strongest_weights(row_sums(head, cells.row, cells.rows), view_of(std::as_const(x)), level,
                          view_of(strongest));
        tile.dominant.block(row, column, strongest.rows(), strongest.cols()) = strongest;
    }

    Eigen::RowVectorXf strongest_groups(int head, const Region& rows) const override {
        Matrix largest, parts, open;
        std::vector<RowSum> sums(static_cast<std::size_t>(rows.rows));
        std::vector<float> smallest(sums.size());
        add_up(head, rows, largest, parts, &open, sums, smallest);
        Eigen::RowVectorXf groups(largest.cols());
        largest_of_columns(largest, groups);
        return (open.row(0).array() > 0).select(groups, k_closed);
    }

    Survey made_survey(int head, const Progress& progress, const std::stop_token& cancel) const override {
        const int rows = pooled(shape_.rows, kept_level_), columns = pooled(shape_.columns, kept_level_);
        Survey survey;
        Matrix base(rows, columns);
        PooledTotals totals(rows, columns);
        const auto count = static_cast<std::size_t>(shape_.rows);
        survey.row_largest.resize(count);
        std::vector<float> row_smallest(count);
        std::vector<RowSum> sums(count);
        for_each_task(progress, cancel, [&](int, const Region& of) {
            Matrix largest, parts, open;
            const auto first = static_cast<std::size_t>(of.row), size = static_cast<std::size_t>(of.rows);
            add_up(head, of, largest, parts, &open, std::span(sums).subspan(first, size),
                   std::span(row_smallest).subspan(first, size));
            for (int i = 0; i < of.rows; ++i) {
                const std::size_t row = first + static_cast<std::size_t>(i);
                const RowSum& sum = sums[row];
                const bool closed = sum.largest == k_closed;
                survey.row_largest[row] = closed ? 0 : static_cast<float>(1 / sum.sum);
                row_smallest[row] = static_cast<float>(
                    std::exp(static_cast<double>(row_smallest[row]) - sum.largest) / sum.sum);
                if (std::isfinite(sum.largest)) continue;
                if (!closed) survey.row_largest[row] = std::numeric_limits<float>::quiet_NaN();
            }
            const int side = 1 << kept_level_;
            for (int i = 0; i < of.rows; i += side) {
                const int p = (of.row + i) >> kept_level_, count_of = std::min(side, of.rows - i);
                largest_of_columns(largest.middleRows(i, count_of), base.row(p));
                totals.sum.row(p) = parts.middleRows(i, count_of).colwise().sum();
                totals.count.row(p) = open.row(i >> kept_level_);
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
    /// The sums of the rows of `of`, and for each row and group of 2^kept_level columns the largest weight
    /// and the sum of the weights; with `open`, how many cells of each block of 2^kept_level rows are open.
    void add_up(int head, const Region& of, Matrix& largest, Matrix& parts, Matrix* open,
                std::span<RowSum> sums, std::span<float> smallest) const {
        const int group = 1 << kept_level_, groups = pooled(shape_.columns, kept_level_);
        largest = Matrix::Constant(of.rows, groups, k_closed);
        parts = Matrix::Zero(of.rows, groups);
        if (open) *open = Matrix::Zero(pooled(of.rows, kept_level_), groups);
        std::ranges::fill(smallest, -k_closed);
        Matrix x;
        for_each_part(of, of.rows, columns_at_once(), [&](const Region& part) {
            const Coverage covered = coverage(head, part);
            if (covered == Coverage::none) return;
            const int first = part.column / group, count = pooled(part.columns, kept_level_);
            if (add_up_on_card(head, part, largest.middleCols(first, count), parts.middleCols(first, count),
                               open, first, smallest))
                return;
            x.resize(part.rows, part.columns);
            buffers_[0]->read(head, part, view_of(x));
            softmax_groups(view_of(std::as_const(x)), group, largest.middleCols(first, count),
                           parts.middleCols(first, count), smallest);
            if (open) count_open(view_of(std::as_const(x)), covered, open->middleCols(first, count));
        });
        for (Eigen::Index i = 0; i < largest.rows(); ++i) {
            RowSum& sum = sums[static_cast<std::size_t>(i)];
            sum = {largest.row(i).maxCoeff<Eigen::PropagateNaN>(), 0};
            if (sum.largest == k_closed) continue;
            if (!std::isfinite(sum.largest)) {  // the open cells are NaN
                const auto unknown =
                    Eigen::RowVectorXf::Constant(groups, std::numeric_limits<float>::quiet_NaN());
                largest.row(i) = (largest.row(i).array() == k_closed).select(0.0F, unknown);
                parts.row(i) = (largest.row(i).array() == 0).select(0.0F, unknown);
                continue;
            }
            exponentials({largest.row(i).data(), static_cast<std::size_t>(groups)}, sum.largest);
            parts.row(i).array() *= largest.row(i).array();
            sum.sum = parts.row(i).cast<double>().sum();
            largest.row(i) /= static_cast<float>(sum.sum);
            parts.row(i) /= static_cast<float>(sum.sum);
        }
    }

    /// add_up() of a part, whose groups are `largest` and `parts` and begin at column `first` of `open`.
    bool add_up_on_card(int head, const Region& part, Strided largest, Strided parts, Matrix* open, int first,
                        std::span<float> smallest) const {
        const auto* scores = dynamic_cast<const StageCells*>(buffers_[0]->on_demand());
        return scores && done_on_card(part, [&] {
                   const CardValues x = scores->on_card(head, part);
                   if (!x) return false;
                   const int group = 1 << kept_level_;
                   largest = card_->blocks(*x, BlockFact::largest, 1, group);
                   parts = card_->blocks(*x, BlockFact::exponential, 1, group);
                   const Matrix least = card_->blocks(*x, BlockFact::smallest, 1, group);
                   for (Eigen::Index i = 0; i < least.rows(); ++i) {
                       float& own = smallest[static_cast<std::size_t>(i)];
                       own = std::min(own, least.row(i).minCoeff());
                   }
                   if (open)
                       open->middleCols(first, largest.cols()) =
                           card_->blocks(*x, BlockFact::count, group, group);
                   return true;
               });
    }

    void count_open(ConstMatrixView x, Coverage covered, Strided open) const {
        if (covered != Coverage::all) {
            for (Eigen::Index i = 0; i < x.rows(); ++i)
                for (Eigen::Index j = 0; j < x.cols(); ++j)
                    open(i >> kept_level_, j >> kept_level_) += x(i, j) != k_closed;
            return;
        }
        const Eigen::Index side = Eigen::Index{1} << kept_level_;
        for (Eigen::Index p = 0; p < open.rows(); ++p)
            for (Eigen::Index q = 0; q < open.cols(); ++q)
                open(p, q) = static_cast<float>(std::min(side, x.rows() - p * side) *
                                                std::min(side, x.cols() - q * side));
    }

    /// NaN if a column contains one.
    static void largest_of_columns(const ConstStrided& x, Eigen::Ref<Eigen::RowVectorXf> out) {
        for (Eigen::Index j = 0; j < x.cols(); ++j) out(j) = x.col(j).maxCoeff<Eigen::PropagateNaN>();
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
        std::vector<RowSum> sums(static_cast<std::size_t>(count));
        std::vector<float> smallest(sums.size());
        for (int done = 0; done < count; done += k_task_rows) {
            const int rows = std::min(k_task_rows, count - done);
            Matrix largest, parts;
            const auto at = static_cast<std::size_t>(done), of = static_cast<std::size_t>(rows);
            add_up(head, {first + done, 0, rows, shape_.columns}, largest, parts, nullptr,
                   std::span(sums).subspan(at, of), std::span(smallest).subspan(at, of));
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
