#include "core/picture/view_figure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "core/graph/stage_table.h"
#include "core/image/patches.h"
#include "core/mechanism/mechanisms.h"
#include "core/mechanism/seq2seq/step_words.h"
#include "core/number_text.h"
#include "core/picture/axis_labels.h"
#include "core/picture/head_color.h"
#include "core/picture/mass_lines.h"
#include "core/picture/shown_matrix.h"

namespace attnscope {
namespace {

/// The row of the locked cell, if the rows of its stage are the queries.
std::optional<int> find_locked_query(const Presentation& presentation) {
    const StageInfo& info = info_of(presentation.locked_stage());
    if (!presentation.locked || info.rows != Axis::query_token) return std::nullopt;
    return presentation.locked->row;
}

const Stage* patch_weights(const Trace& trace, const StageKey&) {
    if (!trace.experiment.input.image || !trace.find("patches"_stage)) return nullptr;
    const Stage* dropped = trace.find("weights_dropped"_stage);
    return dropped ? dropped : trace.find("weights"_stage);
}

std::vector<Rgb8> patch_colors(const Image& image, int grid) {
    const Tensor means = image_patches(image, grid, 1);
    std::vector<Rgb8> colors;
    const auto channel = [&](int patch, int c) {
        return static_cast<std::uint8_t>(std::lround(means.head(0)(patch, c) * 255));
    };
    for (int patch = 0; patch < grid * grid; ++patch)
        colors.push_back({channel(patch, 0), channel(patch, 1), channel(patch, 2)});
    return colors;
}

/// Rearranges a figure of one query over grid² patches into `grid` rows.
void cut_into_patches(Figure& figure, int grid) {
    figure.rows = figure.columns = grid;
    figure.fully_masked.assign(static_cast<std::size_t>(grid), false);
    figure.fully_masked_columns = figure.fully_masked;
    figure.row_labels.clear();
    for (int i = 1; i <= grid; ++i) figure.row_labels.push_back(std::to_string(i));
    figure.column_labels = figure.row_labels;
    figure.row_axis = figure.column_axis = Axis::key_token;
}

/// The picture, and over each patch the weight that the query gives it (after Xu et al. 2015, figure 3).
Figure make_image_figure(const Trace& trace, const Stage& stage, const HeadChoice& head,
                         const Presentation& presentation) {
    const Experiment& e = trace.experiment;
    const int cell_size = cell_size_of(presentation, e.input.grid, e.input.grid);
    require_drawable("image", e.input.grid, e.input.grid, cell_size);
    const int query = locked_query(presentation, stage.shape().rows);
    Presentation row = presentation;
    row.cell_size = 1;  // a row of patches may be longer than a picture is wide
    Figure figure = make_row_figure(trace, stage, head, row, query);
    figure.cell_size = cell_size;
    cut_into_patches(figure, e.input.grid);
    const std::string word = "“" + trace.label(Axis::query_token, query) + "”";
    const std::string side = std::to_string(e.input.grid);
    set_title(figure, trace, presentation, stage_heading(stage.key()) + " of " + word,
              side_by_side(formula_shown(trace, stage, head),
                           {side + " × " + side + " patches of a picture", head_fact(stage, head)}));
    figure.image = FigureImage{*e.input.image, patch_colors(e.input.image->image(), e.input.grid)};
    if (e.weighting.normalizer == Normalization::hard)
        for (std::size_t i = 0; i < figure.values.size(); ++i)
            if (figure.values[i] == 1) figure.marks[i] = CellMark::chosen;
    return figure;
}

// ---- alignment

const Stage* aligned_stage(const Trace& trace, const StageKey&) {
    return trace.find("decoder_context"_stage) ? &main_stage(trace) : nullptr;
}

/// Lines from the source's words to the decoder's steps beside the matrix of the alignment (after Bahdanau et
/// al. 2015, figure 3); without attention, the stage that replaces the alignment.
Figure make_alignment_figure(const Trace& trace, const Stage& stage, const HeadChoice& head,
                             const Presentation& presentation) {
    Figure figure = make_figure(trace, stage, head, presentation);
    const bool aligned = stage.info->role == StageRole::weights;
    figure.row_labels = said_words(trace);
    figure.lines =
        FigureLines{.words = axis_labels(trace, Axis::key_token, trace.find("source"_stage)->shape().rows),
                    .words_caption = "source",
                    .rows_caption = "decoder",
                    .row = -1,
                    .meeting = aligned ? "" : "last state"};
    if (find_locked_query(presentation)) figure.lines->row = locked_query(presentation, figure.rows);
    if (!aligned) figure.subtitle += side_by_side("", {k_no_alignment});
    return figure;
}

// ---- lines

/// The query whose lines alone are drawn: that of the locked cell, if it is of this stage.
std::optional<int> query_alone(const Trace& trace, const Stage& stage, const Presentation& presentation) {
    const auto query = find_locked_query(presentation);
    if (!query || *query >= stage.shape().rows) return std::nullopt;
    return trace.find_chosen(presentation.locked_stage()) ? query : std::nullopt;
}

/// The distance between two words in pixels: as large as the page allows.
int pitch_of_words(const Presentation& presentation, int words) {
    constexpr int k_largest = 28, k_longest = 4096;
    return presentation.cell_size.value_or(std::clamp(k_longest / std::max(words, 1), 1, k_largest));
}

/// The numbers at the ends of a query's lines, for each key.
std::vector<std::string> numbers_of(const std::vector<MassLine>& lines, std::size_t keys) {
    std::vector<std::string> numbers(keys);
    for (const MassLine& line : lines) numbers[static_cast<std::size_t>(line.key)] = weight_text(line.weight);
    return numbers;
}

/// Lines from the queries to the keys, by weight, in place of a matrix.
Figure make_lines_figure(const Trace& trace, const Stage& stage, const HeadChoice& head,
                         const Presentation& presentation) {
    const ShownMatrix shown = shown_matrix(stage, head);
    const int heads = stage.shape().heads, only = shown.mean ? -1 : shown.head;
    const MassLines found = find_mass_lines(trace, stage, {only}, presentation.mass);
    const auto query = query_alone(trace, stage, presentation);
    std::vector<MassLine> lines = query ? lines_of_query(stage, found, *query) : found.strongest;
    if (!query) {
        lines.resize(std::min(lines.size(), k_most_drawn_lines));
        std::ranges::reverse(lines);
    }
    const auto count = query ? static_cast<std::int64_t>(lines.size()) : found.count;
    const ColorScale scale = color_scale(trace, stage, head, presentation);
    const int rows = stage.shape().columns, words = stage.shape().rows;
    Figure figure{.title = {},
                  .subtitle = {},
                  .range_caption = {},
                  .row_title = {},
                  .column_title = {},
                  .row_labels = found.keys,
                  .column_labels = {},
                  .row_axis = stage.info->columns,
                  .column_axis = Axis::single,
                  .unit = stage.info->unit,
                  .rows = rows,
                  .columns = 0,
                  .values = {},
                  .marks = {},
                  .fully_masked = found.masked_keys,
                  .fully_masked_columns = {},
                  .scale = scale,
                  .image = {},
                  .lines = {},
                  .theme = &theme_of(presentation.theme),
                  .cell_size = pitch_of_words(presentation, std::max(rows, words)),
                  .write_values = presentation.values};
    const Experiment& e = trace.experiment;
    figure.lines = FigureLines{.words = found.queries,
                               .words_caption = std::string(axis_name(e, stage.info->rows)),
                               .rows_caption = std::string(axis_name(e, stage.info->columns)),
                               .row = -1,
                               .meeting = {},
                               .color = head_color(*figure.theme, only, heads),
                               .single_word = query.has_value(),
                               .masked_words = found.masked_queries,
                               .numbers = {}};
    for (const MassLine& line : lines)
        figure.lines->drawn.push_back({line.query, line.key, std::clamp(line.weight / scale.max, 0.0, 1.0)});
    if (query) figure.lines->numbers = numbers_of(lines, found.keys.size());
    const std::string of = query ? " of “" + found.queries[static_cast<std::size_t>(*query)] + "”" : "";
    set_title(figure, trace, presentation, stage_heading(stage.key()) + of,
              side_by_side(formula_shown(trace, stage, head),
                           {mass_text(presentation.mass, lines.size(), count), head_fact(stage, head)}));
    return figure;
}

constexpr std::array k_views = {
    ViewFigure{ViewKind::lines, "lines-view", "attention weights", lines_stage, make_lines_figure},
    ViewFigure{ViewKind::image, "image-view", "a picture (--image)", patch_weights, make_image_figure},
    ViewFigure{ViewKind::alignment, "alignment-view", "an encoder and a decoder (--mechanism seq2seq)",
               aligned_stage, make_alignment_figure},
};

}  // namespace

std::span<const ViewFigure> view_figures() { return k_views; }

const ViewFigure* find_view_figure(ViewKind view) {
    for (const ViewFigure& each : k_views)
        if (each.view == view) return &each;
    return nullptr;
}

int locked_query(const Presentation& presentation, int queries) {
    return std::clamp(find_locked_query(presentation).value_or(0), 0, queries - 1);
}

}  // namespace attnscope
