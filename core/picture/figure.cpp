#include "core/picture/figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>

#include "core/cpu/row_blocks.h"
#include "core/error.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/mechanisms.h"
#include "core/number_text.h"
#include "core/picture/axis_labels.h"
#include "core/picture/figure_cells.h"
#include "core/picture/shown_matrix.h"

namespace attnscope {
namespace {

/// Left out at the start of a line.
const std::string k_between = "\u00A0\u00A0·  ";

/// The maximum part of a picture's side, in pixels, for labels, color bar, title and margins.
constexpr int k_surroundings = 900;

/// Replaces spaces by non-breaking ones.
std::string unbroken(std::string_view part) {
    std::string text;
    for (const char c : part) text += c == ' ' ? std::string("\u00A0") : std::string(1, c);
    return text;
}

std::string subtitle_of(const Trace& trace, const Stage& stage, const ShownMatrix& shown,
                        const HeadChoice& head) {
    const Experiment& e = trace.experiment;
    const std::string rows(axis_name(e, stage.info->rows)), columns(axis_name(e, stage.info->columns));
    return side_by_side(
        formula_shown(trace, stage, head),
        {fmt::format("{} × {}", shown.rows(), shown.columns()),
         rows + (rows.empty() || columns.empty() ? "" : " × ") + columns, head_fact(stage, head)});
}

/// The part of a matrix that a picture is of, and how far it is pooled: a cell stands for 2^level × 2^level.
struct Part {
    Region region;
    int level = 0;

    int pooled(int first, int count) const { return ((first + count - 1) >> level) - (first >> level) + 1; }
    int rows() const { return pooled(region.row, region.rows); }
    int columns() const { return pooled(region.column, region.columns); }
    /// In cells of the level.
    Region cells() const { return {region.row >> level, region.column >> level, rows(), columns()}; }
};

/// Which part of a stage is shown, and how many pairs a cell stands for.
std::vector<std::string> part_facts(const Stage& stage, const Part& part, Pool pool) {
    const Region& region = part.region;
    std::vector<std::string> facts;
    if (region != Region{0, 0, stage.shape().rows, stage.shape().columns})
        facts.push_back(region.rows == 1
                            ? ""
                            : fmt::format("queries {} to {}, keys {} to {}", region.row + 1, region.end_row(),
                                          region.column + 1, region.end_column()));
    if (part.level > 0)
        facts.push_back(fmt::format("the {0} of {1} × {1} pairs", name_of(pool), 1 << part.level));
    return facts;
}

CellMark mark_of(float value) {
    if (std::isnan(value)) return CellMark::nan;
    if (std::isinf(value)) return value > 0 ? CellMark::plus_infinity : CellMark::minus_infinity;
    return CellMark::value;
}

/// Queries or keys of a picture above which it is pooled; on paper as many as its width has room for.
int most_cells(const Presentation& presentation) {
    constexpr double k_surrounding_millimeters = 40, k_smallest_cell = 0.28;  // a unit of type of 8 points
    const double unit = k_smallest_cell * presentation.font_size / 8;
    if (!presentation.width) return presentation.max_cells;
    const double room = (*presentation.width - k_surrounding_millimeters * presentation.font_size / 8) / unit;
    return std::clamp(static_cast<int>(room), k_least_max_cells, presentation.max_cells);
}

/// Values that are in memory are never pooled. Where cells are pooled, the part grows to whole ones.
Part part_of(const Buffer& buffer, const Region& region, bool of_pairs, int most_cells) {
    Part part{region};
    while (buffer.on_demand() && of_pairs && std::max(part.rows(), part.columns()) > most_cells) ++part.level;
    const Region cells = part.cells();
    const auto end = [&](int at, int size) { return std::min(at << part.level, size); };
    part.region.row = cells.row << part.level;
    part.region.column = cells.column << part.level;
    part.region.rows = end(cells.end_row(), buffer.shape().rows) - part.region.row;
    part.region.columns = end(cells.end_column(), buffer.shape().columns) - part.region.column;
    return part;
}

/// Row-major.
LargeVector<float> values_of(const Buffer& buffer, int head, const Part& part, Pool pool) {
    if (part.level > 0) {
        const Matrix pooled = buffer.on_demand()->tile(head, part.level, pool, part.cells(), {});
        return {pooled.data(), pooled.data() + pooled.size()};
    }
    const Region& region = part.region;
    LargeVector<float> values(static_cast<std::size_t>(region.rows) *
                              static_cast<std::size_t>(region.columns));
    buffer.read(head, region, {values.data(), region.rows, region.columns});
    return values;
}

/// Not 0 at the open pairs of this head, or of any head for a mean, in this part; empty for a stage without a
/// mask.
LargeVector<float> open_pairs(const Trace& trace, const Stage& stage, const ShownMatrix& shown,
                              const Part& part) {
    const Stage* mask = trace.find(mask_of(*stage.info));
    if (!mask || mask->shape().rows != stage.shape().rows || mask->shape().columns != stage.shape().columns)
        return {};
    const auto open = [&](int head) { return values_of(mask->buffer, head, part, Pool::dominant); };
    const int heads = mask->shape().heads;
    if (!shown.mean) return open(std::min(shown.head, heads - 1));
    LargeVector<float> any = open(0);
    for (int h = 1; h < heads; ++h) std::ranges::transform(any, open(h), any.begin(), std::ranges::max);
    return any;
}

/// Marks the cells, and finds whether values exceed the ends of the scale. `open` is open_pairs().
void mark_cells(Figure& figure, const LargeVector<float>& open) {
    // Values are float32, while the ends of the scale may be rounded: an end that equals the value in float32
    // does not clip it.
    const auto min = static_cast<float>(figure.scale.min), max = static_cast<float>(figure.scale.max);
    figure.marks.resize(figure.values.size());
    std::atomic<bool> clipped_below = false, clipped_above = false;
    const auto mark_row = [&](std::ptrdiff_t row) {
        const auto begin = static_cast<std::size_t>(row) * static_cast<std::size_t>(figure.columns),
                   end = begin + static_cast<std::size_t>(figure.columns);
        bool below = false, above = false;  // not the figure's own, which each number would write
        for (std::size_t i = begin; i < end; ++i) {
            const float cell = figure.values[i];
            CellMark& mark = figure.marks[i] = mark_of(cell);
            if (figure.unit == Unit::boolean)
                mark = cell != 0 ? CellMark::open : CellMark::masked;
            else if (!open.empty() && open[i] == 0)
                mark = CellMark::masked;
            below |= mark == CellMark::value && cell < min;
            above |= mark == CellMark::value && cell > max;
        }
        if (below) clipped_below = true;
        if (above) clipped_above = true;
    };
    constexpr std::size_t k_many_cells = 1 << 16;
    if (figure.values.size() < k_many_cells)
        for (std::ptrdiff_t row = 0; row < figure.rows; ++row) mark_row(row);
    else
        run_parallel(figure.rows, mark_row);
    figure.clipped_below = clipped_below;
    figure.clipped_above = clipped_above;
}

void flag_fully_masked(Figure& figure, const Trace& trace, const Stage& stage, const ShownMatrix& shown,
                       const Part& part) {
    const auto head = shown.mean ? std::nullopt : std::optional(shown.head);
    for (int r = 0; r < figure.rows; ++r)
        figure.fully_masked.push_back(part.level == 0 &&
                                      trace.fully_masked(stage, part.region.row + r, head));
    for (int c = 0; c < figure.columns; ++c)
        figure.fully_masked_columns.push_back(part.level == 0 &&
                                              trace.fully_masked_column(stage, part.region.column + c, head));
}

/// The labels of a part's rows or columns; where cells are pooled, the number of each one's first token.
template <typename Label>
std::vector<std::string> labels_of(const Part& part, int first, int count, const Label& label) {
    std::vector<std::string> labels;
    if (part.level == 0)
        for (int i = first; i < first + count; ++i) labels.push_back(label(i));
    else
        for (int i = first >> part.level; i <= (first + count - 1) >> part.level; ++i)
            labels.push_back(fmt::format("{}", (i << part.level) + 1));
    return labels;
}

void require_cell_size(int size) {
    if (size < 1 || size > 512)
        throw Error(ErrorKind::bad_input, fmt::format("cell size {}: use 1 to 512 pixels", size));
}

}  // namespace

std::string side_by_side(const std::string& first, const std::vector<std::string>& others) {
    std::string text = first;
    for (const std::string& fact : others)
        if (!fact.empty()) text += k_between + unbroken(fact);
    return text;
}

std::vector<std::string> side_by_side_parts(std::string_view facts) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at != facts.npos;) {
        const std::size_t end = facts.find(k_between, at);
        parts.emplace_back(facts.substr(at, end == facts.npos ? end : end - at));
        at = end == facts.npos ? end : end + k_between.size();
    }
    return parts;
}

std::string side_by_side_lines(std::string_view facts, const std::function<bool(const std::string&)>& fits) {
    std::string text, line;
    for (const std::string& part : side_by_side_parts(facts)) {
        const std::string longer = line.empty() ? part : line + k_between + part;
        if (line.empty() || fits(longer)) {
            line = longer;
            continue;
        }
        text += line + "\n";
        line = part;
    }
    return text + line;
}

void set_title(Figure& figure, const Trace& trace, const Presentation& presentation, const std::string& name,
               const std::string& facts) {
    const bool titled = presentation.title.has_value();
    const std::string all = side_by_side(facts, {is_designed(trace.experiment) ? "designed" : ""});
    figure.title = presentation.title.value_or(name);
    figure.typesets_title = !titled;
    if (!figure.title.empty()) figure.subtitle = titled ? unbroken(name) + k_between + all : all;
}

std::string head_fact(const Stage& stage, const HeadChoice& head) {
    const int heads = stage.shape().heads;
    if (heads == 1) return "";
    return shown_matrix(stage, head).mean ? fmt::format("mean of {} heads", heads)
                                          : fmt::format("head {} of {}", head.head + 1, heads);
}

void require_drawable(std::string_view stage, int rows, int columns, int cell_size) {
    require_cell_size(cell_size);
    const auto fits = [&](std::int64_t cell) {
        const std::int64_t width = cell * columns + k_surroundings;
        const std::int64_t height = cell * rows + k_surroundings;
        return std::max(width, height) <= k_max_picture_side && width * height <= k_max_picture_pixels;
    };
    if (fits(cell_size)) return;
    int largest = cell_size - 1;
    while (largest > 0 && !fits(largest)) --largest;
    const std::string what = fmt::format(
        "a picture of \"{}\" ({} × {}) with cells of {} pixels is larger than {} pixels a side or {} "
        "megapixels: ",
        stage, rows, columns, cell_size, k_max_picture_side, k_max_picture_pixels >> 20);
    throw Error(ErrorKind::too_large,
                what + (largest > 0 ? fmt::format("use a cell size of at most {}", largest)
                                    : "export it as npy or csv instead"));
}

std::string Figure::text(std::size_t cell) const {
    using enum CellMark;
    const CellMark mark = marks[cell];
    if (mark == masked || mark == open || mark == chosen || mark == not_compared) return {};
    if (unit == Unit::token_id && mark == CellMark::value) return fixed_text(values[cell], 0);
    const bool rounded = decimals && mark == CellMark::value;
    if (rounded) return fixed_text(values[cell], *decimals);
    return unit == Unit::probability ? weight_text(values[cell]) : cell_text(values[cell]);
}

int cell_size_of(const Presentation& presentation, int rows, int columns) {
    constexpr double k_most_pixels = 1536.0 * 1536.0, k_longest = 4096, k_largest = 48;
    const double by_area = std::sqrt(k_most_pixels / (static_cast<double>(rows) * columns));
    const double by_side = k_longest / std::max(rows, columns);
    const double fitting = std::max(1.0, std::min({by_area, by_side, k_largest}));
    return presentation.cell_size.value_or(static_cast<int>(fitting));
}

namespace {

Figure figure_of(const Trace& trace, const Stage& stage, const HeadChoice& head,
                 const Presentation& presentation, const Region& region) {
    const ShownMatrix shown = shown_matrix(stage, head);
    const Pool pool = pooling_of(*stage.info, presentation);
    const Part part = part_of(*shown.buffer, region, is_of_pairs(*stage.info), most_cells(presentation));
    const int rows = part.rows(), columns = part.columns();
    const int cell_size = cell_size_of(presentation, rows, columns);
    require_cell_size(cell_size);
    if (static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns) > k_max_cell_shapes)
        require_drawable(stage.name(), rows, columns, cell_size);
    const ColorScale scale = color_scale(trace, stage, head, presentation);
    Figure figure{
        .title = {},
        .subtitle = {},
        .range_caption = range_caption(
            stage,
            shown.mean ? HeadChoice{HeadChoice::Kind::mean} : HeadChoice{HeadChoice::Kind::one, shown.head},
            presentation),
        .row_title = std::string(axis_name(trace.experiment, stage.info->rows)),
        .column_title = std::string(axis_name(trace.experiment, stage.info->columns)),
        .row_labels = labels_of(part, part.region.row, part.region.rows,
                                [&](int i) { return trace.row_label(stage, i); }),
        .column_labels = labels_of(part, part.region.column, part.region.columns,
                                   [&](int j) { return trace.column_label(stage, j, shown.head); }),
        .row_axis = stage.info->rows,
        .column_axis = stage.info->columns,
        .unit = stage.info->unit,
        .rows = rows,
        .columns = columns,
        .values = values_of(*shown.buffer, shown.head, part, pool),
        .marks = {},
        .fully_masked = {},
        .fully_masked_columns = {},
        .scale = scale,
        .image = {},
        .lines = {},
        .theme = &theme_of(presentation.theme),
        .cell_size = cell_size,
        .write_values = presentation.values,
        .decimals = presentation.decimals,
    };
    set_title(figure, trace, presentation, stage_heading(stage.key()),
              side_by_side(subtitle_of(trace, stage, shown, head), part_facts(stage, part, pool)));
    mark_cells(figure, open_pairs(trace, stage, shown, part));
    flag_fully_masked(figure, trace, stage, shown, part);
    return figure;
}

}  // namespace

Figure make_figure(const Trace& trace, const Stage& stage, const HeadChoice& head,
                   const Presentation& presentation) {
    return figure_of(trace, stage, head, presentation, exported_region(stage, presentation.region));
}

Figure make_row_figure(const Trace& trace, const Stage& stage, const HeadChoice& head,
                       const Presentation& presentation, int row) {
    return figure_of(trace, stage, head, presentation, {row, 0, 1, stage.shape().columns});
}

}  // namespace attnscope
