#include "core/graph/on_demand.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <optional>

#include "core/error.h"
#include "core/graph/pooled_tile.h"
#include "core/op/op.h"

namespace attnscope {
namespace {

constexpr float k_infinity = std::numeric_limits<float>::infinity();

/// A survey pools 16 × 16 cells at least: the sums of a softmax cover so many columns at once.
constexpr int k_least_kept_level = 4;
/// Cells that are computed at once, and stay in the cache until they are pooled; on a card wider regions:
/// fewer, larger requests.
constexpr int k_task_rows = 512, k_task_columns = 512, k_task_columns_on_card = 4096;
/// Rows of a band of a preview, for which the keys are read once.
constexpr int k_rows_of_band = 4;
constexpr int k_most_preview_columns = 512;
/// Multiply-adds of a cell, for cutting the work into tasks.
constexpr double k_work_per_cell = 64;

bool grows_with_pairs(const StageInfo& info) { return is_of_pairs(info) || info.columns == Axis::key_hidden; }

int pooled(int size, int level) { return static_cast<int>(((std::int64_t{size} - 1) >> level) + 1); }

/// The cells of a region that is counted in cells of a level.
Region cells_of(const Region& region, int level, const Shape& shape) {
    const auto first = [&](int at) { return static_cast<int>(std::int64_t{at} << level); };
    const auto end = [&](int at, int size) {
        return static_cast<int>(std::min<std::int64_t>(std::int64_t{at} << level, size));
    };
    const int row = first(region.row), column = first(region.column);
    return {row, column, end(region.end_row(), shape.rows) - row,
            end(region.end_column(), shape.columns) - column};
}

/// The regions that a larger one is cut into, in order.
template <typename Each>
void for_each_part(const Region& region, int rows, int columns, const Each& each) {
    for (int r = region.row; r < region.end_row(); r += rows)
        for (int c = region.column; c < region.end_column(); c += columns)
            each(Region{r, c, std::min(rows, region.end_row() - r),
                        std::min(columns, region.end_column() - c)});
}

/// What reading all values of a head leaves.
struct Survey {
    ValueRange range;
    std::vector<float> row_largest;
    std::vector<Matrix> dominant, mean;  ///< by level, from the first that is kept

    /// Adds the coarser levels to the first one, down to a single cell.
    /// `totals` are those of the first level; empty if means are computed on demand.
    void add_levels(PooledTotals totals) {
        const bool has_means = totals.sum.size() > 0;
        if (has_means) mean.push_back(totals.mean());
        while (dominant.back().size() > 1) {
            const Matrix& finer = dominant.back();
            const Eigen::Index rows = (finer.rows() + 1) / 2, columns = (finer.cols() + 1) / 2;
            Matrix coarser(rows, columns);
            pool_dominant(view_of(finer), 1, coarser);
            dominant.push_back(std::move(coarser));
            if (!has_means) continue;
            PooledTotals of_coarser(rows, columns);
            of_coarser.add(totals, 1);
            totals = std::move(of_coarser);
            mean.push_back(totals.mean());
        }
    }
};

/// Reports how many of the tasks of a survey are done, from whichever thread ends one.
class Counter {
public:
    Counter(Progress progress, std::size_t tasks) : progress_(std::move(progress)), tasks_(tasks) {}
    void count() {
        const std::lock_guard lock(mutex_);
        report(progress_, static_cast<double>(++done_) / static_cast<double>(tasks_));
    }

private:
    const Progress progress_;
    const std::size_t tasks_;
    std::mutex mutex_;
    std::size_t done_ = 0;
};

/// Tiles and surveys of cells that a derived class reads.
class Cells : public OnDemandValues, public std::enable_shared_from_this<Cells> {
public:
    Cells(const Shape& shape, const OnDemandSizes& sizes) : shape_(shape), sizes_(sizes) {
        kept_level_ = k_least_kept_level;
        const auto cells = [&] {
            return static_cast<std::size_t>(pooled(shape.rows, kept_level_)) *
                   static_cast<std::size_t>(pooled(shape.columns, kept_level_));
        };
        while (cells() > sizes.kept_cells) ++kept_level_;
        for (int h = 0; h < shape.heads; ++h) heads_.push_back(std::make_unique<Head>());
    }

    const Shape& shape() const override { return shape_; }
    int first_kept_level() const override { return kept_level_; }
    bool is_surveyed(int head) const override { return known(head) != nullptr; }
    ValueRange range(int head) const override { return surveyed(head)->range; }
    std::vector<float> row_largest(int head) const override { return surveyed(head)->row_largest; }

    void survey(int head, const Progress& progress, const std::stop_token& cancel) const override {
        surveyed(head, progress, cancel);
    }

    void forget_survey(int head) const override {
        Head& own = of_head(head);
        const std::lock_guard lock(own.mutex);
        own.survey.reset();
    }

    Matrix tile(int head, int level, Pool pool, const Region& region,
                const std::stop_token& cancel) const override {
        if (level >= kept_level_)
            if (const auto survey = known(head); survey && !(pool == Pool::mean && survey->mean.empty())) {
                const auto index = static_cast<std::size_t>(level - kept_level_);
                const std::vector<Matrix>& levels = pool == Pool::mean ? survey->mean : survey->dominant;
                return levels[std::min(index, levels.size() - 1)].block(region.row, region.column,
                                                                        region.rows, region.columns);
            }
        return tile_of(head, level, pool, region, cancel).values();
    }

    Matrix preview(int head, int bands, const std::stop_token& cancel) const override {
        Matrix out(bands, pooled(shape_.columns, kept_level_));
        const RowLoop loop{1, bands, k_work_per_cell * k_rows_of_band * static_cast<double>(shape_.columns),
                           cancel};
        for_row_blocks(loop, [&](RowBlock block) {
            for (Eigen::Index band = block.first; band < block.first + block.count; ++band) {
                stop_if_canceled(cancel);
                const int rows = std::min(k_rows_of_band, shape_.rows);
                const auto middle = (2 * band + 1) * shape_.rows / (Eigen::Index{2} * bands);
                const int first = std::clamp(static_cast<int>(middle) - rows / 2, 0, shape_.rows - rows);
                out.row(band) = strongest_groups(head, {first, 0, rows, shape_.columns});
            }
        });
        int further = 0;
        while (pooled(static_cast<int>(out.cols()), further) > k_most_preview_columns) ++further;
        Matrix narrow = Matrix::Constant(bands, pooled(static_cast<int>(out.cols()), further), -k_infinity);
        for (Eigen::Index band = 0; band < bands; ++band)
            pool_dominant({out.row(band).data(), 1, out.cols()}, further, narrow.middleRows(band, 1));
        return narrow;
    }

    Matrix sample(int head, int count, const std::stop_token& cancel) const override {
        Matrix out(std::min(count, shape_.rows), shape_.columns);
        const RowLoop loop{1, out.rows(), k_work_per_cell * static_cast<double>(shape_.rows), cancel};
        for_row_blocks(loop, [&](RowBlock block) {
            for (Eigen::Index i = block.first; i < block.first + block.count; ++i) {
                stop_if_canceled(cancel);
                const auto middle = static_cast<int>((2 * i + 1) * shape_.rows / (2 * out.rows()));
                read(head, {middle, 0, 1, shape_.columns}, {out.row(i).data(), 1, out.cols()});
            }
        });
        return out;
    }

protected:
    /// The strongest value in each 2^kept_level columns of some rows.
    virtual Eigen::RowVectorXf strongest_groups(int head, const Region& rows) const {
        Matrix groups(1, pooled(shape_.columns, kept_level_)), x;
        for_each_part(rows, rows.rows, columns_at_once(), [&](const Region& part) {
            x.resize(part.rows, part.columns);
            read(head, part, view_of(x));
            close(head, part, x);
            pool_dominant(view_of(std::as_const(x)), kept_level_,
                          groups.middleCols(part.column >> kept_level_, pooled(part.columns, kept_level_)));
        });
        return groups;
    }

    /// What a survey finds of a part: of all its cells, and pooled to the kept level from those that are
    /// open.
    struct PartFacts {
        ValueRange range;
        std::vector<float> row_largest;
        Matrix dominant;
        PooledTotals totals;
    };
    /// `x` is memory for the cells.
    virtual PartFacts facts_of(int head, const Region& part, Matrix& x) const {
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

    virtual Survey made_survey(int head, const Progress& progress, const std::stop_token& cancel) const {
        Survey survey;
        const int levels_rows = pooled(shape_.rows, kept_level_),
                  columns = pooled(shape_.columns, kept_level_);
        Matrix base(levels_rows, columns);
        PooledTotals totals(levels_rows, columns);
        survey.row_largest.assign(static_cast<std::size_t>(shape_.rows), -k_infinity);
        std::vector<ValueRange> ranges(task_count());
        for_each_task(progress, cancel, [&](int task, const Region& rows) {
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
            });
        });
        for (const ValueRange& range : ranges) survey.range = united(survey.range, range);
        survey.dominant.push_back(std::move(base));
        survey.add_levels(std::move(totals));
        return survey;
    }

    /// The tile, computed from its cells.
    virtual PooledTile made_tile(int head, int level, Pool pool, const Region& region,
                                 const std::stop_token& cancel) const {
        PooledTile tile(pool, region);
        const int side = 1 << level;
        const RowLoop loop{1, region.rows,
                           k_work_per_cell * side * side * static_cast<double>(region.columns), cancel};
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

    /// Adds the cells of a region to a tile in whose cells it begins at (row, column); `x` is memory for
    /// them.
    virtual void add_cells(int head, const Region& cells, Matrix& x, int level, PooledTile& tile,
                           Eigen::Index row, Eigen::Index column) const {
        x.resize(cells.rows, cells.columns);
        read(head, cells, view_of(x));
        close(head, cells, x);
        tile.add(view_of(std::as_const(x)), level, row, column);
    }

public:
    /// Makes the pairs that the mask closes −∞, which does not count.
    virtual void close(int head, const Region& region, Matrix& x) const {
        (void)head;
        (void)region;
        (void)x;
    }

protected:
    int task_rows() const { return std::max(k_task_rows, 1 << kept_level_); }
    int columns_at_once() const { return std::max(columns_of_task(), 1 << kept_level_); }
    /// Cells of a row that are computed at once.
    virtual int columns_of_task() const { return k_task_columns; }
    std::size_t task_count() const {
        return static_cast<std::size_t>((shape_.rows + task_rows() - 1) / task_rows());
    }
    /// Calls work(task, its rows), on several threads; the cut depends on the shape alone.
    template <typename Work>
    void for_each_task(const Progress& progress, const std::stop_token& cancel, const Work& work) const {
        Counter counter(progress, task_count());
        const RowLoop loop{1, static_cast<Eigen::Index>(task_count()),
                           k_work_per_cell * task_rows() * static_cast<double>(shape_.columns), cancel};
        for_row_blocks(loop, [&](RowBlock block) {
            for (Eigen::Index task = block.first; task < block.first + block.count; ++task) {
                stop_if_canceled(cancel);
                const int first = static_cast<int>(task) * task_rows();
                work(static_cast<int>(task),
                     Region{first, 0, std::min(task_rows(), shape_.rows - first), shape_.columns});
                counter.count();
            }
        });
    }

    const Shape shape_;
    const OnDemandSizes sizes_;
    int kept_level_;

private:
    struct Head {
        std::mutex surveying;  ///< held while the head is surveyed
        std::mutex mutex;
        std::shared_ptr<const Survey> survey;
    };
    Head& of_head(int head) const { return *heads_.at(static_cast<std::size_t>(head)); }
    std::shared_ptr<const Survey> known(int head) const {
        Head& own = of_head(head);
        const std::lock_guard lock(own.mutex);
        return own.survey;
    }
    std::shared_ptr<const Survey> surveyed(int head, const Progress& progress = {},
                                           const std::stop_token& cancel = {}) const {
        Head& own = of_head(head);
        const std::lock_guard lock(own.surveying);
        if (auto survey = known(head)) return survey;
        auto survey = std::make_shared<const Survey>(made_survey(head, progress, cancel));
        const std::lock_guard keeping(own.mutex);
        own.survey = survey;
        return survey;
    }

    /// Coarse tiles come from that of the level that a survey keeps, so that no more cells are in memory at
    /// once.
    PooledTile tile_of(int head, int level, Pool pool, const Region& region,
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

    std::vector<std::unique_ptr<Head>> heads_;
};

/// The mean over the heads of other values, as Buffer::mean().
class MeanCells : public Cells {
public:
    MeanCells(std::shared_ptr<const Cells> of, const OnDemandSizes& sizes)
        : Cells({.heads = 1, .rows = of->shape().rows, .columns = of->shape().columns}, sizes),
          of_(std::move(of)) {}

    void read(int, const Region& region, MatrixView out) const override {
        Matrix one(region.rows, region.columns);
        Eigen::ArrayXXd sum = Eigen::ArrayXXd::Zero(region.rows, region.columns);
        for (int h = 0; h < of_->shape().heads; ++h) {
            of_->read(h, region, view_of(one));
            sum += one.array().cast<double>();
        }
        out = (sum / of_->shape().heads).cast<float>();
    }
    Coverage coverage(int, const Region& region) const override { return of_->coverage(0, region); }
    bool reads_columns(int) const override {
        for (int h = 0; h < of_->shape().heads; ++h)
            if (!of_->reads_columns(h)) return false;
        return true;
    }
    std::shared_ptr<const OnDemandValues> mean() const override { return shared_from_this(); }

protected:
    void close(int, const Region& region, Matrix& x) const override { of_->close(0, region, x); }

private:
    const std::shared_ptr<const Cells> of_;
};

/// The cells of a stage.
class StageCells : public Cells {
public:
    StageCells(std::shared_ptr<const Op> op, std::vector<StagePtr> inputs, const Shape& shape, StagePtr mask,
               const OnDemandSizes& sizes, std::shared_ptr<RegionBackend> card)
        : Cells(shape, sizes),
          op_(std::move(op)),
          inputs_(std::move(inputs)),
          mask_(std::move(mask)),
          card_(std::move(card)) {
        for (const StagePtr& input : inputs_) buffers_.push_back(&input->buffer);
        if (!is_on_card() || (mask_ && !has_card(mask_->buffer))) card_ = nullptr;
    }

    using CardValues = std::shared_ptr<const DeviceValues>;

    /// The region on the card, 1 × rows × columns; nullptr if the CPU has to compute it. Throws as
    /// RegionBackend.
    CardValues on_card(int head, const Region& region) const {
        if (std::holds_alternative<op::MaskedFill>(*op_)) {
            const Buffer& mask = *buffers_[1];
            if (mask.coverage(std::min(head, mask.shape().heads - 1), region) == Coverage::all)
                return cells_of_input(0).on_card(head, region);
        }
        std::vector<Buffer> parts;
        std::vector<const Buffer*> inputs = buffers_;
        parts.reserve(inputs.size());
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            if (!buffers_[i]->on_demand()) continue;
            const CardValues part =
                cells_of_input(i).on_card(std::min(head, buffers_[i]->shape().heads - 1), region);
            if (!part) return nullptr;
            inputs[i] = &parts.emplace_back(part);
        }
        const std::vector<RowSum> rows = sums_of_rows(head, region);
        return card_->region(*op_, {inputs, head, region, rows});
    }

    void read(int head, const Region& region, MatrixView out) const override {
        if (!read_on_card(head, region, out)) cells(*op_, {buffers_, head, region}, out);
    }
    Coverage coverage(int head, const Region& region) const override {
        if (!mask_) return Coverage::all;
        return mask_->buffer.coverage(std::min(head, mask_->shape().heads - 1), region);
    }
    bool reads_columns(int) const override {
        return !std::holds_alternative<op::WeightedSum>(*op_) && std::ranges::all_of(buffers_, reads_them);
    }
    std::shared_ptr<const OnDemandValues> mean() const override {
        if (shape().heads == 1) return shared_from_this();
        return std::make_shared<const MeanCells>(shared_from_this(), sizes_);
    }

protected:
    /// What a softmax divides the region's rows by.
    virtual std::vector<RowSum> sums_of_rows(int, const Region&) const { return {}; }

    /// Whether `work` was done on the card; if not, the CPU has to do it.
    template <typename Work>
    bool done_on_card(const Region& region, const Work& work) const {
        // A row is here at once, and does not wait for regions of a survey.
        if (!card_ || region.rows == 1 || region.size() < sizes_.least_cells_on_card) return false;
        try {
            return work();
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::backend && error.kind() != ErrorKind::too_large) throw;
            return false;
        }
    }

    bool read_on_card(int head, const Region& region, MatrixView out) const {
        return done_on_card(region, [&] {
            const CardValues values = on_card(head, region);
            if (values) values->read(0, 0, region.rows, out.data());
            return values != nullptr;
        });
    }

    /// Without the pairs that the mask closes, which are −∞.
    CardValues closed_on_card(int head, const Region& region, const CardValues& values) const {
        if (!mask_ || coverage(head, region) == Coverage::all || std::holds_alternative<op::MaskedFill>(*op_))
            return values;
        const auto& mask = dynamic_cast<const StageCells&>(*mask_->buffer.on_demand());
        const CardValues open = mask.on_card(std::min(head, mask.shape().heads - 1), region);
        if (!values || !open) return nullptr;
        const Buffer of_values(values), of_mask(open);
        const std::array<const Buffer*, 2> inputs{&of_values, &of_mask};
        return card_->region(Op{op::MaskedFill{}}, {inputs, 0, region});
    }

    PooledTotals totals_on_card(const DeviceValues& open, int level) const {
        PooledTotals totals;
        totals.sum = card_->blocks(open, BlockFact::sum, 1 << level, 1 << level);
        totals.count = card_->blocks(open, BlockFact::count, 1 << level, 1 << level);
        return totals;
    }

    PartFacts facts_of(int head, const Region& part, Matrix& x) const override {
        PartFacts facts;
        const bool done = done_on_card(part, [&] {
            const CardValues values = on_card(head, part);
            if (!values) return false;
            const CardValues open = closed_on_card(head, part, values);
            if (!open) return false;
            facts.range = values->range(0);
            facts.row_largest = values->row_largest(0);
            facts.dominant = card_->blocks(*open, BlockFact::dominant, 1 << kept_level_, 1 << kept_level_);
            facts.totals = totals_on_card(*open, kept_level_);
            return true;
        });
        return done ? facts : Cells::facts_of(head, part, x);
    }

    void add_cells(int head, const Region& cells, Matrix& x, int level, PooledTile& tile, Eigen::Index row,
                   Eigen::Index column) const override {
        if (!add_cells_on_card(head, cells, level, tile, row, column))
            Cells::add_cells(head, cells, x, level, tile, row, column);
    }

    bool add_cells_on_card(int head, const Region& cells, int level, PooledTile& tile, Eigen::Index row,
                           Eigen::Index column) const {
        return done_on_card(cells, [&] {
            const CardValues values = on_card(head, cells);
            const CardValues open = values ? closed_on_card(head, cells, values) : nullptr;
            if (!open) return false;
            const Eigen::Index rows = pooled(cells.rows, level), columns = pooled(cells.columns, level);
            if (tile.pool == Pool::mean) {
                const PooledTotals totals = totals_on_card(*open, level);
                tile.totals.sum.block(row, column, rows, columns) = totals.sum;
                tile.totals.count.block(row, column, rows, columns) = totals.count;
            } else {
                tile.dominant.block(row, column, rows, columns) =
                    card_->blocks(*open, BlockFact::dominant, 1 << level, 1 << level);
            }
            return true;
        });
    }

    int columns_of_task() const override { return card_ ? k_task_columns_on_card : k_task_columns; }

    void close(int head, const Region& region, Matrix& x) const override {
        if (!mask_) return;
        const Coverage open = coverage(head, region);
        if (open == Coverage::all || std::holds_alternative<op::MaskedFill>(*op_)) return;
        if (open == Coverage::none) {
            x.setConstant(-k_infinity);
            return;
        }
        Matrix mask(x.rows(), x.cols());
        mask_->buffer.read(std::min(head, mask_->shape().heads - 1), region, view_of(mask));
        mask_rows(view_of(std::as_const(x)), view_of(std::as_const(mask)), view_of(x));
    }

    static bool reads_them(const Buffer* buffer) {
        for (int h = 0; buffer->on_demand() && h < buffer->shape().heads; ++h)
            if (!buffer->on_demand()->reads_columns(h)) return false;
        return true;
    }

    const std::shared_ptr<const Op> op_;
    const std::vector<StagePtr> inputs_;
    std::vector<const Buffer*> buffers_;
    const StagePtr mask_;
    std::shared_ptr<RegionBackend> card_;  ///< nullptr: the CPU computes every cell

private:
    const StageCells& cells_of_input(std::size_t i) const {
        return dynamic_cast<const StageCells&>(*buffers_[i]->on_demand());
    }
    /// Whether the card can compute the cells: the operation, and those of all inputs on demand. An input of
    /// pairs that is in memory, a custom matrix, stays there.
    bool is_on_card() const {
        return card_ && card_->computes(*op_) && std::ranges::all_of(inputs_, [](const StagePtr& input) {
                   return input->buffer.on_demand() ? has_card(input->buffer)
                                                    : !grows_with_pairs(*input->info);
               });
    }
    static bool has_card(const Buffer& buffer) {
        const auto* cells = dynamic_cast<const StageCells*>(buffer.on_demand());
        return cells && cells->card_;
    }
};

/// A mask without local windows: where a rule decides a whole region, no pair of it is evaluated.
class MaskCells : public StageCells {
public:
    using StageCells::StageCells;

    Coverage coverage(int, const Region& region) const override { return mask().coverage(region); }

protected:
    Survey made_survey(int head, const Progress&, const std::stop_token& cancel) const override {
        Survey survey;
        const Region all{0, 0, shape_.rows, shape_.columns};
        const std::size_t open = mask().count_open(all);
        survey.range = {.min = open < all.size() ? 0.0F : 1.0F,
                        .max = open > 0 ? 1.0F : 0.0F,
                        .finite = all.size(),
                        .zero = all.size() - open};
        for (int i = 0; i < shape_.rows; ++i)
            survey.row_largest.push_back(mask().any_open({i, 0, 1, shape_.columns}) ? 1.0F : 0.0F);
        const Region kept{0, 0, pooled(shape_.rows, kept_level_), pooled(shape_.columns, kept_level_)};
        survey.dominant.push_back(made_tile(head, kept_level_, Pool::dominant, kept, cancel).dominant);
        survey.add_levels({});
        return survey;
    }

    PooledTile made_tile(int, int level, Pool pool, const Region& region,
                         const std::stop_token& cancel) const override {
        PooledTile tile(pool, region);
        for (int r = 0; r < region.rows; ++r) {
            stop_if_canceled(cancel);
            for (int c = 0; c < region.columns; ++c) {
                const Region block = cells_of({region.row + r, region.column + c, 1, 1}, level, shape_);
                if (pool == Pool::dominant) {
                    tile.dominant(r, c) = mask().any_open(block) ? 1.0F : 0.0F;
                    continue;
                }
                tile.totals.sum(r, c) = static_cast<float>(mask().count_open(block));
                tile.totals.count(r, c) = static_cast<float>(block.size());
            }
        }
        return tile;
    }

private:
    const op::Mask& mask() const { return std::get<op::Mask>(*op_); }
};

/// The weights of a softmax over the keys. A row's sum is found when a part of the row is read first, or for
/// all rows by the survey, which sees each score once.
class SoftmaxStageCells : public StageCells {
public:
    SoftmaxStageCells(std::shared_ptr<const Op> op, std::vector<StagePtr> inputs, const Shape& shape,
                      StagePtr mask, const OnDemandSizes& sizes, std::shared_ptr<RegionBackend> card)
        : StageCells(std::move(op), std::move(inputs), shape, std::move(mask), sizes, std::move(card)),
          sums_(static_cast<std::size_t>(shape.heads)) {}

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
            return Cells::add_cells(head, cells, x, level, tile, row, column);
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
        return (open.row(0).array() > 0).select(groups, -k_infinity);
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
                const bool closed = sum.largest == -k_infinity;
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
                    if (totals.count(p, c) == 0) base(p, c) = -k_infinity;
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
        largest = Matrix::Constant(of.rows, groups, -k_infinity);
        parts = Matrix::Zero(of.rows, groups);
        if (open) *open = Matrix::Zero(pooled(of.rows, kept_level_), groups);
        std::ranges::fill(smallest, k_infinity);
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
            if (sum.largest == -k_infinity) continue;
            if (!std::isfinite(sum.largest)) {  // the open cells are NaN
                const auto unknown =
                    Eigen::RowVectorXf::Constant(groups, std::numeric_limits<float>::quiet_NaN());
                largest.row(i) = (largest.row(i).array() == -k_infinity).select(0.0F, unknown);
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
                    open(i >> kept_level_, j >> kept_level_) += x(i, j) != -k_infinity;
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

std::vector<bool> on_demand_values(const Graph& graph, const OnDemandSizes& sizes) {
    std::vector<bool> on_demand;
    for (const GraphValue& value : graph.values) {
        const GraphNode& node = graph.nodes[static_cast<std::size_t>(value.node)];
        const bool is_large = grows_with_pairs(*value.key.stage) &&
                              value.shape.head_size() > sizes.most_cells &&
                              !std::holds_alternative<op::Custom>(*node.op);
        const bool reads_one = std::ranges::any_of(
            node.inputs, [&](int input) { return on_demand[static_cast<std::size_t>(input)]; });
        on_demand.push_back(is_large || reads_one);
        // A mask with local windows is evaluated pair by pair.
        const bool has_windows = std::holds_alternative<op::Mask>(*node.op) && !node.inputs.empty();
        if (on_demand.back() && (has_windows || !has_cells(*node.op)))
            throw Error(
                ErrorKind::too_large,
                fmt::format(
                    "{} takes all pairs of {} × {} tokens at once, and up to {} pairs are supported: "
                    "shorten the text, or use a dot, general, cosine or rbf score and normalizer softmax "
                    "over the keys, without dropout, a block or mean ablation",
                    stage_name(value.key), graph.rows.size(),
                    graph.columns.empty() ? graph.rows.size() : graph.columns.size(), sizes.most_cells));
    }
    return on_demand;
}

std::shared_ptr<const OnDemandValues> compute_on_demand(std::shared_ptr<const Op> op,
                                                        std::vector<StagePtr> inputs, StagePtr mask,
                                                        const OnDemandSizes& sizes,
                                                        std::shared_ptr<RegionBackend> card) {
    std::vector<Shape> read;
    for (const StagePtr& input : inputs) read.push_back(input->shape());
    const Shape shape = shapes(*op, read).front();
    const auto made = [&]<typename Kind>(std::type_identity<Kind>) {
        return std::make_shared<const Kind>(std::move(op), std::move(inputs), shape, std::move(mask), sizes,
                                            std::move(card));
    };
    if (std::holds_alternative<op::Mask>(*op)) return made(std::type_identity<MaskCells>{});
    if (std::holds_alternative<op::Softmax>(*op)) return made(std::type_identity<SoftmaxStageCells>{});
    return made(std::type_identity<StageCells>{});
}

}  // namespace attnscope
