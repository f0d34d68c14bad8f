// Cells on demand that are read once as a whole, head by head: tiles at any level, and what a survey keeps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "core/graph/pooled_tile.h"
#include "core/graph/run_options.h"
#include "core/progress.h"
#include "core/tensor/buffer.h"

namespace attnscope {

/// A cell that the mask closes.
inline constexpr float k_closed = -std::numeric_limits<float>::infinity();
/// Rows whose cells are computed at once, and stay in the cache until they are pooled.
inline constexpr int k_task_rows = 512;
/// Rows whose cells, by as many columns as are computed at once, stay in a core's own cache.
inline constexpr int k_rows_in_cache = 128;

/// How many blocks of 2^level cells so many cells take.
inline int pooled(int size, int level) { return static_cast<int>(((std::int64_t{size} - 1) >> level) + 1); }

/// The cells of a region that is counted in cells of a level.
Region cells_of(const Region& region, int level, const Shape& shape);

/// Calls each(part) for the regions that a larger one is cut into, in order.
void for_each_part(const Region& region, int rows, int columns,
                   const std::function<void(const Region& part)>& each);

/// Tiles and surveys of cells that a derived class reads.
class SurveyedCells : public OnDemandValues, public std::enable_shared_from_this<SurveyedCells> {
public:
    SurveyedCells(const Shape& shape, const OnDemandSizes& sizes);

    const Shape& shape() const override { return shape_; }
    int first_kept_level() const override { return kept_level_; }
    bool is_surveyed(int head) const override { return known(head) != nullptr; }
    std::optional<ValueRange> known_range(int head) const override;
    ValueRange range(int head) const override { return staying(head)->range; }
    std::vector<float> row_largest(int head) const override { return staying(head)->row_largest; }

    KeptSurvey survey(int head, const Progress& progress, const std::stop_token& cancel) const override;
    Matrix tile(int head, int level, Pool pool, const Region& region,
                const std::stop_token& cancel) const override;
    Matrix preview(int head, int bands, Pool pool, const std::stop_token& cancel) const override;
    Matrix sample(int head, int count, const std::stop_token& cancel) const override;

    /// Makes the pairs that the mask closes −∞, which does not count.
    virtual void close(int head, const Region& region, Matrix& x) const;

protected:
    /// What reading all values of a head leaves.
    struct Survey {
        ValueRange range;
        std::vector<float> row_largest;
        std::vector<Matrix> dominant, mean;  ///< by level, from the first that is kept

        /// Adds the coarser levels to the first one, down to a single cell. `totals` are those of the first
        /// level; empty if means are computed on demand.
        void add_levels(PooledTotals totals);
    };

    /// A row for each band, of up to k_rows_of_band whole rows: its values pooled by 2^kept_level columns.
    /// All bands read some columns before any reads the next ones, so that keys come from the memory once.
    virtual PooledTile pooled_bands(int head, Pool pool, std::span<const Region> bands,
                                    const std::stop_token& cancel) const;

    /// What a survey finds of a part: of all its cells, and pooled to the kept level from those that are
    /// open.
    struct PartFacts {
        ValueRange range;
        std::vector<float> row_largest;
        Matrix dominant;
        PooledTotals totals;
    };
    /// `x` is memory for the cells.
    virtual PartFacts facts_of(int head, const Region& part, Matrix& x) const;

    /// See sample(). By default several threads read the rows.
    virtual Matrix made_sample(int head, int count, const std::stop_token& cancel) const;
    /// Reads rows that may lie apart. By default one after the other.
    virtual void read_rows(int head, std::span<const int> rows, MatrixView out,
                           const std::stop_token& cancel) const;
    /// Multiply-adds of a row, or the equivalent time.
    virtual double row_work() const;

    virtual Survey made_survey(int head, const Progress& progress, const std::stop_token& cancel) const;
    /// Whether surveys stay, as they are small.
    virtual bool keeps_surveys() const { return false; }
    /// The tile, computed from its cells.
    virtual PooledTile made_tile(int head, int level, Pool pool, const Region& region,
                                 const std::stop_token& cancel) const;
    /// Adds the cells of a region to a tile in whose cells it begins at (row, column); `x` is memory for
    /// them.
    virtual void add_cells(int head, const Region& cells, Matrix& x, int level, PooledTile& tile,
                           Eigen::Index row, Eigen::Index column) const;

    int task_rows() const { return std::max(k_task_rows, 1 << kept_level_); }
    int columns_at_once() const { return std::max(columns_of_task(), 1 << kept_level_); }
    /// Cells of a row that are computed at once.
    virtual int columns_of_task() const {
        constexpr int k_in_cache = 512;
        return k_in_cache;
    }
    /// Rows of which a tile computes cells at once.
    virtual int rows_of_tile() const { return k_rows_in_cache; }
    std::size_t task_count() const;
    /// Call it with each part once its cells are read: it reports progress, and throws Canceled where asked
    /// to.
    using PartRead = std::function<void(const Region& part)>;
    /// Calls work(task, its rows, tell), on several threads; the cut depends on the shape alone.
    void for_each_task(
        const Progress& progress, const std::stop_token& cancel,
        const std::function<void(int task, const Region& rows, const PartRead& tell)>& work) const;

    const Shape shape_;
    const OnDemandSizes sizes_;
    int kept_level_;

private:
    struct Head {
        std::mutex surveying;  ///< held while the head is surveyed
        std::mutex mutex;
        std::shared_ptr<const Survey> survey;
        std::weak_ptr<const void> kept;  ///< KeptSurvey of this head
        bool stays = false;              ///< even if no KeptSurvey exists
        Matrix sample;                   ///< the last one, which samples of other stages read
    };
    Head& of_head(int head) const { return *heads_.at(static_cast<std::size_t>(head)); }
    std::shared_ptr<const Survey> known(int head) const;
    std::shared_ptr<const Survey> surveyed(int head, const Progress& progress = {},
                                           const std::stop_token& cancel = {}) const;
    /// The survey that is known, or one that stays.
    std::shared_ptr<const Survey> staying(int head) const;
    void let_go(int head) const;
    /// Coarse tiles come from that of the level that a survey keeps, so that no more cells are in memory at
    /// once.
    PooledTile tile_of(int head, int level, Pool pool, const Region& region,
                       const std::stop_token& cancel) const;

    std::vector<std::unique_ptr<Head>> heads_;
};

}  // namespace attnscope
