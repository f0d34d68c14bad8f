// A matrix to draw as a heatmap, and its pooled cells, each of which stands for many.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "core/tensor/buffer.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// How far rows and columns are pooled: a drawn cell stands for 2^rows × 2^columns cells of the drawn matrix.
struct Pooling {
    int rows = 0;
    int columns = 0;
    bool operator==(const Pooling&) const = default;
};

/// A matrix to draw, and the pooled copies available.
struct HeatmapSource {
    /// Level 0 is the matrix, rows × columns; level l, if present, has one cell per 2^l × 2^l block, as
    /// computed by Buffer::pooled. nullopt: not known yet.
    using Levels = std::function<std::optional<ConstMatrixView>(int level)>;

    int rows = 0;
    int columns = 0;
    Levels values;
    Levels open;  ///< the mask, of the same shapes: a block of zeros is closed and hatched; empty: all open
    /// The block's cells, as pooled_cells() gives them, of values that are computed on demand: nullopt until
    /// they are. Empty: there are `values`.
    std::function<std::optional<std::vector<float>>(Pooling, Region)> made = {};
    bool is_over_another = false;  ///< what is not known yet shows what was drawn below, not a plain surface
    int levels = 1;                ///< levels that both have; others are pooled on demand
    bool transposed = false;       ///< drawn as columns × rows

    /// The values and mask of one head on a graphics card; nullptr if they are not there.
    struct OnCard {
        std::shared_ptr<const DeviceValues> values;
        int head = 0;
    };
    OnCard card_values, card_open;
    ValueRange card_range;  ///< of card_values

    /// Equal values have equal keys: unique within `owner` (head, which mask), or globally by content without
    /// one.
    std::uint64_t key = 0;
    /// The owner of the values. A texture is never reused for another owner, even one at the same address.
    std::shared_ptr<const void> owner;
    std::shared_ptr<const void> mask_owner;  ///< the owner of `open`

    /// A matrix that outlives the frame.
    static HeatmapSource of(ConstMatrixView values, std::uint64_t key);

    int drawn_rows() const { return transposed ? columns : rows; }
    int drawn_columns() const { return transposed ? rows : columns; }
};

/// The least pooling for which cells of a matrix drawn at `width` × `height` pixels are at least one pixel.
Pooling pooling_for(double width, double height);

inline constexpr int k_tile_size = 256;  ///< cells along a side

/// The value of a pooled cell in which the mask closes all cells of the block.
inline constexpr float k_closed_cell = -std::numeric_limits<float>::max();

/// The cells of a block of the drawn (pooled) matrix, row by row: NaN if any of its open cells is NaN, else
/// +∞ if any is, else the value of largest magnitude (the positive one of two), else −∞; k_closed_cell if
/// none is open. nullopt if the level that they are pooled from is not known yet.
std::optional<std::vector<float>> pooled_cells(const HeatmapSource& source, Pooling pooling, Region range);

/// The cells covered by tile (tile_row, tile_column).
Region tile_range(const HeatmapSource& source, Pooling pooling, int tile_row, int tile_column);

/// The number of rows or columns after pooling by 2^`level`; the last block may be partial.
int pooled_size(int size, int level);

}  // namespace attnscope
