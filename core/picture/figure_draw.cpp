#include <cairo.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <span>
#include <utility>

#include "core/picture/figure_cells.h"
#include "core/picture/figure_layout.h"
#include "core/picture/word_lines.h"

namespace attnscope {
namespace {

/// Half the height of a capital letter, in em: centers text on a line.
constexpr double k_half_capital = 0.36;

struct Pen {
    const Figure& figure;
    const FigureLayout& layout;
    const TextFace& face;
    cairo_t* cairo;
    const DrawOptions& options;

    const Theme& theme() const { return *figure.theme; }
    void text(const std::string& text, const TextStyle& style, Rgb8 color, double x, double baseline) const {
        set_source(cairo, color);
        face.draw(cairo, text, style, x, baseline, text_mode(options));
    }
};

/// A triangle at the foot of each row points at the cell that its local window is centered on.
void draw_centers(const Pen& pen) {
    const Figure& figure = pen.figure;
    const Box& matrix = pen.layout.matrix;
    if (figure.centers.empty() || figure.columns == 0) return;
    const double width = figure.cell_width(), height = figure.cell_height(),
                 half = std::min(width, height) / 6;
    for (int i = 0; i < std::ssize(figure.centers); ++i) {
        const double key = figure.centers[static_cast<std::size_t>(i)];
        if (!(key >= 0 && key < figure.columns)) continue;
        const double x = matrix.x + (key + 0.5) * width, y = matrix.y + (i + 1) * height - half / 3;
        cairo_move_to(pen.cairo, x - half, y);
        cairo_line_to(pen.cairo, x + half, y);
        cairo_line_to(pen.cairo, x, y - half);
        cairo_close_path(pen.cairo);
        set_source(pen.cairo, pen.theme().text);
        cairo_fill_preserve(pen.cairo);
        set_source(pen.cairo, pen.theme().background);
        cairo_set_line_width(pen.cairo, half / 4);
        cairo_stroke(pen.cairo);
    }
}

void draw_title(const Pen& pen) {
    const FigureLayout& layout = pen.layout;
    const double title = pen.face.extent(layout.title_text, layout.title_style).ascent;
    pen.text(layout.title_text, layout.title_style, pen.theme().text, layout.title.x, layout.title.y + title);
    const double subtitle = pen.face.extent(pen.layout.subtitle_text, layout.subtitle_style).ascent;
    pen.text(pen.layout.subtitle_text, layout.subtitle_style, pen.theme().secondary, layout.subtitle.x,
             layout.subtitle.y + subtitle);
}

Rgb8 axis_color(const Theme& theme, Axis axis) {
    return is_of_features(axis) ? theme.features : theme.tokens;
}

/// A line in the dimension's hue along the rows and along the columns, on the side of their labels.
void draw_edges(const Pen& pen) {
    const Box& matrix = pen.layout.matrix;
    if (matrix.width <= 0 || matrix.height <= 0) return;
    if (pen.figure.row_axis != Axis::single) {
        set_source(pen.cairo, axis_color(pen.theme(), pen.figure.row_axis));
        fill_box(pen.cairo, {matrix.x - 4, matrix.y, 2, matrix.height});
    }
    if (pen.figure.column_axis != Axis::single) {
        set_source(pen.cairo, axis_color(pen.theme(), pen.figure.column_axis));
        const int y = pen.figure.labels_below ? matrix.bottom() + 2 : matrix.y - 4;
        fill_box(pen.cairo, {matrix.x, y, matrix.width, 2});
    }
}

/// The middle of row or column `index` whose cells are `side` long, with the gap after them.
double middle(const Figure& figure, int start, int side, int index) {
    return start + index * side + (side - figure.gap()) / 2.0;
}

double row_middle(const Pen& pen, int row) {
    if (pen.figure.is_of_lines()) return pen.layout.lines.y + (row + 0.5) * pen.layout.row_pitch;
    return middle(pen.figure, pen.layout.matrix.y, pen.figure.cell_height(), row);
}

void draw_row_labels(const Pen& pen) {
    const AxisLayout& rows = pen.layout.rows;
    const Box& matrix = pen.layout.matrix;
    for (const AxisLabel& label : rows.labels) {
        const double y = row_middle(pen, label.index);
        const bool flagged = pen.figure.fully_masked[static_cast<std::size_t>(label.index)];
        const bool stands_out = pen.figure.lines && pen.figure.lines->row == label.index;
        const double x = pen.figure.lines ? pen.layout.lines.right() + 8 : matrix.x - 12 - label.width;
        pen.text(label.text, rows.style,
                 flagged      ? pen.theme().warning
                 : stands_out ? pen.theme().text
                              : pen.theme().secondary,
                 x, y + k_half_capital * rows.style.size);
        if (!rows.thinned || pen.figure.lines) continue;
        set_source(pen.cairo, pen.theme().faint);
        fill_box(pen.cairo, {matrix.x - 9, static_cast<int>(y), 5, 1});
    }
}

double word_middle(const Pen& pen, int word) {
    return pen.layout.lines.y + (word + 0.5) * pen.layout.word_pitch;
}

/// A curve that is level at both ends.
void draw_line(const Pen& pen, double x0, double y0, double x1, double y1, double width, Rgb8 color,
               double opacity) {
    set_source(pen.cairo, color, opacity);
    cairo_set_line_width(pen.cairo, width);
    cairo_move_to(pen.cairo, x0, y0);
    cairo_curve_to(pen.cairo, (x0 + x1) / 2, y0, (x0 + x1) / 2, y1, x1, y1);
    cairo_stroke(pen.cairo);
}

/// Draws a line from each word to a row, as wide and as strong as its weight.
void draw_weight_lines(const Pen& pen, int row, bool stands_out) {
    const Figure& figure = pen.figure;
    const Box& box = pen.layout.lines;
    const std::span weights(figure.values.data() + figure.cell(row, 0),
                            static_cast<std::size_t>(figure.columns));
    const bool none_does = figure.lines->row < 0;
    const Rgb8 color = stands_out || none_does ? pen.theme().accent : pen.theme().secondary;
    const double opacity = stands_out ? 1 : (none_does ? 2 : 1) * others_opacity(figure.rows);
    const double pitch = std::min<double>(pen.layout.word_pitch, figure.cell_height());
    const int most = stands_out ? k_lines_that_stand_out : lines_per_row(figure.rows);
    for (const WordLine& line : word_lines(weights, figure.scale, most))
        draw_line(pen, box.x, word_middle(pen, line.column), box.right(), row_middle(pen, row),
                  line_width(line.strength, pitch), color, opacity * line.strength);
}

/// Draws the lines of a figure without a matrix, and the numbers at the ends of those of a single word.
void draw_lines_alone(const Pen& pen) {
    const Figure& figure = pen.figure;
    const FigureLines& lines = *figure.lines;
    const Box& box = pen.layout.lines;
    const auto opacity = [&](double strength) {
        return lines.single_word ? opacity_alone(strength)
                                 : crowd_opacity(lines.drawn.size()) * line_opacity(strength);
    };
    const double pitch = std::min(pen.layout.word_pitch, pen.layout.row_pitch);
    // Lines beside each other are thinner, so that they stay apart.
    double apart = 1;
    for (const FigureLine& line : lines.drawn)
        if (line.shift != 0) apart = std::min(apart, std::abs(line.shift));
    const double widest = lines.colors.size() > 1 ? std::max(1.0, 2 * apart * pitch) : pitch;
    for (const FigureLine& line : lines.drawn) {
        const double shift = line.shift * pitch;
        draw_line(pen, box.x, word_middle(pen, line.word) + shift, box.right(),
                  row_middle(pen, line.row) + shift, std::min(line_width(line.strength, pitch), widest),
                  line.color, opacity(line.strength));
    }
    if (lines.numbers.empty()) return;
    const TextStyle style{.font = Font::mono, .size = 12, .align = 1};
    const double right = box.right() + 8 + pen.layout.row_label_width;
    for (const AxisLabel& label : pen.layout.rows.labels)
        pen.text(lines.numbers[static_cast<std::size_t>(label.index)], style, pen.theme().text, right,
                 row_middle(pen, label.index) + k_half_capital * style.size);
}

/// All words meet in one point, from which every row gets the same line.
void draw_meeting(const Pen& pen) {
    const Box& box = pen.layout.lines;
    const FigureLines& lines = *pen.figure.lines;
    const double x = box.x + box.width / 2.0, y = box.y + box.height / 2.0;
    for (int word = 0; word < static_cast<int>(lines.words.size()); ++word)
        draw_line(pen, box.x, word_middle(pen, word), x, y, 1, pen.theme().secondary, 0.6);
    for (int row = 0; row < pen.figure.rows; ++row)
        draw_line(pen, x, y, box.right(), row_middle(pen, row), row == lines.row ? 2.5 : 1,
                  row == lines.row ? pen.theme().accent : pen.theme().secondary, row == lines.row ? 1 : 0.6);
    set_source(pen.cairo, pen.theme().accent);
    cairo_arc(pen.cairo, x, y, 5, 0, 2 * std::numbers::pi);
    cairo_fill(pen.cairo);
    const TextStyle style{.font = Font::sans, .size = 11, .align = 0.5};
    pen.text(lines.meeting, style, pen.theme().text, x, y - 18);
}

void draw_words(const Pen& pen) {
    const AxisLayout& words = pen.layout.words;
    const Box& box = pen.layout.lines;
    const std::vector<bool>& masked = pen.figure.lines->masked_words;
    for (const AxisLabel& label : words.labels) {
        const bool flagged = !masked.empty() && masked[static_cast<std::size_t>(label.index)];
        pen.text(label.text, words.style, flagged ? pen.theme().warning : pen.theme().secondary,
                 box.x - 8 - label.width, word_middle(pen, label.index) + k_half_capital * words.style.size);
    }
    const TextStyle& caption = pen.layout.caption_style;
    const double y = box.y - 12;
    const FigureLines& lines = *pen.figure.lines;
    pen.text(lines.words_caption, {.font = caption.font, .size = caption.size, .align = 1}, pen.theme().faint,
             box.x - 8, y);
    pen.text(lines.rows_caption, caption, pen.theme().faint, box.right() + 8, y);
}

/// Draws the words to the left and their lines to the rows.
void draw_lines(const Pen& pen) {
    if (!pen.figure.lines) return;
    const FigureLines& lines = *pen.figure.lines;
    if (pen.figure.is_of_lines()) {
        draw_lines_alone(pen);
        return draw_words(pen);
    }
    if (!lines.meeting.empty()) draw_meeting(pen);
    for (int row = 0; lines.meeting.empty() && row < pen.figure.rows; ++row)
        if (row != lines.row) draw_weight_lines(pen, row, false);
    if (lines.row >= 0 && lines.meeting.empty()) draw_weight_lines(pen, lines.row, true);
    draw_words(pen);
    if (lines.row < 0) return;
    const Box first = pen.layout.cell(pen.figure, lines.row, 0);
    set_source(pen.cairo, pen.theme().accent);
    cairo_set_line_width(pen.cairo, 2);
    cairo_rectangle(pen.cairo, first.x - 1, first.y - 1, pen.layout.matrix.width + 2, first.height + 2);
    cairo_stroke(pen.cairo);
}

void draw_column_label(const Pen& pen, const AxisLabel& label, double x) {
    const AxisLayout& columns = pen.layout.columns;
    const double down = k_half_capital * columns.style.size;
    const bool flagged = pen.figure.fully_masked_columns[static_cast<std::size_t>(label.index)];
    const Rgb8 color = flagged ? pen.theme().warning : pen.theme().secondary;
    const bool below = pen.figure.labels_below;
    const int near = below ? pen.layout.matrix.bottom() + 12 : pen.layout.matrix.y - 12;
    if (columns.angle == AxisLayout::Angle::level) {
        pen.text(label.text, columns.style, color, x - label.width / 2, near + (below ? 2 * down : 0));
        return;
    }
    const bool upright = columns.angle == AxisLayout::Angle::upright;
    cairo_save(pen.cairo);
    cairo_translate(pen.cairo, x, near);
    cairo_rotate(pen.cairo, upright ? -std::numbers::pi / 2 : -std::numbers::pi / 4);
    // A label below the matrix ends at its column, one above begins there.
    pen.text(label.text, columns.style, color, below ? -label.width : 0, down);
    cairo_restore(pen.cairo);
}

void draw_column_labels(const Pen& pen) {
    const Box& matrix = pen.layout.matrix;
    for (const AxisLabel& label : pen.layout.columns.labels) {
        const double x = middle(pen.figure, matrix.x, pen.figure.cell_width(), label.index);
        draw_column_label(pen, label, x);
        if (!pen.layout.columns.thinned) continue;
        set_source(pen.cairo, pen.theme().faint);
        fill_box(pen.cairo,
                 {static_cast<int>(x), pen.figure.labels_below ? matrix.bottom() + 4 : matrix.y - 9, 1, 5});
    }
}

/// What the rows and columns are: beyond the column labels, and turned beside the row labels.
void draw_axis_titles(const Pen& pen) {
    const Box& matrix = pen.layout.matrix;
    const TextStyle style{.font = Font::sans, .size = pen.layout.caption_style.size, .align = 0.5};
    const std::string &rows = pen.layout.rows.title, &columns = pen.layout.columns.title;
    pen.text(columns, style, pen.theme().faint, matrix.x + matrix.width / 2.0, pen.layout.columns.title_at);
    cairo_save(pen.cairo);
    cairo_translate(pen.cairo, pen.layout.rows.title_at, matrix.y + matrix.height / 2.0);
    cairo_rotate(pen.cairo, -std::numbers::pi / 2);
    pen.text(rows, style, pen.theme().faint, 0, 0);
    cairo_restore(pen.cairo);
}

void draw_bar(const Pen& pen) {
    if (!pen.layout.has_bar) return;
    const Box& bar = pen.layout.bar;
    const ColorScale& scale = pen.figure.scale;
    std::optional<Rgb8> last;
    for (int y = 0; y < bar.height; ++y) {
        const double part = 1 - (y + 0.5) / bar.height;
        const Rgb8 color = scale.color(scale.value_at(part));
        if (std::exchange(last, color) == color) continue;
        set_source(pen.cairo, color);
        // Each part extends to the bottom, so that no seam shows between rows where a viewer smooths edges.
        fill_box(pen.cairo, {bar.x, bar.y + y, bar.width, bar.height - y});
    }
    const TextStyle& style = pen.layout.bar_style;
    for (const ScaleTick& tick : pen.layout.ticks) {
        const int y = bar.y + static_cast<int>(std::lround((1 - tick.position) * (bar.height - 1)));
        set_source(pen.cairo, pen.theme().faint);
        fill_box(pen.cairo, {bar.right(), y, 4, 1});
        pen.text(tick.text, style, pen.theme().secondary, bar.right() + 12,
                 y + 0.5 + k_half_capital * style.size);
    }
    pen.text(pen.figure.range_caption, pen.layout.caption_style, pen.theme().faint, bar.x, bar.bottom() + 24);
}

void draw_legend(const Pen& pen) {
    const TextStyle& style = pen.layout.legend_style;
    for (const LegendItem& item : pen.layout.legend) {
        const double baseline = item.y + 6 + k_half_capital * style.size;
        const bool warns = item.swatch == LegendItem::Swatch::empty_set;
        switch (item.swatch) {
            case LegendItem::Swatch::cell:
                draw_swatch(pen.figure, item.mark, {item.x, item.y, 12, 12}, pen.cairo);
                break;
            case LegendItem::Swatch::empty_set:
                pen.text("∅", style, pen.theme().warning, item.x + 1, baseline);
                break;
            case LegendItem::Swatch::line:
                set_source(pen.cairo, item.color);
                fill_box(pen.cairo, {item.x, item.y + 4, 14, 4});
                break;
        }
        pen.text(item.text, style, warns ? pen.theme().warning : pen.theme().secondary, item.x + 20,
                 baseline);
    }
}

}  // namespace

void draw_matrix(const Figure& figure, const FigureLayout& layout, const TextFace& face, cairo_t* cairo,
                 const DrawOptions& options) {
    const Pen pen{figure, layout, face, cairo, options};
    draw_edges(pen);
    draw_cells(figure, layout, cairo, options.medium);
    draw_values(figure, layout, face, cairo, options);
    draw_centers(pen);
    draw_row_labels(pen);
    draw_column_labels(pen);
    draw_axis_titles(pen);
    draw_lines(pen);
}

void draw_surroundings(const Figure& figure, const FigureLayout& layout, const TextFace& face, cairo_t* cairo,
                       const DrawOptions& options) {
    const Pen pen{figure, layout, face, cairo, options};
    draw_title(pen);
    draw_bar(pen);
    draw_legend(pen);
}

void draw(const Figure& figure, const FigureLayout& layout, const TextFace& face, cairo_t* cairo,
          const DrawOptions& options) {
    cairo_save(cairo);
    set_source(cairo, figure.theme->background);
    fill_box(cairo, {0, 0, layout.size.width, layout.size.height});
    draw_matrix(figure, layout, face, cairo, options);
    draw_surroundings(figure, layout, face, cairo, options);
    cairo_restore(cairo);
}

void draw(const Figure& figure, const TextFace& face, cairo_t* cairo, const DrawOptions& options) {
    draw(figure, lay_out(figure, face), face, cairo, options);
}

}  // namespace attnscope
