#include "core/graph/mask_cells.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/cpu/row_blocks.h"

namespace attnscope {
namespace {

/// Blocks that a survey of a mask keeps, at most: rules tell what finer ones hold.
constexpr std::size_t k_kept_blocks = std::size_t{1} << 20;

StageParts keeping_few(StageParts parts) {
    parts.sizes.kept_cells = std::min(parts.sizes.kept_cells, k_kept_blocks);
    return parts;
}

/// A mask without local windows: where a rule decides a whole region, no pair of it is evaluated.
class MaskCells : public StageCells {
public:
    explicit MaskCells(StageParts parts) : StageCells(keeping_few(std::move(parts))) {}

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
        const Coverage covered = coverage(head, all);
        for (int i = 0; i < shape_.rows; ++i) {
            const bool any = covered == Coverage::all || mask().any_open({i, 0, 1, shape_.columns});
            survey.row_largest.push_back(any ? 1.0F : 0.0F);
        }
        const Region kept{0, 0, pooled(shape_.rows, kept_level_), pooled(shape_.columns, kept_level_)};
        survey.dominant.push_back(made_tile(head, kept_level_, Pool::dominant, kept, cancel).dominant);
        survey.add_levels({});
        return survey;
    }

    bool keeps_surveys() const override { return true; }

    PooledTile made_tile(int head, int level, Pool pool, const Region& region,
                         const std::stop_token& cancel) const override {
        PooledTile tile(pool, region);
        if (pool == Pool::dominant && coverage(head, cells_of(region, level, shape_)) == Coverage::all) {
            tile.dominant.setOnes();
            return tile;
        }
        constexpr double k_work_per_block = 16;
        const RowLoop loop{1, region.rows, k_work_per_block * region.columns, cancel};
        for_row_blocks(loop, [&](RowBlock rows) {
            for (Eigen::Index r = rows.first; r < rows.first + rows.count; ++r) {
                stop_if_canceled(cancel);
                for (int c = 0; c < region.columns; ++c)
                    pool_block(
                        cells_of({region.row + static_cast<int>(r), region.column + c, 1, 1}, level, shape_),
                        tile, r, c);
            }
        });
        return tile;
    }

private:
    void pool_block(const Region& cells, PooledTile& tile, Eigen::Index row, Eigen::Index column) const {
        if (tile.pool == Pool::dominant) {
            tile.dominant(row, column) = mask().any_open(cells) ? 1.0F : 0.0F;
            return;
        }
        tile.totals.sum(row, column) = static_cast<float>(mask().count_open(cells));
        tile.totals.count(row, column) = static_cast<float>(cells.size());
    }

    const op::Mask& mask() const { return std::get<op::Mask>(*op_); }
};

}  // namespace

std::shared_ptr<const OnDemandValues> mask_cells(StageParts parts) {
    return std::make_shared<const MaskCells>(std::move(parts));
}

}  // namespace attnscope
