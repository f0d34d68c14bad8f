#include "core/graph/surveyed_cells.h"

#include <chrono>
#include <cmath>
#include <mutex>
#include <thread>
#include <utility>

#include "core/cpu/row_blocks.h"
#include "core/graph/on_demand.h"

namespace attnscope {
namespace {

/// A survey pools 16 × 16 cells at least: the sums of a softmax cover so many columns at once.
constexpr int k_least_kept_level = 4;
/// Rows of a band of a preview, for which the keys are read once.
constexpr int k_rows_of_band = 4;
constexpr int k_most_preview_columns = 512;
/// Multiply-adds of a cell, for cutting the work into tasks.
constexpr double k_work_per_cell = 64;

constexpr std::chrono::milliseconds k_between_tries{5};

/// Reports how many of the cells of a survey are read, from whichever thread reads some.
class Counter {
public:
    Counter(Progress progress, std::size_t cells) : progress_(std::move(progress)), cells_(cells) {}
    void count(std::size_t cells) {
        const std::lock_guard lock(mutex_);
        read_ += cells;
        report(progress_, static_cast<double>(read_) / static_cast<double>(cells_));
    }

private:
    const Progress progress_;
    const std::size_t cells_;
    std::mutex mutex_;
    std::size_t read_ = 0;
};

std::size_t cells_at(const Shape& shape, int level) {
    return static_cast<std::size_t>(pooled(shape.rows, level)) *
           static_cast<std::size_t>(pooled(shape.columns, level));
}

/// The first level that a survey keeps.
int kept_level(const Shape& shape, const OnDemandSizes& sizes) {
    int level = k_least_kept_level;
    while (cells_at(shape, level) > sizes.kept_cells) ++level;
    return level;
}

}  // namespace

std::size_t survey_bytes(const Shape& shape, const OnDemandSizes& sizes) {
    // Each level has a quarter of the cells of the finer one.
    return cells_at(shape, kept_level(shape, sizes)) * 2 * sizeof(float) * 4 / 3;
}

Region cells_of(const Region& region, int level, const Shape& shape) {
    const auto first = [&](int at) { return static_cast<int>(std::int64_t{at} << level); };
    const auto end = [&](int at, int size) {
        return static_cast<int>(std::min<std::int64_t>(std::int64_t{at} << level, size));
    };
    const int row = first(region.row), column = first(region.column);
    return {row, column, end(region.end_row(), shape.rows) - row,
            end(region.end_column(), shape.columns) - column};
}

void for_each_part(const Region& region, int rows, int columns,
                   const std::function<void(const Region& part)>& each) {
    for (int r = region.row; r < region.end_row(); r += rows)
        for (int c = region.column; c < region.end_column(); c += columns)
            each({r, c, std::min(rows, region.end_row() - r), std::min(columns, region.end_column() - c)});
}

void SurveyedCells::Survey::add_levels(PooledTotals totals) {
    const bool has_means = totals.sum.size() > 0;
    if (has_means) mean.push_back(totals.mean());
    while (dominant.back().size() > 1) {
        dominant.emplace_back(halved(view_of(std::as_const(dominant.back()))).head(0));
        if (!has_means) continue;
        PooledTotals of_coarser(dominant.back().rows(), dominant.back().cols());
        of_coarser.add(totals, 1);
        totals = std::move(of_coarser);
        mean.push_back(totals.mean());
    }
}

SurveyedCells::SurveyedCells(const Shape& shape, const OnDemandSizes& sizes) : shape_(shape), sizes_(sizes) {
    kept_level_ = kept_level(shape, sizes);
    for (int h = 0; h < shape.heads; ++h) heads_.push_back(std::make_unique<Head>());
}

KeptSurvey SurveyedCells::survey(int head, const Progress& progress, const std::stop_token& cancel) const {
    Head& own = of_head(head);
    const KeptSurvey made(&own, [cells = weak_from_this(), head](const void*) {
        if (const auto alive = cells.lock()) alive->let_go(head);
    });
    std::shared_ptr<const Survey> survey = surveyed(head, progress, cancel);
    const std::lock_guard lock(own.mutex);
    own.survey = std::move(survey);  // it may have been let go of meanwhile
    if (KeptSurvey kept = own.kept.lock()) return kept;
    own.kept = made;
    return made;
}

void SurveyedCells::let_go(int head) const {
    Head& own = of_head(head);
    const std::lock_guard lock(own.mutex);
    if (own.kept.expired() && !own.stays && !keeps_surveys()) own.survey.reset();
}

Matrix SurveyedCells::tile(int head, int level, Pool pool, const Region& region,
                           const std::stop_token& cancel) const {
    if (level >= kept_level_)
        if (const auto survey = known(head); survey && !(pool == Pool::mean && survey->mean.empty())) {
            const auto index = static_cast<std::size_t>(level - kept_level_);
            const std::vector<Matrix>& levels = pool == Pool::mean ? survey->mean : survey->dominant;
            return levels[std::min(index, levels.size() - 1)].block(region.row, region.column, region.rows,
                                                                    region.columns);
        }
    return tile_of(head, level, pool, region, cancel).values();
}

Matrix SurveyedCells::preview(int head, int bands, Pool pool, const std::stop_token& cancel) const {
    const int groups = pooled(shape_.columns, kept_level_);
    int further = 0;
    while (pooled(groups, further) > k_most_preview_columns) ++further;
    PooledTile out(pool, {0, 0, bands, pooled(groups, further)});
    const RowLoop loop{1, bands, k_work_per_cell * k_rows_of_band * static_cast<double>(shape_.columns),
                       cancel};
    for_row_blocks(loop, [&](RowBlock block) {
        std::vector<Region> of;
        for (Eigen::Index band = block.first; band < block.first + block.count; ++band) {
            const int rows = std::min(k_rows_of_band, shape_.rows);
            const auto middle = (2 * band + 1) * shape_.rows / (Eigen::Index{2} * bands);
            const int first = std::clamp(static_cast<int>(middle) - rows / 2, 0, shape_.rows - rows);
            of.push_back({first, 0, rows, shape_.columns});
        }
        out.add_columns(pooled_bands(head, pool, of, cancel), further, block.first);
    });
    return out.values();
}

Matrix SurveyedCells::sample(int head, int count, const std::stop_token& cancel) const {
    Head& own = of_head(head);
    {
        const std::lock_guard lock(own.mutex);
        if (own.sample.rows() == std::min(count, shape_.rows)) return own.sample;
    }
    constexpr Eigen::Index k_most_kept = 1 << 20;  // of rows of features, not of pairs
    Matrix made = made_sample(head, std::min(count, shape_.rows), cancel);
    const std::lock_guard lock(own.mutex);
    if (made.size() <= k_most_kept) own.sample = made;
    return made;
}

double SurveyedCells::row_work() const { return k_work_per_cell * static_cast<double>(shape_.columns); }

Matrix SurveyedCells::made_sample(int head, int count, const std::stop_token& cancel) const {
    Matrix out(count, shape_.columns);
    std::vector<int> rows;
    for (std::int64_t i = 0; i < count; ++i)
        rows.push_back(static_cast<int>((2 * i + 1) * shape_.rows / (2 * std::int64_t{count})));
    // Blocks of 32 rows at least, which share what they read: read_rows() is canceled meanwhile.
    const RowLoop loop{1, count, std::min(row_work(), 2 * RowLoop::k_heavy), cancel};
    for_row_blocks(loop, [&](RowBlock block) {
        read_rows(head,
                  std::span(rows).subspan(static_cast<std::size_t>(block.first),
                                          static_cast<std::size_t>(block.count)),
                  block.of(view_of(out)), cancel);
    });
    return out;
}

void SurveyedCells::read_rows(int head, std::span<const int> rows, MatrixView out,
                              const std::stop_token& cancel) const {
    for (Eigen::Index i = 0; i < out.rows(); ++i) {
        stop_if_canceled(cancel);
        read(head, {rows[static_cast<std::size_t>(i)], 0, 1, shape_.columns},
             {out.row(i).data(), 1, out.cols()});
    }
}

PooledTile SurveyedCells::pooled_bands(int head, Pool pool, std::span<const Region> bands,
                                       const std::stop_token& cancel) const {
    PooledTile tile(pool, {0, 0, static_cast<int>(bands.size()), pooled(shape_.columns, kept_level_)});
    Matrix x;
    for_each_part(Region{0, 0, 1, shape_.columns}, 1, columns_at_once(), [&](const Region& columns) {
        stop_if_canceled(cancel);
        for (Eigen::Index band = 0; band < std::ssize(bands); ++band) {
            const Region& rows = bands[static_cast<std::size_t>(band)];
            const Region part{rows.row, columns.column, rows.rows, columns.columns};
            x.resize(part.rows, part.columns);
            read(head, part, view_of(x));
            close(head, part, x);
            tile.add(view_of(std::as_const(x)), kept_level_, band, columns.column >> kept_level_);
        }
    });
    return tile;
}

SurveyedCells::PartFacts SurveyedCells::facts_of(int head, const Region& part, Matrix& x) const {
    x.resize(part.rows, part.columns);
    read(head, part, view_of(x));
    PartFacts facts{.range = range_of({x.data(), static_cast<std::size_t>(x.size())}),
                    .row_largest = {},
                    .dominant = Matrix(pooled(part.rows, kept_level_), pooled(part.columns, kept_level_)),
                    .totals = {}};
    for (Eigen::Index i = 0; i < x.rows(); ++i)
        facts.row_largest.push_back(x.row(i).maxCoeff<Eigen::PropagateNaN>());
    close(head, part, x);
    pool_dominant(view_of(std::as_const(x)), kept_level_, facts.dominant);
    facts.totals = PooledTotals(facts.dominant.rows(), facts.dominant.cols());
    facts.totals.add(view_of(std::as_const(x)), kept_level_, 0, 0);
    return facts;
}

SurveyedCells::Survey SurveyedCells::made_survey(int head, const Progress& progress,
                                                 const std::stop_token& cancel) const {
    Survey survey;
    const int rows_of_levels = pooled(shape_.rows, kept_level_),
              columns = pooled(shape_.columns, kept_level_);
    Matrix base(rows_of_levels, columns);
    PooledTotals totals = PooledTotals::uninitialized(rows_of_levels, columns);
    survey.row_largest.assign(static_cast<std::size_t>(shape_.rows), k_closed);
    std::vector<ValueRange> ranges(task_count());
    for_each_task(progress, cancel, [&](int task, const Region& rows, const PartRead& tell) {
        Matrix x;
        for_each_part(rows, rows.rows, columns_at_once(), [&](const Region& part) {
            const PartFacts facts = facts_of(head, part, x);
            ValueRange& range = ranges[static_cast<std::size_t>(task)];
            range = united(range, facts.range);
            for (Eigen::Index i = 0; i < part.rows; ++i) {
                float& largest = survey.row_largest[static_cast<std::size_t>(part.row + i)];
                const float own = facts.row_largest[static_cast<std::size_t>(i)];
                if (own > largest || std::isnan(own)) largest = own;
            }
            const int row = part.row >> kept_level_, column = part.column >> kept_level_;
            const Eigen::Index pooled_rows = facts.dominant.rows(), columns_of = facts.dominant.cols();
            base.block(row, column, pooled_rows, columns_of) = facts.dominant;
            totals.sum.block(row, column, pooled_rows, columns_of) = facts.totals.sum;
            totals.count.block(row, column, pooled_rows, columns_of) = facts.totals.count;
            tell(part);
        });
    });
    for (const ValueRange& range : ranges) survey.range = united(survey.range, range);
    survey.dominant.push_back(std::move(base));
    survey.add_levels(std::move(totals));
    return survey;
}

PooledTile SurveyedCells::made_tile(int head, int level, Pool pool, const Region& region,
                                    const std::stop_token& cancel) const {
    PooledTile tile(pool, region);
    const int side = 1 << level;
    const RowLoop loop{1, region.rows, k_work_per_cell * side * side * static_cast<double>(region.columns),
                       cancel};
    for_row_blocks(loop, [&](RowBlock block) {
        const Region rows{region.row + static_cast<int>(block.first), region.column,
                          static_cast<int>(block.count), region.columns};
        Matrix x;
        for_each_part(rows, std::max(1, k_task_rows >> level), std::max(1, columns_of_task() >> level),
                      [&](const Region& part) {
                          stop_if_canceled(cancel);
                          const Region cells = cells_of(part, level, shape_);
                          if (coverage(head, cells) == Coverage::none) return;
                          add_cells(head, cells, x, level, tile, part.row - region.row,
                                    part.column - region.column);
                      });
    });
    return tile;
}

void SurveyedCells::add_cells(int head, const Region& cells, Matrix& x, int level, PooledTile& tile,
                              Eigen::Index row, Eigen::Index column) const {
    for_each_part(cells, std::max(rows_of_tile(), 1 << level), cells.columns, [&](const Region& part) {
        x.resize(part.rows, part.columns);
        read(head, part, view_of(x));
        close(head, part, x);
        tile.add(view_of(std::as_const(x)), level, row + ((part.row - cells.row) >> level), column);
    });
}

void SurveyedCells::close(int head, const Region& region, Matrix& x) const {
    (void)head;
    (void)region;
    (void)x;
}

std::size_t SurveyedCells::task_count() const {
    return static_cast<std::size_t>((shape_.rows + task_rows() - 1) / task_rows());
}

void SurveyedCells::for_each_task(
    const Progress& progress, const std::stop_token& cancel,
    const std::function<void(int task, const Region& rows, const PartRead& tell)>& work) const {
    Counter counter(progress, Region{0, 0, shape_.rows, shape_.columns}.size());
    const PartRead tell = [&](const Region& part) {
        counter.count(part.size());
        stop_if_canceled(cancel);
    };
    const RowLoop loop{1, static_cast<Eigen::Index>(task_count()),
                       k_work_per_cell * task_rows() * static_cast<double>(shape_.columns), cancel};
    for_row_blocks(loop, [&](RowBlock block) {
        for (Eigen::Index task = block.first; task < block.first + block.count; ++task) {
            const int first = static_cast<int>(task) * task_rows();
            work(static_cast<int>(task),
                 Region{first, 0, std::min(task_rows(), shape_.rows - first), shape_.columns}, tell);
        }
    });
}

std::shared_ptr<const SurveyedCells::Survey> SurveyedCells::known(int head) const {
    Head& own = of_head(head);
    const std::lock_guard lock(own.mutex);
    return own.survey;
}

std::shared_ptr<const SurveyedCells::Survey> SurveyedCells::surveyed(int head, const Progress& progress,
                                                                     const std::stop_token& cancel) const {
    Head& own = of_head(head);
    std::unique_lock lock(own.surveying, std::defer_lock);
    while (!lock.try_lock()) {  // another thread surveys it, perhaps for many seconds
        stop_if_canceled(cancel);
        report(progress, 0);
        std::this_thread::sleep_for(k_between_tries);
    }
    if (auto survey = known(head)) return survey;
    auto survey = std::make_shared<const Survey>(made_survey(head, progress, cancel));
    const std::lock_guard keeping(own.mutex);
    own.survey = survey;
    return survey;
}

std::shared_ptr<const SurveyedCells::Survey> SurveyedCells::staying(int head) const {
    if (auto survey = known(head)) return survey;
    Head& own = of_head(head);
    auto survey = surveyed(head);
    const std::lock_guard lock(own.mutex);
    own.survey = survey;
    own.stays = true;
    return survey;
}

std::optional<ValueRange> SurveyedCells::known_range(int head) const {
    const auto survey = known(head);
    return survey ? std::optional(survey->range) : std::nullopt;
}

PooledTile SurveyedCells::tile_of(int head, int level, Pool pool, const Region& region,
                                  const std::stop_token& cancel) const {
    if (level <= kept_level_) return made_tile(head, level, pool, region, cancel);
    const Shape kept{.rows = pooled(shape_.rows, kept_level_),
                     .columns = pooled(shape_.columns, kept_level_)};
    const int by = level - kept_level_;
    const PooledTile from = made_tile(head, kept_level_, pool, cells_of(region, by, kept), cancel);
    PooledTile tile(pool, region);
    tile.add(from, by);
    return tile;
}

}  // namespace attnscope
