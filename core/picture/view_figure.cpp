#include "core/picture/view_figure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "core/graph/stage_table.h"
#include "core/image/patches.h"
#include "core/mechanism/mechanisms.h"
#include "core/mechanism/seq2seq/step_words.h"
#include "core/picture/axis_labels.h"
#include "core/picture/shown_matrix.h"

namespace attnscope {
namespace {

/// The row of the locked cell, if the rows of its stage are the queries.
std::optional<int> find_locked_query(const Presentation& presentation) {
    const StageInfo& info = info_of(presentation.locked_stage());
    if (!presentation.locked || info.rows != Axis::query_token) return std::nullopt;
    return presentation.locked->row;
}

const Stage* patch_weights(const Trace& trace) {
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

const Stage* aligned_stage(const Trace& trace) {
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

constexpr std::array k_views = {
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
