#include "core/picture/figure_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error.h"
#include "core/number_text.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

/// Sizes of the type, and of what is around the matrix.
struct Measures {
    int margin;
    double title, subtitle, label, bar, caption, legend;  ///< of text
    int label_gap;                                        ///< between a label and the matrix
    int bar_gap;
    int min_bar;
    int title_gap;       ///< below title and subtitle
    int min_text_width;  ///< the title wraps at the matrix's width or this, whichever is larger
};
constexpr Measures k_screen{24, 20, 13, 0, 12, 11, 12, 12, 28, 96, 20, 360};  // labels by the cells
constexpr Measures k_panel{0, 12, 12, 12, 12, 12, 12, 8, 16, 60, 6, 72};
constexpr Measures k_sheet{4, 15, 12, 12, 12, 12, 12, 8, 16, 60, 10, 0};

const Measures& measures_of(const Figure& figure) {
    switch (figure.type) {
        case FigureType::screen: break;
        case FigureType::panel: return k_panel;
        case FigureType::sheet: return k_sheet;
    }
    return k_screen;
}

constexpr double k_max_label = 220;  ///< longer labels end in "…"
constexpr int k_bar_width = 12;
constexpr int k_max_bar = 480;
constexpr int k_line_gap = 8;       ///< between lines and words
constexpr int k_caption_band = 28;  ///< height of the captions above the words
constexpr int k_min_lines = 160, k_max_lines = 320, k_lines_alone = 400;
constexpr int k_least_on_paper = 40, k_most_on_paper = 600;  ///< of lines alone
constexpr int k_word_pitch = 18;

int grid(double pixels) { return static_cast<int>(std::ceil(pixels / 4)) * 4; }

/// The first of 1, 2, 5, 10, 20, 50 … that is at least `least`.
int round_step(double least) {
    for (int decade = 1;; decade *= 10) {
        for (const int digit : {1, 2, 5}) {
            if (digit * decade >= least) return digit * decade;
        }
    }
}

double label_size(const Measures& measures, double pitch) {
    if (measures.label > 0) return measures.label;
    return pitch >= 18 ? 13 : pitch >= 14 ? 11 : 10;
}

/// The labels of an axis that have room, `pitch` pixels apart: words from the first, numbers at round values
/// and the first.
AxisLayout axis_of(const Measures& measures, double pitch, const TextFace& face,
                   const std::vector<std::string>& labels, Axis axis, const std::vector<bool>& flagged) {
    AxisLayout result;
    result.style = {.font = Font::sans, .size = label_size(measures, pitch), .max_width = k_max_label};
    const double room = result.style.size + 2;
    const int step = round_step(room / pitch);
    result.thinned = step > 1;
    for (int i = 0; i < static_cast<int>(labels.size()); ++i) {
        const bool wanted = is_of_features(axis) ? i == 0 || (i + 1) % step == 0 : i % step == 0;
        // The number after the first may be too close to it.
        const bool crowded = is_of_features(axis) && i > 0 && i * pitch < room;
        if (!wanted || crowded) continue;
        std::string text = face.displayable(labels[static_cast<std::size_t>(i)]);
        if (flagged[static_cast<std::size_t>(i)]) text = "∅ " + text;
        const double width = text.empty() ? 0 : face.extent(text, result.style).width;
        if (width > 0) result.labels.push_back({i, std::move(text), width});
    }
    return result;
}

double widest(const AxisLayout& axis) {
    double width = 0;
    for (const AxisLabel& label : axis.labels) width = std::max(width, label.width);
    return width;
}

AxisLayout::Angle angle_of(const Figure& figure, const AxisLayout& columns) {
    double room = 1e9;
    for (std::size_t i = 1; i < columns.labels.size(); ++i) {
        const AxisLabel& a = columns.labels[i - 1];
        const AxisLabel& b = columns.labels[i];
        room = std::min(room, (b.index - a.index) * figure.cell_width() - (a.width + b.width) / 2);
    }
    if (room >= 6) return AxisLayout::Angle::level;
    // Slanted labels are closer together than their columns.
    const double pitch = figure.cell_width() * std::numbers::sqrt2 / 2;
    return pitch >= columns.style.size * 1.5 ? AxisLayout::Angle::slanted : AxisLayout::Angle::upright;
}

/// Height of the band of column labels above or below the matrix.
int column_band(const AxisLayout& columns, int gap) {
    if (columns.labels.empty()) return 0;
    const double width = widest(columns);
    const double line = columns.style.size * 1.25;
    switch (columns.angle) {
        case AxisLayout::Angle::level: return grid(line) + gap;
        case AxisLayout::Angle::slanted: return grid((width + line) * std::numbers::sqrt2 / 2) + gap;
        case AxisLayout::Angle::upright: return grid(width) + gap;
    }
    return 0;
}

/// How far the column labels reach to the right, in pixels of the picture.
double columns_right(const Figure& figure, const FigureLayout& layout) {
    double right = layout.matrix.right();
    for (const AxisLabel& label : layout.columns.labels) {
        const double middle = layout.matrix.x + (label.index + 0.5) * figure.cell_width();
        const double reach = layout.columns.angle == AxisLayout::Angle::level ? label.width / 2
                             : layout.columns.angle == AxisLayout::Angle::slanted && !figure.labels_below
                                 ? label.width * 0.71 + 8
                                 : layout.columns.style.size / 2;
        right = std::max(right, middle + reach);
    }
    return right;
}

/// How far the column labels reach to the left of the matrix: the first level one, and below the matrix also
/// those that rise to their columns.
double columns_left(const Figure& figure, const AxisLayout& columns) {
    double left = 0;
    const bool slanted = columns.angle == AxisLayout::Angle::slanted && figure.labels_below;
    if (columns.angle != AxisLayout::Angle::level && !slanted) return left;
    for (const AxisLabel& label : columns.labels) {
        const double reach = slanted ? label.width * 0.71 + 8 : label.width / 2;
        left = std::max(left, reach - (label.index + 0.5) * figure.cell_width());
    }
    return left;
}

double value_size(const Figure& figure, const TextFace& face) {
    constexpr int k_smallest_cell = 24;
    if (!figure.write_values || std::min(figure.cell_width(), figure.cell_height()) < k_smallest_cell)
        return 0;
    std::string longest;
    std::size_t length = 0;
    for (std::size_t i = 0; i < figure.values.size(); ++i) {
        std::string text = figure.text(i);
        const auto characters = count_code_points(text);
        if (characters <= length) continue;
        length = characters;
        longest = std::move(text);
    }
    const double room = figure.cell_width() - figure.gap() - 4;
    const int side = std::min(figure.cell_width(), figure.cell_height());
    for (double size = std::clamp(std::round(side / 4.0), 9.0, 20.0); size >= 9; --size) {
        if (face.extent(longest, {.font = Font::mono, .size = size}).width <= room) return size;
    }
    return 0;
}

}  // namespace

void place_title(const Figure& figure, const TextFace& face, FigureLayout& layout, double text_width) {
    const Measures& m = measures_of(figure);
    layout.title_style = {.font = Font::sans_semibold,
                          .size = m.title,
                          .max_width = text_width,
                          .wrap = true,
                          .formula = figure.typesets_title || figure.type == FigureType::panel};
    layout.subtitle_style = {
        .font = Font::sans, .size = m.subtitle, .max_width = text_width, .wrap = true, .formula = true};
    layout.title_text = face.displayable(figure.title, Spaces::kept);
    const TextExtent first = face.extent(layout.title_text, layout.title_style);
    const TextStyle one_line{
        .font = layout.subtitle_style.font, .size = layout.subtitle_style.size, .formula = true};
    layout.subtitle_text = side_by_side_lines(figure.subtitle, [&](const std::string& line) {
        return face.extent(line, one_line).width <= text_width;
    });
    const TextExtent second = face.extent(layout.subtitle_text, layout.subtitle_style);
    const bool titled = !layout.title_text.empty(), explained = !layout.subtitle_text.empty();
    layout.title = {m.margin, m.margin, titled ? grid(first.width) : 0, titled ? grid(first.height) : 0};
    layout.subtitle = {m.margin, layout.title.bottom() + (titled && explained ? 4 : 0),
                       explained ? grid(second.width) : 0, explained ? grid(second.height) : 0};
}

namespace {

double ticks_width(const FigureLayout& layout, const TextFace& face) {
    double width = 0;
    for (const ScaleTick& tick : layout.ticks) {
        width = std::max(width, face.extent(tick.text, layout.bar_style).width);
    }
    return width;
}

/// The nearest of 1, 2, 2.5, 5 times a power of ten.
double round_part(double value) {
    const double decade = std::pow(10, std::floor(std::log10(value)));
    const double part = value / decade;
    return decade * (part < 1.5 ? 1 : part < 2.25 ? 2 : part < 3.5 ? 2.5 : part < 7.5 ? 5 : 10);
}

/// The decimals of a round step: 2 for 0.25.
int decimals_of(double step) {
    int decimals = 0;
    while (decimals < 9 && std::abs(step - std::round(step)) > 1e-6) {
        step *= 10;
        ++decimals;
    }
    return decimals;
}

/// An end that is not a multiple of the step keeps the digits that a cell with its value has, and as many as
/// set it apart from the ticks beside it.
int end_decimals(double value, double step) {
    if (std::abs(value / step - std::round(value / step)) < 1e-9) return 0;
    const std::string text = cell_text(value);
    const std::size_t point = text.find('.');
    const bool plain = point != text.npos && text.find('e') == text.npos;
    int decimals = plain ? static_cast<int>(text.size() - point - 1) : 0;
    const auto rounded_off = [&](int kept) {
        const double unit = std::pow(10, -kept);
        return std::abs(value - std::round(value / unit) * unit);
    };
    while (decimals < 9 && rounded_off(decimals) > step / 10) ++decimals;
    return decimals;
}

}  // namespace

Size place_bar(const Figure& figure, const TextFace& face, FigureLayout& layout) {
    const Measures& m = measures_of(figure);
    layout.bar_style = {.font = Font::mono, .size = m.bar};
    layout.caption_style = {.font = Font::sans, .size = m.caption};
    layout.has_bar = figure.bar && !figure.is_of_lines() &&
                     (figure.unit == Unit::real || figure.unit == Unit::probability);
    if (!layout.has_bar) return {layout.matrix.right(), layout.matrix.bottom()};
    layout.bar = {layout.matrix.right() + m.bar_gap, layout.matrix.y, k_bar_width,
                  std::clamp(layout.matrix.height, m.min_bar, k_max_bar)};
    layout.ticks = scale_ticks(figure, layout.bar.height);
    const double caption = face.extent(figure.range_caption, layout.caption_style).width;
    const double right = layout.bar.x + std::max(k_bar_width + 12 + ticks_width(layout, face), caption);
    return {static_cast<int>(std::ceil(right)),
            layout.bar.bottom() + (figure.range_caption.empty() ? 8 : 28)};
}

std::vector<LegendItem> legend_items(const Figure& figure) {
    std::vector<LegendItem> items;
    const auto add = [&](CellMark mark, const char* text, bool counted) {
        const auto count = std::count(figure.marks.begin(), figure.marks.end(), mark);
        if (count == 0) return;
        std::string what = text + (counted ? fmt::format(" ({})", count) : std::string());
        items.push_back({LegendItem::Swatch::cell, mark, std::move(what)});
    };
    add(CellMark::open, "open", true);
    add(CellMark::chosen, "the attended patch", false);
    add(CellMark::masked, "masked", figure.unit == Unit::boolean);
    add(CellMark::not_compared, "not in A: not compared", false);
    add(CellMark::nan, "NaN", true);
    add(CellMark::plus_infinity, "+∞", true);
    add(CellMark::minus_infinity, "−∞", true);
    const auto add_empty = [&](const std::vector<bool>& empty, const std::string& text, const char* what) {
        const auto count = std::count(empty.begin(), empty.end(), true);
        if (count == 0) return;
        items.push_back({LegendItem::Swatch::empty_set, CellMark::masked,
                         fmt::format("{} ({}{}{}", text, count, what, (count == 1 ? ")" : "s)"))});
    };
    if (figure.is_of_lines()) {
        add_empty(figure.lines->masked_words, "every key is masked: weights are 0", " word");
        add_empty(figure.fully_masked, "every query is masked: weights are 0", " word");
        for (const LineColor& each : figure.lines->colors)
            items.push_back({LegendItem::Swatch::line, CellMark::value, each.name, each.color});
        return items;
    }
    add_empty(figure.fully_masked, "every key is masked: weights and context are 0", " row");
    add_empty(figure.fully_masked_columns, "every query is masked: weights are 0", " column");
    return items;
}

Size place_legend(std::vector<LegendItem> items, const TextFace& face, FigureLayout& layout, Size content,
                  int left, int min_width) {
    layout.legend = std::move(items);
    layout.legend_style = {.font = Font::sans, .size = 12};
    if (layout.legend.empty()) return content;
    const int limit = std::max(content.width, left + min_width);
    int x = left;
    int y = content.height + 16;
    for (LegendItem& item : layout.legend) {
        const int width = 20 + grid(face.extent(item.text, layout.legend_style).width);
        if (x > left && x + width > limit) {
            x = left;
            y += 20;
        }
        item.x = x;
        item.y = y;
        content.width = std::max(content.width, x + width);
        x += width + 16;
    }
    content.height = y + 16;
    return content;
}

namespace {

/// Spaces the words evenly over the height of the matrix, or over as much as they need to be legible.
void lay_out_lines(const Figure& figure, const TextFace& face, FigureLayout& layout) {
    const auto count = static_cast<double>(std::max<std::size_t>(figure.lines->words.size(), 1));
    const double height = figure.rows * figure.cell_height(),
                 least = std::min(figure.cell_size, k_word_pitch);
    layout.word_pitch = std::max(height / count, least);
    std::vector<bool> flagged = figure.lines->masked_words;
    flagged.resize(figure.lines->words.size());
    layout.words =
        axis_of(measures_of(figure), layout.word_pitch, face, figure.lines->words, Axis::key_token, flagged);
    layout.lines.height = static_cast<int>(std::ceil(std::max(height, layout.word_pitch * count)));
    layout.lines.width = std::clamp(grid(0.5 * layout.lines.height), k_min_lines, k_max_lines);
    if (!figure.is_of_lines()) return;
    // Nothing else decides the width, and the rows are as far apart as the words' column is high.
    layout.lines.width = figure.type == FigureType::screen
                             ? k_lines_alone
                             : std::clamp(10 * figure.cell_size, k_least_on_paper, k_most_on_paper);
    layout.row_pitch = layout.lines.height / static_cast<double>(std::max(figure.rows, 1));
    layout.rows = axis_of(measures_of(figure), layout.row_pitch, face, figure.row_labels, figure.row_axis,
                          figure.fully_masked);
}

/// The width of the numbers beside the row labels, with a gap before them.
int numbers_width(const Figure& figure, const TextFace& face) {
    if (figure.lines->numbers.empty()) return 0;
    return measures_of(figure).label_gap + grid(face.extent("0.000", {.font = Font::mono, .size = 12}).width);
}

/// Lays out words, lines and row labels, side by side.
double lines_left(const Figure& figure, const TextFace& face, FigureLayout& layout) {
    const auto column = [&](const AxisLayout& axis, const std::string& caption) {
        return grid(std::max(widest(axis), face.extent(caption, layout.caption_style).width));
    };
    layout.row_label_width = column(layout.rows, figure.lines->rows_caption) + numbers_width(figure, face);
    return column(layout.words, figure.lines->words_caption) + k_line_gap + layout.lines.width + k_line_gap +
           layout.row_label_width;
}

}  // namespace

namespace {

/// The ends of the scale, 0 where it is between them, and powers of ten with room for their texts.
std::vector<ScaleTick> log_ticks(const Figure& figure, double room) {
    const ColorScale& scale = figure.scale;
    std::vector<double> values;
    const double largest = std::max(std::abs(scale.min), std::abs(scale.max));
    for (int power = static_cast<int>(std::floor(std::log10(largest))); power > -40; --power) {
        const double value = std::pow(10, power);
        if (value < largest * 1e-4) break;
        values.push_back(value);
        if (scale.min < 0) values.push_back(-value);
    }
    if (scale.min < 0) values.insert(values.begin(), 0);
    std::vector<ScaleTick> ticks{{0, (figure.clipped_below ? "≤ " : "") + short_text(scale.min)},
                                 {1, (figure.clipped_above ? "≥ " : "") + short_text(scale.max)}};
    for (const double value : values) {
        const double position = scale.position(value);
        if (std::ranges::all_of(
                ticks, [&](const ScaleTick& tick) { return std::abs(tick.position - position) >= room; }))
            ticks.push_back({position, short_text(value)});
    }
    std::ranges::sort(ticks, {}, &ScaleTick::position);
    return ticks;
}

}  // namespace

std::vector<ScaleTick> scale_ticks(const Figure& figure, int pixels) {
    if (figure.scale.spacing == ColorSpacing::log) return log_ticks(figure, 18.0 / pixels);
    const double min = figure.scale.min;
    const double max = figure.scale.max;
    const double width = max - min;
    const double step = round_part(width / 4);
    const bool plain = std::max(std::abs(min), std::abs(max)) < 1e5 && step >= 1e-3;
    // All have the same number of decimals, so that they align.
    const int decimals = std::max({decimals_of(step), end_decimals(min, step), end_decimals(max, step)});
    const auto text = [&](double value) { return plain ? fixed_text(value, decimals) : short_text(value); };
    std::vector<ScaleTick> ticks{{0, (figure.clipped_below ? "≤ " : "") + text(min)}};
    const double room = 18.0 / pixels;
    const double first = std::ceil(min / step);
    for (int i = 0; i <= 8; ++i) {  // a step is at least a sixth of the width
        const double value = (first + i) * step;
        const double position = (value - min) / width;
        if (position > room && position < 1 - room) ticks.push_back({position, text(value)});
    }
    ticks.push_back({1, (figure.clipped_above ? "≥ " : "") + text(max)});
    return ticks;
}

FigureLayout lay_out(const Figure& figure, const TextFace& face, bool with_row_labels) {
    const Measures& m = measures_of(figure);
    FigureLayout layout;
    layout.caption_style = {.font = Font::sans, .size = m.caption};
    layout.rows =
        axis_of(m, figure.cell_height(), face, figure.row_labels, figure.row_axis, figure.fully_masked);
    layout.columns = axis_of(m, figure.cell_width(), face, figure.column_labels, figure.column_axis,
                             figure.fully_masked_columns);
    if (!with_row_labels) layout.rows.labels.clear();
    layout.rows.title = figure.lines || !with_row_labels ? "" : figure.row_title;
    layout.columns.title = figure.column_title;
    // The height of a line with a title, above the labels and, turned, beside them.
    const int title_band = grid(m.caption * 1.25) + 4;
    layout.columns.angle = angle_of(figure, layout.columns);
    const double row_labels = widest(layout.rows);
    if (figure.lines) lay_out_lines(figure, face, layout);
    double left = figure.lines     ? lines_left(figure, face, layout) + m.label_gap
                  : row_labels > 0 ? row_labels + m.label_gap
                                   : 0;
    if (!layout.rows.title.empty()) left += title_band;
    const double overhang = std::max(left, columns_left(figure, layout.columns));
    layout.matrix.x = m.margin + grid(overhang);
    layout.matrix.width = std::max(0, figure.columns * figure.cell_width() - figure.gap());
    layout.matrix.height = std::max(0, figure.rows * figure.cell_height() - figure.gap());

    const double right = std::max<double>(layout.matrix.right() + (figure.bar ? m.bar_gap + 64 : 0),
                                          columns_right(figure, layout));
    place_title(figure, face, layout, std::max<double>(right - m.margin, m.min_text_width));
    if (figure.title_over_matrix) layout.title.x = layout.matrix.x;
    const bool titled = layout.subtitle.bottom() > m.margin;
    const int labels = column_band(layout.columns, m.label_gap);
    const int band = labels + (layout.columns.title.empty() ? 0 : title_band);
    layout.matrix.y = layout.subtitle.bottom() + (titled ? m.title_gap : 0) +
                      std::max(figure.labels_below ? 0 : band, figure.lines ? k_caption_band : 0);
    const int below = figure.labels_below ? band : 0;
    layout.columns.title_at =
        figure.labels_below ? layout.matrix.bottom() + labels + title_band - 4 : layout.matrix.y - labels - 8;
    layout.rows.title_at = layout.matrix.x - m.label_gap - row_labels - 8;
    layout.lines.x = layout.matrix.x - m.label_gap - layout.row_label_width - k_line_gap - layout.lines.width;
    layout.lines.y = layout.matrix.y;

    Size content = place_bar(figure, face, layout);
    content.height = std::max({content.height, layout.matrix.bottom() + below, layout.lines.bottom()});
    content.width = std::max({content.width, static_cast<int>(std::ceil(columns_right(figure, layout))),
                              layout.title.right(), layout.subtitle.right()});
    if (figure.legend)
        content = place_legend(legend_items(figure), face, layout, content,
                               figure.is_of_lines() ? m.margin : layout.matrix.x, m.min_text_width);
    layout.size = {grid(content.width + m.margin), grid(content.height + m.margin)};
    layout.value_size = value_size(figure, face);
    return layout;
}

Size measure(const Figure& figure, const TextFace& face) { return lay_out(figure, face).size; }

void require_picture_size(Size size) {
    if (size.width <= k_max_picture_side && size.height <= k_max_picture_side &&
        std::int64_t{size.width} * size.height <= k_max_picture_pixels) {
        return;
    }
    throw Error(
        ErrorKind::too_large,
        fmt::format("the picture would have {} × {} pixels: use a smaller cell size or a shorter title",
                    size.width, size.height));
}

}  // namespace attnscope
