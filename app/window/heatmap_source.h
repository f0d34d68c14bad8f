// A matrix to draw as a heatmap, and its cells where a drawn one stands for many.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "core/attention/buffer.h"
#include "core/attention/tensor.h"

namespace attnscope {

/// A matrix to draw, and where its smaller copies come from.
struct HeatmapSource {
    /// Level 0 is the matrix, rows × columns; level l, if there is one, has each 2^l × 2^l block as one cell,
    /// as Buffer::pooled gives it.
    using Levels = std::function<ConstMatrixView(int level)>;

    int rows = 0;
    int columns = 0;
    Levels values;
    Levels open;     ///< the mask, of the same shapes: a block of zeros is closed and hatched; none: all open
    int levels = 1;  ///< how many levels both have; what is missing is pooled here
    bool transposed = false;  ///< drawn as columns × rows

    /// The same on a graphics card, of one head; nullptr if they do not lie there.
    struct OnCard {
        std::shared_ptr<const DeviceValues> values;
        int head = 0;
    };
    OnCard card_values, card_open;
    ValueRange card_range;  ///< of card_values

    /// Same values, same key: with `owner` unique to the owner (head, which mask), without it to the content.
    std::uint64_t key = 0;
    /// What the values live in. A texture is never taken for those of another owner, even one at the same
    /// address.
    std::shared_ptr<const void> owner;
    std::shared_ptr<const void> mask_owner;  ///< the same of `open`

    /// A matrix that outlives the frame.
    static HeatmapSource of(ConstMatrixView values, std::uint64_t key);

    int drawn_rows() const { return transposed ? columns : rows; }
    int drawn_columns() const { return transposed ? rows : columns; }
};

/// How far rows and columns are pooled: a drawn cell stands for 2^rows × 2^columns of the matrix, as drawn.
struct Pooling {
    int rows = 0;
    int columns = 0;
    bool operator==(const Pooling&) const = default;
};

/// The least pooling with cells of at least one pixel, if one of the matrix has `width` × `height`.
Pooling pooling_for(double width, double height);

inline constexpr int k_tile_size = 256;  ///< cells along an edge

/// A block of the drawn (pooled) matrix.
struct TileRange {
    int row = 0;
    int column = 0;
    int rows = 0;
    int columns = 0;
};

/// In a pooled matrix: the mask closes all cells of the block.
inline constexpr float k_closed_cell = -std::numeric_limits<float>::max();

/// The block's cells, row by row: NaN if there is one among its open cells, else +∞, else the value of
/// largest magnitude (the positive one of two), else −∞; k_closed_cell where none is open.
std::vector<float> pooled_cells(const HeatmapSource& source, Pooling pooling, TileRange range);

/// The range of tile (tile_row, tile_column).
TileRange tile_range(const HeatmapSource& source, Pooling pooling, int tile_row, int tile_column);

/// Rows or columns after pooling by 2^`level`, the last block possibly not full.
int pooled_size(int size, int level);

}  // namespace attnscope
