// A heatmap ready to be drawn: every choice is made, no surface exists yet.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/trace.h"
#include "core/image/image.h"
#include "core/picture/color_scale.h"
#include "core/picture/presentation.h"
#include "core/picture/theme.h"
#include "core/tensor/memory.h"

namespace attnscope {

/// What is drawn in a cell.
enum class CellMark : std::uint8_t {
    value,   ///< the scale's color
    masked,  ///< hatched: closed by the mask
    open,    ///< a dot: open (in the picture of the mask itself)
    nan,
    plus_infinity,
    minus_infinity,
    chosen,        ///< over a picture: the one patch of hard attention, outlined rather than covered
    not_compared,  ///< hatched the other way: a difference has no number here, as A lacks the row or column
};

/// The opacity over a picture of a weight's color, and of a masked cell.
inline constexpr float k_cover = 0.1f, k_cover_most = 0.8f, k_cover_closed = 0.8f;
/// The opacity of a value's color over a picture, which grows with the value; NaN gets the largest.
inline float cover_of(const ColorScale& scale, double value) {
    const double part = std::isnan(value) ? 1 : std::clamp(scale.position(value), 0.0, 1.0);
    return k_cover + static_cast<float>(part) * (k_cover_most - k_cover);
}

/// A picture behind the cells, which are then translucent.
struct FigureImage {
    CustomImage image;
    std::vector<Rgb8> patches;  ///< row-major: the mean color behind each cell
};

/// A line from a word to a row; `strength`, 0 … 1, decides its width and opacity.
struct FigureLine {
    int word;
    int row;
    double strength;
    Rgb8 color;
    double shift = 0;  ///< down, in distances between words: the lines of several heads stand side by side
};

/// What a color of the lines stands for: "head 2".
struct LineColor {
    Rgb8 color;
    std::string name;
};

/// Words to the left of the rows, and lines from them to the rows.
struct FigureLines {
    std::vector<std::string> words;  ///< one per column, unless all lines meet or there are no columns
    std::string words_caption, rows_caption;
    int row = -1;         ///< the row whose lines are emphasized; −1: none
    std::string meeting;  ///< the name of the point in which the lines of all words meet, from which every
                          ///< row gets one; "": they do not

    // Used only by a figure without columns, which has no matrix beside the lines.
    std::vector<FigureLine> drawn = {};   ///< weakest first
    std::vector<LineColor> colors = {};   ///< of the legend, if the lines are of several heads
    bool single_word = false;             ///< only those of one word are drawn
    std::vector<bool> masked_words = {};  ///< that have no line, as every row is masked
    std::vector<std::string> numbers =
        {};  ///< beside the rows; none, or one for each, "" where there is none
};

/// How large the type of a figure is, and how much room is around the matrix.
enum class FigureType : std::uint8_t {
    screen,  ///< a picture of its own, in pixels: labels shrink with the cells
    panel,   ///< on a sheet, in twelfths of the font size: all type has that size, labels are left out
    sheet,   ///< around the panels: as these, with a larger title
};

/// A plain value, rows × columns; independent of the trace it was made from.
struct Figure {
    std::string title;            ///< empty: none
    bool typesets_title = false;  ///< its subscripts: it is a stage's name, not anyone's words
    std::string subtitle;  ///< formula, shape, axes, head; lines break between these facts, not within them
    std::string range_caption;            ///< the source of the color bar's range
    std::string row_title, column_title;  ///< what the rows and columns are: "queries", "keys"; empty: none
    std::vector<std::string> row_labels;
    std::vector<std::string> column_labels;
    Axis row_axis = Axis::single;
    Axis column_axis = Axis::single;
    Unit unit = Unit::real;

    int rows = 0;
    int columns = 0;
    LargeVector<float> values;       ///< row-major
    LargeVector<CellMark> marks;     ///< row-major
    std::vector<bool> fully_masked;  ///< per row: every key is masked, so that its weights are zeros
    std::vector<bool>
        fully_masked_columns;  ///< per column: every query is masked, and the softmax is over queries
    std::vector<float> centers =
        {};  ///< per row: the column, from 0, that its window is centered on; empty: none
    ColorScale scale{nullptr, 0, 1};
    bool clipped_above = false;  ///< values exceed the ends of the scale
    bool clipped_below = false;

    std::optional<FigureImage> image;
    std::optional<FigureLines> lines;

    const Theme* theme = nullptr;
    FigureType type = FigureType::screen;
    bool bar = true;                       ///< the color bar, where there is a scale
    bool legend = true;                    ///< of the marks
    int cell_size = 48;                    ///< pixels
    int column_width = 0, row_height = 0;  ///< of cells that are not square, pixels; 0: cell_size
    bool title_over_matrix = false;        ///< the title begins where the matrix does, not its row labels
    bool labels_below = false;             ///< the column labels are below the matrix rather than above
    bool spaced = true;                    ///< whether a line is between large cells
    bool hatches = true;  ///< masked cells; in a matrix as small as a few lines of hatching they are plain
    bool write_values = true;          ///< where they fit
    std::optional<int> decimals = {};  ///< of the numbers; none: as cell_text()

    /// Whether it has lines in place of a matrix.
    bool is_of_lines() const { return lines && columns == 0; }
    std::size_t cell(int row, int column) const {
        return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
               static_cast<std::size_t>(column);
    }
    /// Pixels between neighboring cells: the background shows as a thin line if cells are large enough not to
    /// be dominated by it.
    int gap() const { return spaced && cell_size >= 24 ? 1 : 0; }
    int cell_width() const { return column_width > 0 ? column_width : cell_size; }
    int cell_height() const { return row_height > 0 ? row_height : cell_size; }
    /// The color of a cell's surface: the scale's for a value, the theme's otherwise.
    Rgb8 fill(std::size_t cell) const;
    /// The opacity of a cell over a picture, 0 … 1; 1 without a picture.
    double cover(std::size_t cell) const;
    /// The color of a cell as it appears: fill() over what is behind it.
    Rgb8 surface(std::size_t cell) const;
    /// The number in a cell, if there is room; empty for masked, open and chosen cells.
    std::string text(std::size_t cell) const;
};

/// The presentation's cell size in pixels. If it is auto, 1 … 48: the largest that keeps the matrix within
/// 1536² pixels and 4096 per side, so that its labels, whose size is fixed, stay legible on a page.
int cell_size_of(const Presentation& presentation, int rows, int columns);

/// The picture of one matrix: a head's, or the mean over the heads. Throws Error(bad_input) for a cell size
/// beyond 1 … 512, and as color_scale(); Error(too_large) as require_drawable(), if there
/// are so many cells that needs_pixels() holds for a vector image, too.
Figure make_figure(const Trace& trace, const Stage& stage, const HeadChoice& head,
                   const Presentation& presentation);
/// The picture of one row (from 0) of a stage: only its values are read.
Figure make_row_figure(const Trace& trace, const Stage& stage, const HeadChoice& head,
                       const Presentation& presentation, int row);

/// Joins the facts of a subtitle: lines break between facts, and within the first. Empty facts are left out.
std::string side_by_side(const std::string& first, const std::vector<std::string>& others);
/// Splits a subtitle into its facts.
std::vector<std::string> side_by_side_parts(std::string_view facts);
/// The facts in lines that satisfy `fits`, unless a single fact does not; no line starts or ends with a dot.
std::string side_by_side_lines(std::string_view facts, const std::function<bool(const std::string&)>& fits);
/// Sets the presentation's title, with `name` before the facts; if it is empty, `name` is the title.
void set_title(Figure& figure, const Trace& trace, const Presentation& presentation, const std::string& name,
               const std::string& facts);
/// "head 2 of 4", "mean of 4 heads"; empty if there is one head.
std::string head_fact(const Stage& stage, const HeadChoice& head);

/// cairo's limit on the side of an image, in pixels.
inline constexpr int k_max_picture_side = 32767;
/// 1 GiB while it is drawn.
inline constexpr std::int64_t k_max_picture_pixels = std::int64_t{1} << 28;

/// Throws Error(bad_input) for a cell size beyond 1 … 512; Error(too_large), naming a cell size that fits, if
/// the picture would exceed k_max_picture_side or k_max_picture_pixels.
void require_drawable(std::string_view stage, int rows, int columns, int cell_size);

}  // namespace attnscope
