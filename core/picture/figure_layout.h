// The positions of everything in a figure, in whole pixels.
#pragma once

#include <string>
#include <vector>

#include "core/picture/figure.h"
#include "core/picture/text.h"
#include "core/progress.h"

namespace attnscope {

struct Size {
    int width = 0;
    int height = 0;
    bool operator==(const Size&) const = default;
};

struct Box {
    int x = 0;
    int y = 0;
    int width = 0;
    int height = 0;
    int right() const { return x + width; }
    int bottom() const { return y + height; }
};

/// A row or column label that is drawn; where there is no room, some are left out.
struct AxisLabel {
    int index;
    std::string text;
    double width;
};

struct AxisLayout {
    enum class Angle { level, slanted, upright };
    std::string title;    ///< what the axis is, beyond the labels
    double title_at = 0;  ///< its baseline: y of the columns', x of the rows', which is turned
    std::vector<AxisLabel> labels;
    TextStyle style;
    Angle angle = Angle::level;
    bool thinned = false;  ///< some labels are left out: the others get a tick
};

struct ScaleTick {
    double position;  ///< 0 at the scale's lower end, 1 at its upper
    std::string text;
};

/// A swatch and its meaning, below the matrix.
struct LegendItem {
    enum class Swatch { cell, empty_set, line };
    Swatch swatch;
    CellMark mark;
    std::string text;
    Rgb8 color = {};  ///< of a line
    int x = 0;
    int y = 0;
};

struct FigureLayout {
    Size size;
    Box title;
    std::string title_text;
    Box subtitle;
    std::string subtitle_text;  ///< in lines
    TextStyle title_style;
    TextStyle subtitle_style;
    Box matrix;               ///< without the gap after the last cell
    Box lines;                ///< between the words on the left and the row labels
    int row_label_width = 0;  ///< including the caption above them, beside lines
    AxisLayout words;
    double word_pitch = 0;
    double row_pitch = 0;  ///< of a figure that has lines in place of a matrix
    AxisLayout rows;
    AxisLayout columns;
    bool has_bar = false;  ///< masks and token numbers have no scale
    Box bar;
    TextStyle bar_style;      ///< of the ticks
    TextStyle caption_style;  ///< of the captions of bar and lines
    std::vector<ScaleTick> ticks;
    std::vector<LegendItem> legend;
    TextStyle legend_style;
    double value_size = 0;  ///< size of the numbers in the cells; 0 if they do not fit or are switched off

    /// The surface of a cell.
    Box cell(const Figure& figure, int row, int column) const {
        return {matrix.x + column * figure.cell_width(), matrix.y + row * figure.cell_height(),
                figure.cell_width() - figure.gap(), figure.cell_height() - figure.gap()};
    }
};

/// `with_row_labels` false leaves the row labels out, as beside a figure that has the same.
FigureLayout lay_out(const Figure& figure, const TextFace& face, bool with_row_labels = true);

/// Adds the title and the subtitle from the top left corner of the margin, in lines of this width.
void place_title(const Figure& figure, const TextFace& face, FigureLayout& layout, double text_width);
/// Adds the color bar to the right of the matrix; returns its bottom right corner, of a figure without one
/// the matrix's.
Size place_bar(const Figure& figure, const TextFace& face, FigureLayout& layout);
/// Adds the legend below `content` from `left`, in lines no longer than it or `min_width`; returns the bottom
/// right corner of both.
Size place_legend(std::vector<LegendItem> items, const TextFace& face, FigureLayout& layout, Size content,
                  int left, int min_width);
std::vector<LegendItem> legend_items(const Figure& figure);

/// The picture's size in pixels.
Size measure(const Figure& figure, const TextFace& face);

/// Throws Error(too_large) beyond k_max_picture_side or k_max_picture_pixels, which after make_figure() only
/// labels and titles can cause.
void require_picture_size(Size size);

/// The kind of surface a figure is drawn on.
enum class Medium {
    pixels,    ///< text as outlines; a matrix of many cells pixel by pixel
    document,  ///< scalable: text as glyphs; a matrix of many cells as an image with a few pixels per cell,
               // its lines and hatching as shapes
};

struct DrawOptions {
    Medium medium = Medium::pixels;
    bool outlines = false;  ///< text as outlines in a document, too
    Progress progress;
};

/// Draws on the background from (0, 0) to measure(), whatever the surface of `cairo`. Cells have whole-pixel
/// edges: the middle of a cell without text or mark is exactly figure.fill(). Throws Canceled.
void draw(const Figure& figure, const TextFace& face, cairo_t* cairo, const DrawOptions& options = {});
void draw(const Figure& figure, const FigureLayout& layout, const TextFace& face, cairo_t* cairo,
          const DrawOptions& options = {});
/// Draws the matrix with what belongs to its axes; then title, color bar and legend.
void draw_matrix(const Figure& figure, const FigureLayout& layout, const TextFace& face, cairo_t* cairo,
                 const DrawOptions& options);
void draw_surroundings(const Figure& figure, const FigureLayout& layout, const TextFace& face, cairo_t* cairo,
                       const DrawOptions& options);

/// The round values of a scale, for an axis of `pixels`, lowest first; its two ends are always included.
std::vector<ScaleTick> scale_ticks(const Figure& figure, int pixels);

}  // namespace attnscope
