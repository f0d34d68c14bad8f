// The cells of a stage on demand: computed by its operation from its inputs, on the CPU or the card.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "core/graph/backend.h"
#include "core/graph/run_options.h"
#include "core/graph/surveyed_cells.h"
#include "core/graph/trace.h"
#include "core/op/op.h"

namespace attnscope {

/// What cells on demand are computed from, as in compute_on_demand() (core/graph/on_demand.h).
struct StageParts {
    std::shared_ptr<const Op> op;
    std::vector<StagePtr> inputs;
    Shape shape;  ///< of the stage
    StagePtr mask;
    OnDemandSizes sizes;
    std::shared_ptr<RegionBackend> card;
};

/// Whether a stage has a cell for each pair, or for each pair and hidden unit.
inline bool grows_with_pairs(const StageInfo& info) {
    return is_of_pairs(info) || info.columns == Axis::key_hidden;
}

/// The cells of an operation's result. Where the card can compute the operation, and what it reads on demand,
/// large regions are computed and pooled there; where that fails, on the CPU.
class StageCells : public SurveyedCells {
public:
    using CardValues = std::shared_ptr<const DeviceValues>;

    explicit StageCells(StageParts parts);

    /// The region on the card, 1 × rows × columns; nullptr if the CPU has to compute it. Throws as
    /// RegionBackend.
    CardValues on_card(int head, const Region& region) const;

    void read(int head, const Region& region, MatrixView out) const override;
    Coverage coverage(int head, const Region& region) const override;
    bool reads_columns(int) const override;
    std::shared_ptr<const OnDemandValues> mean() const override;
    void close(int head, const Region& region, Matrix& x) const override;

    /// Finds what a softmax divides rows by, which may lie apart, and keeps it.
    virtual void find_sums(int, std::span<const int>, const std::stop_token&) const {}

protected:
    /// What a softmax divides the region's rows by.
    virtual std::vector<RowSum> sums_of_rows(int, const Region&) const { return {}; }

    /// Whether `work` was done on the card; if not, the CPU has to do it.
    bool done_on_card(const Region& region, const std::function<bool()>& work) const;
    /// The mask's cells; only with a mask.
    Matrix mask_of(int head, const Region& region) const;
    bool read_on_card(int head, const Region& region, MatrixView out) const;
    /// Without the pairs that the mask closes, which are −∞.
    CardValues closed_on_card(int head, const Region& region, const CardValues& values) const;
    PooledTotals totals_on_card(const DeviceValues& open, int level) const;
    PartFacts facts_of(int head, const Region& part, Matrix& x) const override;
    void add_cells(int head, const Region& cells, Matrix& x, int level, PooledTile& tile, Eigen::Index row,
                   Eigen::Index column) const override;
    bool add_cells_on_card(int head, const Region& cells, int level, PooledTile& tile, Eigen::Index row,
                           Eigen::Index column) const;
    int columns_of_task() const override;
    Matrix made_sample(int head, int count, const std::stop_token& cancel) const override;
    static bool reads_them(const Buffer* buffer);

    const std::shared_ptr<const Op> op_;
    const std::vector<StagePtr> inputs_;
    std::vector<const Buffer*> buffers_;
    const StagePtr mask_;
    std::shared_ptr<RegionBackend> card_;  ///< nullptr: the CPU computes every cell

private:
    const StageCells& cells_of_input(std::size_t i) const;
    /// Whether the card can compute the cells: the operation, and those of all inputs on demand. An input of
    /// pairs that is in memory, a custom matrix, stays there.
    bool is_on_card() const;
    static bool has_card(const Buffer& buffer);
};

}  // namespace attnscope
