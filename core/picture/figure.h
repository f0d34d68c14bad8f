// A heatmap as it will be drawn: every choice made, no surface yet.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/image.h"
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
    chosen,  ///< over a picture: hard attention's one patch, outlined and not covered
};

/// How much of a picture behind it a weight's colour covers, and a cell that the mask closes.
inline constexpr float k_cover = 0.58f, k_cover_closed = 0.8f;

/// A picture behind the cells, which then let it show through.
struct FigureImage {
    GivenImage image;
    std::vector<Rgb8> patches;  ///< row-major: the mean colour behind each cell
};

/// Words at the left of the rows, and lines from them to the rows.
struct FigureLines {
    std::vector<std::string> words;  ///< one for each column, unless all meet
    std::string words_caption, rows_caption;
    int row = -1;  ///< whose lines stand out; −1: none's
    std::string
        meeting;  ///< all words meet in a point of this name, and the rows see it alone; "": they do not
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

    std::optional<FigureImage> image;
    std::optional<FigureLines> lines;

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
    /// How much of a picture behind it the cell covers, 0 … 1; 1 without a picture.
    double cover(std::size_t cell) const;
    /// What the cell looks like, fill() over what is behind it.
    Rgb8 surface(std::size_t cell) const;
    /// What is written in a cell when there is room; empty for masked, open and chosen
    /// cells.
    std::string text(std::size_t cell) const;
};

/// The presentation's cell size in pixels. Where it names none, 1 … 48: as many as keep the matrix within
/// 1536² pixels and 4096 a side, so that its labels, which are of one size, stay legible on a page.
int cell_size_of(const Presentation& presentation, int rows, int columns);

/// The picture of one matrix: a head's, or the mean over the heads.
/// Throws Error(bad_input) for a cell size beyond 1 … 512, an unknown theme, and as color_scale();
/// Error(too_large) as require_drawable(), where there are so many cells that a document of it
/// needs_pixels(), too.
Figure make_figure(const Trace& trace, const Stage& stage, const HeadChoice& head,
                   const Presentation& presentation);

/// Facts for a subtitle, side by side: a line may break between them and within the first. Empty ones are
/// left out.
std::string side_by_side(const std::string& first, const std::vector<std::string>& others);
/// The facts again, one by one.
std::vector<std::string> side_by_side_parts(std::string_view facts);
/// The facts in lines of which each `fits`, where one fact alone does; no line ends or begins with a dot.
std::string side_by_side_lines(std::string_view facts, const std::function<bool(const std::string&)>& fits);
/// The presentation's title, and then `name` before the facts; else `name` is the title.
void set_title(Figure& figure, const Presentation& presentation, const std::string& name,
               const std::string& facts);
/// "head 2 of 4", "mean of 4 heads"; empty where there is one.
std::string head_fact(const Stage& stage, const HeadChoice& head);

/// cairo's limit on the sides of an image, in pixels.
inline constexpr int k_max_picture_side = 32767;
/// 1 GiB while it is drawn.
inline constexpr std::int64_t k_max_picture_pixels = std::int64_t{1} << 28;

/// Throws Error(bad_input) for a cell size beyond 1 … 512; Error(too_large), naming the cell size to use, if
/// the picture in pixels were larger than k_max_picture_side or k_max_picture_pixels.
void require_drawable(std::string_view stage, int rows, int columns, int cell_size);

}  // namespace attnscope
