// A heatmap as it will be drawn: every choice made, no surface yet.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/attention/trace.h"
#include "core/io/session.h"
#include "core/picture/color_scale.h"
#include "core/picture/theme.h"

namespace attnscope {

/// What is drawn in a cell.
enum class CellMark : std::uint8_t {
    value,   ///< the scale's colour
    masked,  ///< hatched: the query may not look at the key
    open,    ///< a dot: the query may look at the key (the mask's own picture)
    nan,
    plus_infinity,
    minus_infinity,
};

/// A plain value, rows × columns; independent of the trace that it was made from.
struct Figure {
    std::string title;
    std::string subtitle;       ///< formula, shape, axes, head; a line may break between them, not within
    std::string range_caption;  ///< which range the colour bar belongs to
    std::vector<std::string> row_labels;
    std::vector<std::string> column_labels;
    Axis row_axis = Axis::single;
    Axis column_axis = Axis::single;
    Unit unit = Unit::real;

    int rows = 0;
    int columns = 0;
    std::vector<float> values;               ///< row-major
    std::vector<CellMark> marks;             ///< row-major
    std::vector<bool> fully_masked;          ///< per row: no key is open, so that its weights are zeros
    std::vector<bool> fully_masked_columns;  ///< per column: no query is open, and weights sum over queries
    ColorScale scale{nullptr, 0, 1};
    bool clipped_above = false;  ///< values lie beyond the ends of the scale
    bool clipped_below = false;

    const Theme* theme = nullptr;
    int cell_size = 48;        ///< pixels
    bool write_values = true;  ///< where they fit

    std::size_t cell(int row, int column) const {
        return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
               static_cast<std::size_t>(column);
    }
    /// Pixels between neighbouring cells: the background shows as a thin line when cells are large enough not
    /// to be outshone by it.
    int gap() const { return cell_size >= 24 ? 1 : 0; }
    /// Colour of the cell's surface: the scale's for a value, the theme's otherwise.
    Rgb8 fill(std::size_t cell) const;
    /// What is written in a cell when there is room; empty for masked and open cells.
    std::string text(std::size_t cell) const;
};

/// The picture of one matrix: a head's, or the mean over the heads.
/// Throws Error(bad_input) for a cell size beyond 1 … 512, an unknown theme, and as color_scale();
/// Error(too_large), naming the cell size to use, if the picture were larger than k_max_picture_side or
/// k_max_picture_pixels.
Figure make_figure(const Trace& trace, const Stage& stage, const HeadChoice& head,
                   const Presentation& presentation);

/// cairo's limit on the sides of an image, in pixels.
inline constexpr int k_max_picture_side = 32767;
/// 1 GiB while it is drawn.
inline constexpr std::int64_t k_max_picture_pixels = std::int64_t{1} << 28;

/// Throws Error(too_large) as make_figure does, before anything is allocated.
void require_drawable(std::string_view stage, int rows, int columns, int cell_size);

}  // namespace attnscope
