#include "core/picture/view_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

#include "core/graph/stage_table.h"
#include "core/image/patches.h"
#include "core/mechanism/mechanisms.h"
#include "core/number_text.h"
#include "core/picture/axis_labels.h"
#include "core/picture/head_color.h"
#include "core/picture/head_names.h"
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
    figure.row_title = "rows of patches";
    figure.column_title = "columns of patches";
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
    set_title(
        figure, trace, presentation, stage_heading(stage.key()) + " of " + word,
        side_by_side(formula_shown(trace, stage, head),
                     {fmt::format("{0} × {0} patches of a picture", e.input.grid), head_fact(stage, head)}));
    figure.image = FigureImage{*e.input.image, patch_colors(e.input.image->image(), e.input.grid)};
    if (e.weighting.chooses_one_key())
        for (std::size_t i = 0; i < figure.values.size(); ++i)
            if (figure.values[i] == 1) figure.marks[i] = CellMark::chosen;
    return figure;
}

// ---- alignment

const Stage* aligned_stage(const Trace& trace, const StageKey&) {
    return mechanism_rule(trace.experiment.mechanism).is_recurrent ? &main_stage(trace) : nullptr;
}

/// Lines from the source's words to the decoder's steps beside the matrix of the alignment (after Bahdanau et
/// al. 2015, figure 3); without attention, the stage that replaces the alignment.
Figure make_alignment_figure(const Trace& trace, const Stage& stage, const HeadChoice& head,
                             const Presentation& presentation) {
    Figure figure = make_figure(trace, stage, head, presentation);
    const bool aligned = stage.info->role == StageRole::weights;
    figure.row_labels = row_words(trace, stage);
    const Stage& source = *trace.find(mechanism_of(trace.experiment).first.tokens);
    figure.lines = FigureLines{.words = axis_labels(trace, Axis::key_token, source.shape().rows),
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

/// The heads whose lines are drawn, from 0; −1: the mean.
std::vector<int> heads_of_lines(const Stage& stage, const HeadChoice& head) {
    if (head.kind == HeadChoice::Kind::all && stage.shape().heads > 1) {
        std::vector<int> all(static_cast<std::size_t>(stage.shape().heads));
        std::iota(all.begin(), all.end(), 0);
        return all;
    }
    const ShownMatrix shown = shown_matrix(stage, head_on_screen(stage, head));
    return {shown.mean ? -1 : shown.head};
}

/// The range that makes a line's strength of its weight; of several heads one for all.
ColorScale scale_of_lines(const Trace& trace, const Stage& stage, const HeadChoice& head,
                          const Presentation& presentation, bool of_several) {
    using Kind = RangeChoice::Kind;
    if (!of_several) return color_scale(trace, stage, head_on_screen(stage, head), presentation);
    Presentation one_range = presentation;
    const Kind kind = presentation.range.kind;
    if (kind != Kind::automatic && kind != Kind::fixed) one_range.range = {Kind::all};
    return color_scale(trace, stage, {}, one_range);
}

/// The lines in the colors of their heads, those of several heads beside each other.
void draw_lines_of(Figure& figure, const std::vector<MassLine>& lines, const std::vector<int>& heads,
                   const Stage& stage, const Presentation& presentation) {
    constexpr double k_apart = 0.16, k_all = 0.7;  // distances between words
    const auto count = static_cast<double>(heads.size());
    const double apart = std::min(k_apart, k_all / count);
    for (const MassLine& line : lines) {
        const auto place = std::ranges::find(heads, line.head) - heads.begin();
        figure.lines->drawn.push_back({.word = line.query,
                                       .row = line.key,
                                       .strength = std::clamp(line.weight / figure.scale.max, 0.0, 1.0),
                                       .color = head_color(*figure.theme, line.head, stage.shape().heads),
                                       .shift = (static_cast<double>(place) - (count - 1) / 2) * apart});
    }
    for (const int head : heads)
        if (heads.size() > 1)
            figure.lines->colors.push_back(
                {head_color(*figure.theme, head, stage.shape().heads),
                 head_title(presentation, stage.shape().heads, stage.layer, head)});
}

/// The two columns of words, without lines.
Figure figure_of_words(const Trace& trace, const Stage& stage, const MassLines& found,
                       const Presentation& presentation, const ColorScale& scale) {
    const int rows = stage.shape().columns, words = stage.shape().rows;
    const Experiment& e = trace.experiment;
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
    figure.lines = FigureLines{.words = found.queries,
                               .words_caption = std::string(axis_name(e, stage.info->rows)),
                               .rows_caption = std::string(axis_name(e, stage.info->columns)),
                               .row = -1,
                               .meeting = {},
                               .masked_words = found.masked_queries,
                               .numbers = {}};
    return figure;
}

/// Lines from the queries to the keys, by weight, in place of a matrix; of all heads if these are chosen
/// (after Vaswani et al. 2017, figures 3 to 5).
Figure make_lines_figure(const Trace& trace, const Stage& stage, const HeadChoice& head,
                         const Presentation& presentation) {
    const std::vector<int> heads = heads_of_lines(stage, head);
    const bool several = heads.size() > 1;
    const MassLines found = find_mass_lines(trace, stage, heads, presentation.mass);
    const auto query = query_alone(trace, stage, presentation);
    std::vector<MassLine> lines = query ? lines_of_query(stage, found, *query) : found.strongest;
    if (!query) {
        lines.resize(std::min(lines.size(), k_most_drawn_lines));
        std::ranges::reverse(lines);
    }
    const auto count = query ? static_cast<std::int64_t>(lines.size()) : found.count;
    Figure figure = figure_of_words(trace, stage, found, presentation,
                                    scale_of_lines(trace, stage, head, presentation, several));
    figure.lines->single_word = query.has_value();
    draw_lines_of(figure, lines, heads, stage, presentation);
    // The numbers of several heads would not say which is whose.
    if (query && !several) figure.lines->numbers = numbers_of(lines, found.keys.size());
    const std::string of = query ? " of “" + found.queries[static_cast<std::size_t>(*query)] + "”" : "";
    const HeadChoice shown = several ? HeadChoice{} : head_on_screen(stage, head);
    set_title(figure, trace, presentation, stage_heading(stage.key()) + of,
              side_by_side(formula_shown(trace, stage, shown),
                           {mass_text(presentation.mass, lines.size(), count),
                            several ? fmt::format("{} heads", heads.size()) : head_fact(stage, shown)}));
    return figure;
}

constexpr std::array k_views = {
    ViewFigure{ViewKind::lines, true, "lines-view", "attention weights", lines_stage, make_lines_figure},
    ViewFigure{ViewKind::image, false, "image-view", "a picture (--image)", patch_weights, make_image_figure},
    ViewFigure{ViewKind::alignment, false, "alignment-view", "an encoder and a decoder (--mechanism seq2seq)",
               aligned_stage, make_alignment_figure},
};

}  // namespace

const ViewFigure* find_view_figure(ViewKind view) {
    for (const ViewFigure& each : k_views)
        if (each.view == view) return &each;
    return nullptr;
}

int locked_query(const Presentation& presentation, int queries) {
    return std::clamp(find_locked_query(presentation).value_or(0), 0, queries - 1);
}

}  // namespace attnscope
