#include "core/graph/mask_cells.h"

#include <utility>

namespace attnscope {
namespace {

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

}  // namespace

std::shared_ptr<const OnDemandValues> mask_cells(StageParts parts) {
    return std::make_shared<const MaskCells>(std::move(parts));
}

}  // namespace attnscope
