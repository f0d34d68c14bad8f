#include "core/picture/compose.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/graph/formula.h"
#include "core/mechanism/mechanisms.h"
#include "core/number_text.h"
#include "core/picture/axis_labels.h"
#include "core/picture/head_names.h"
#include "core/picture/shown_matrix.h"
#include "core/picture/spread.h"
#include "core/picture/step_sheet.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

/// Everything that a sheet is composed of.
struct Source {
    const Trace& trace;
    const Stage& stage;
    const HeadChoice& head;
    const Presentation& presentation;
    const std::optional<PinnedSide>& pinned;
};

/// The rows of a decoder's steps have the words that it predicts, as papers have them, rather than what each
/// step reads and predicts ("un→chat").
void name_rows_by_words(Figure& figure, const Trace& trace, const Stage& stage) {
    const Mechanism& mechanism = mechanism_of(trace.experiment);
    if (!mechanism.query_words || stage.info->rows != Axis::query_token) return;
    std::vector<std::string> words = row_words(trace, stage);
    if (words.size() != figure.row_labels.size()) return;
    figure.row_labels = std::move(words);
    if (!figure.row_title.empty()) figure.row_title = mechanism.query_words_name;
}

/// The figure without what the sheet shows for all of them.
Figure panel_of(const Trace& trace, const Stage& stage, const HeadChoice& head,
                const Presentation& presentation, std::string title) {
    Figure figure = make_figure(trace, stage, head, presentation);
    name_rows_by_words(figure, trace, stage);
    figure.type = FigureType::panel;
    figure.title = std::move(title);
    figure.subtitle.clear();
    figure.range_caption.clear();
    figure.bar = figure.legend = false;
    return figure;
}

/// "Q", or "query" for a stage without a symbol.
std::string short_name(const StageInfo& info) {
    return info.symbol.empty() ? stage_heading(info) : std::string(info.symbol);
}

/// The ends of a scale: "0 … 0.856", of a diverging one "±5.66"; empty for whole numbers and masks.
std::string range_of(const Figure& figure) {
    const bool has_scale = figure.unit == Unit::real || figure.unit == Unit::probability;
    if (!has_scale) return "";
    const ColorScale& scale = figure.scale;
    return scale.map->diverging ? "±" + short_text(scale.max)
                                : short_text(scale.min) + " … " + short_text(scale.max);
}

Figure transposed(const Figure& figure) {
    Figure turned = figure;
    turned.rows = figure.columns;
    turned.columns = figure.rows;
    std::swap(turned.row_labels, turned.column_labels);
    std::swap(turned.row_title, turned.column_title);
    std::swap(turned.row_axis, turned.column_axis);
    std::swap(turned.fully_masked, turned.fully_masked_columns);
    std::swap(turned.row_height, turned.column_width);
    for (int r = 0; r < figure.rows; ++r)
        for (int c = 0; c < figure.columns; ++c) {
            turned.values[turned.cell(c, r)] = figure.values[figure.cell(r, c)];
            turned.marks[turned.cell(c, r)] = figure.marks[figure.cell(r, c)];
        }
    return turned;
}

void without_row_labels(Figure& figure) {
    figure.row_labels.clear();
    figure.row_title.clear();
}

void without_column_labels(Figure& figure) {
    figure.column_labels.clear();
    figure.column_title.clear();
}

// ---- one matrix, and what it is computed from

Sheet alone(const Source& from, const Figure& whole) { return sheet_of(whole, from.presentation); }

std::string always(const Source&) { return ""; }

std::string why_no_operands(const Source& from) {
    const StageOperands operands = attnscope::operands(from.trace, from.stage);
    if (operands.left || operands.above) return "";
    return stage_heading(from.stage.key()) + " has no operands beside its rows and columns";
}

/// The size of an operand's cells along its features, of which it may have many, relative to the cells of the
/// result: all features together are at most a third as long as the side of the result beside them.
double squeeze_of(Axis axis, int features, int beside) {
    return is_of_features(axis) ? std::min(1.0, 0.35 * beside / features) : 1;
}

Sheet with_operands(const Source& from, const Figure& whole) {
    Sheet sheet;
    Figure result = sheet_of(whole, from.presentation).panels.front().figure;
    result.title = short_name(*from.stage.info);
    const StageOperands operands = attnscope::operands(from.trace, from.stage);
    const auto figure_of = [&](const Stage& stage) {
        const HeadChoice head = head_on_screen(stage, from.head);
        return panel_of(from.trace, stage, head, from.presentation, short_name(*stage.info));
    };
    if (operands.above) {
        Figure above = figure_of(*operands.above);
        if (operands.is_transposed) above = transposed(above);
        if (operands.is_transposed) above.title += "ᵀ";
        above.title += "  " + range_of(above);
        const double squeeze = squeeze_of(above.row_axis, above.rows, result.rows);
        sheet.panels.push_back({.figure = std::move(above), .row = 0, .column = 1, .row_squeeze = squeeze});
        // The columns are named above the upper operand.
        without_column_labels(result);
    }
    if (operands.left) {
        Figure left = figure_of(*operands.left);
        left.title += "  " + range_of(left);
        // Both operands have the same features or keys, which the upper one names.
        if (operands.above) without_column_labels(left);
        const double squeeze = squeeze_of(left.column_axis, left.columns, result.columns);
        sheet.panels.push_back({.figure = std::move(left), .row = 1, .column = 0, .column_squeeze = squeeze});
        without_row_labels(result);
    }
    sheet.panels.push_back({.figure = std::move(result), .row = 1, .column = 1});
    return sheet;
}

// ---- every head, of every layer

/// The stage in every layer; the stage alone where there are no layers.
std::vector<const Stage*> in_every_layer(const Trace& trace, const Stage& stage) {
    std::vector<const Stage*> stages;
    for (int layer = 1; stage.layer > 0 && layer <= layers_of(trace); ++layer) {
        StageKey key = stage.key();
        key.layer = layer;
        if (const Stage* other = trace.find(key)) stages.push_back(other);
    }
    return stages.empty() ? std::vector<const Stage*>{&stage} : stages;
}

std::string why_no_heads(const Source& from) {
    const bool many = from.stage.shape().heads > 1 || in_every_layer(from.trace, from.stage).size() > 1;
    return many ? "" : stage_heading(from.stage.key()) + " has one head: choose heads 2 or more";
}

/// The heads of one layer stand in lines of about this many.
int heads_in_a_line(int heads) {
    return heads <= 4 ? heads : static_cast<int>(std::ceil(std::sqrt(1.5 * heads)));
}

/// The presentation with one range for all heads of these layers.
Presentation on_range_of(const std::vector<const Stage*>& layers, const Source& from) {
    Presentation one_range = from.presentation;
    if (one_range.range.kind == RangeChoice::Kind::fixed) return one_range;
    Presentation all = from.presentation;
    all.range = {RangeChoice::Kind::all};
    double min = 0, max = 0;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const ColorScale scale = color_scale(from.trace, *layers[i], {}, all);
        min = i == 0 ? scale.min : std::min(min, scale.min);
        max = i == 0 ? scale.max : std::max(max, scale.max);
    }
    one_range.range = {RangeChoice::Kind::fixed, min, max};
    return one_range;
}

/// Labels stand at the edges of the whole, the columns' below the last panel of each: a name is then next to
/// its matrix.
void label_at_the_edges(std::vector<SheetPanel>& panels) {
    for (SheetPanel& panel : panels) {
        panel.figure.labels_below = true;
        if (panel.column > 0) without_row_labels(panel.figure);
        const bool has_below = std::ranges::any_of(panels, [&](const SheetPanel& other) {
            return other.row == panel.row + 1 && other.column == panel.column;
        });
        if (has_below) without_column_labels(panel.figure);
    }
}

std::vector<std::string> numbers_up_to(std::size_t count) {
    std::vector<std::string> numbers;
    for (std::size_t i = 1; i <= count; ++i) numbers.push_back(std::to_string(i));
    return numbers;
}

Sheet every_head(const Source& from, const Figure& whole) {
    const std::vector<const Stage*> layers = in_every_layer(from.trace, from.stage);
    const bool stacked = layers.size() > 1;
    const int heads = from.stage.shape().heads;
    const Presentation one_range = on_range_of(layers, from);
    Sheet sheet;
    sheet.one_scale = true;
    const int line = stacked ? heads : heads_in_a_line(heads);
    for (std::size_t layer = 0; layer < layers.size(); ++layer)
        for (int head = 0; head < heads; ++head)
            sheet.panels.push_back(
                {.figure = panel_of(from.trace, *layers[layer], {HeadChoice::Kind::one, head}, one_range,
                                    stacked ? head_name(one_range, heads, static_cast<int>(layer) + 1, head)
                                            : head_title(one_range, heads, 0, head)),
                 .row = static_cast<int>(layer) + head / line,
                 .column = head % line});
    label_at_the_edges(sheet.panels);
    if (stacked) {
        sheet.row_axis = {"layers", numbers_up_to(layers.size())};
        sheet.column_axis = {"heads", numbers_up_to(static_cast<std::size_t>(heads))};
        sheet.may_be_dense = true;
    }
    if (from.presentation.range.kind == RangeChoice::Kind::fixed)
        sheet.panels.front().figure.range_caption = whole.range_caption;
    return sheet;
}

// ---- every stage

Sheet every_stage(const Source& from, const Figure&) {
    Sheet sheet;
    sheet.flows = true;
    for (const StagePtr& stage : from.trace.stages()) {
        const bool other_layer = stage->layer > 0 && stage->layer != from.presentation.layer();
        if (stage->info->unit == Unit::token_id || is_parameter(*stage->info) || other_layer) continue;
        const HeadChoice head = head_on_screen(*stage, from.head);
        if (!why_not_shown(*stage, head).empty()) continue;
        Figure figure = panel_of(from.trace, *stage, head, from.presentation, stage_heading(stage->key()));
        if (const std::string range = range_of(figure); !range.empty()) figure.title += "  " + range;
        const bool repeats =
            !sheet.panels.empty() && sheet.panels.back().figure.row_labels == figure.row_labels;
        const double squeeze = squeeze_of(figure.column_axis, figure.columns, 3 * figure.rows);
        sheet.panels.push_back(
            {.figure = std::move(figure), .repeats_rows = repeats, .column_squeeze = squeeze});
    }
    return sheet;
}

// ---- A, B and B − A

/// B, for as long as the source lives.
ComparedSide live_side(const Source& from) {
    return {std::shared_ptr<const Trace>(std::shared_ptr<void>(), &from.trace), from.head,
            std::max(1, from.stage.layer)};
}

std::string why_not_compared_with(const Source& from) {
    if (!from.pinned) return "nothing is pinned as A: press P in the window, or name it with --compare-with";
    return why_no_difference(from.pinned->side, live_side(from), from.stage.key());
}

Figure difference_figure(const Figure& b, const Difference& difference) {
    Figure figure = b;
    const ConstMatrixView values = difference.values->head(0), open = difference.open->head(0);
    for (std::size_t i = 0; i < figure.values.size(); ++i) {
        const float value = figure.values[i] = values.data()[i];
        const bool closed = b.marks[i] == CellMark::masked;
        figure.marks[i] = open.data()[i] == 0  ? (closed ? CellMark::masked : CellMark::not_compared)
                          : std::isnan(value)  ? CellMark::nan
                          : !std::isinf(value) ? CellMark::value
                          : value > 0          ? CellMark::plus_infinity
                                               : CellMark::minus_infinity;
    }
    figure.scale = difference_scale(difference);
    figure.unit = Unit::real;
    figure.clipped_above = figure.clipped_below = false;
    figure.title = "B − A";
    return figure;
}

Sheet compared(const Source& from, const Figure&) {
    const ComparedSide &a = from.pinned->side, live = live_side(from);
    const Difference found = *difference(a, live, from.stage.key());
    const Stage& of_a = *a.find(from.stage.key());
    const HeadChoice head_a = head_on_screen(of_a, a.head);
    const ColorScale scale_a = color_scale(*a.trace, of_a, head_a, from.presentation),
                     scale_b = color_scale(from.trace, from.stage, from.head, from.presentation);
    Presentation both = from.presentation;
    both.range = {RangeChoice::Kind::fixed, std::min(scale_a.min, scale_b.min),
                  std::max(scale_a.max, scale_b.max)};
    const auto named = [](const char* name, const std::string& about) {
        return about.empty() ? name : fmt::format("{}  {}", name, about);
    };
    Figure left = panel_of(*a.trace, of_a, head_a, both, named("A", from.pinned->about_a)),
           right = panel_of(from.trace, from.stage, from.head, both, named("B", from.pinned->about_b));
    Figure change = difference_figure(right, found);
    right.bar = change.bar = true;
    // Side by side; wide matrices stand below each other.
    const bool stacked = right.columns > 3 * right.rows;
    if (stacked && left.column_labels == right.column_labels) without_column_labels(right);
    if (stacked) without_column_labels(change);
    const bool same_rows = left.row_labels == right.row_labels;
    left.bar = stacked;
    Sheet sheet;
    sheet.is_series = !stacked;
    const auto add = [&](Figure& figure, bool repeats_rows) {
        const int place = static_cast<int>(sheet.panels.size());
        sheet.panels.push_back({.figure = std::move(figure),
                                .row = stacked ? place : 0,
                                .column = stacked ? 0 : place,
                                .repeats_rows = repeats_rows});
    };
    add(left, false);
    add(right, same_rows);
    add(change, true);
    return sheet;
}

// ---- one row, step by step

std::string why_not_step_by_step(const Source& from) {
    return why_no_step_sheet(from.trace, from.stage, from.head);
}

Sheet step_by_step(const Source& from, const Figure&) {
    return sheet_of_steps(from.trace, from.stage, from.head, from.presentation);
}

// ---- every frame of a film, which is made of several traces

std::string why_not_a_film(const Source&) {
    return "a film has several frames: set their number with --film";
}

/// What a value of Compose means; in its order.
struct Composition {
    Compose compose;
    std::string (*why_not)(const Source& from);
    /// `whole` is the figure of the stage, of which the sheet has the title.
    Sheet (*make)(const Source& from, const Figure& whole);
    bool is_of_stage;           ///< the stage names it
    bool has_its_facts;         ///< the formula and the head of that stage are those of the whole picture
    bool names_itself = false;  ///< its sheet has a title and facts of its own
};
constexpr Composition composition_of(Compose compose) {
    switch (compose) {
        case Compose::none: return {compose, always, alone, true, true};
        case Compose::operands: return {compose, why_no_operands, with_operands, true, true};
        case Compose::heads: return {compose, why_no_heads, every_head, true, false};
        case Compose::strip: return {compose, always, every_stage, false, false};
        case Compose::compare: return {compose, why_not_compared_with, compared, true, false};
        case Compose::steps: return {compose, why_not_step_by_step, step_by_step, true, true, true};
        case Compose::film: return {compose, why_not_a_film, alone, true, false};
    }
    return {};
}

}  // namespace

bool is_sheet(const Presentation& presentation) {
    return presentation.width || presentation.compose != Compose::none;
}

namespace {

/// Why a composition is not made; empty if it is. Of a very long text there are pictures of single matrices.
std::string why_not_made(const Composition& composition, const Source& from) {
    const bool alone = composition.compose == Compose::none || composition.compose == Compose::film;
    if (from.trace.is_on_demand() && !alone)
        return fmt::format("pictures with {} are for up to {} tokens, and this text is longer",
                           name_of(composition.compose), k_max_tokens);
    return composition.why_not(from);
}

}  // namespace

std::string why_not_composed(Compose compose, const Trace& trace, const Stage& stage, const HeadChoice& head,
                             const std::optional<PinnedSide>& pinned) {
    return why_not_made(composition_of(compose), {trace, stage, head, Presentation{}, pinned});
}

Sheet sheet_of(Figure figure, const Presentation& presentation) {
    Sheet sheet;
    sheet.title = std::exchange(figure.title, "");
    sheet.typesets_title = figure.typesets_title;
    sheet.subtitle = std::exchange(figure.subtitle, "");
    sheet.theme = figure.theme;
    sheet.paper = presentation.paper();
    figure.type = FigureType::panel;
    using Range = RangeChoice::Kind;
    const Range range = presentation.range.kind;
    if (range == Range::matrix || range == Range::automatic) figure.range_caption.clear();
    figure.legend = false;
    sheet.panels.push_back({.figure = std::move(figure)});
    return sheet;
}

Sheet sheet_of_heads(const ViewFigure& view, const Trace& trace, const Stage& stage,
                     const Presentation& presentation) {
    Sheet sheet;
    sheet.is_series = true;
    const int heads = stage.shape().heads, line = heads_in_a_line(heads);
    for (int head = 0; head < heads; ++head) {
        Figure figure = view.make(trace, stage, {HeadChoice::Kind::one, head}, presentation);
        figure.type = FigureType::panel;
        figure.title = head_title(presentation, heads, stage.layer, head);
        figure.subtitle.clear();
        figure.legend = false;
        figure.lines->numbers.clear();
        sheet.panels.push_back({.figure = std::move(figure), .row = head / line, .column = head % line});
    }
    const Figure all = view.make(trace, stage, {HeadChoice::Kind::all}, presentation);
    sheet.title = all.title;
    sheet.subtitle = all.subtitle;
    sheet.theme = all.theme;
    sheet.paper = presentation.paper();
    return sheet;
}

Presentation on_one_range(std::span<const SheetFrame> frames, Presentation presentation) {
    presentation.range = range_across_steps(*frames.front().stage, presentation.range);
    if (presentation.range.kind == RangeChoice::Kind::fixed) return presentation;
    std::optional<ColorScale> all;
    for (const SheetFrame& frame : frames) {
        const ColorScale own = color_scale(*frame.trace, *frame.stage, frame.head, presentation);
        all = all ? ColorScale{own.map, std::min(all->min, own.min), std::max(all->max, own.max), own.spacing}
                  : own;
    }
    presentation.range = {RangeChoice::Kind::fixed, all->min, all->max};
    return presentation;
}

namespace {

/// A figure of other numbers in the cells of `like`; those that are closed in every frame stay so.
Figure figure_of(const Figure& like, const Matrix& values, const Matrix& open, std::string title) {
    Figure figure = like;
    for (std::size_t i = 0; i < figure.values.size(); ++i) {
        figure.values[i] = values.data()[i];
        figure.marks[i] = open.data()[i] == 0            ? CellMark::masked
                          : std::isnan(values.data()[i]) ? CellMark::nan
                                                         : CellMark::value;
    }
    figure.title = std::move(title);
    return figure;
}

}  // namespace

Sheet contact_sheet(std::span<const SheetFrame> frames, const Presentation& presentation, bool statistics) {
    const Presentation one_range = on_one_range(frames, presentation);
    Sheet sheet;
    sheet.one_scale = true;
    std::vector<MaskedMatrix> matrices;
    if (statistics)
        for (const SheetFrame& frame : frames)
            matrices.push_back(masked_matrix(*frame.trace, *frame.stage, frame.head));
    const std::optional<Spread> spread = spread_of(matrices);
    const int count = static_cast<int>(frames.size()) + (spread ? 2 : 0), line = heads_in_a_line(count);
    const auto add = [&](Figure figure) {
        const int index = static_cast<int>(sheet.panels.size());
        sheet.panels.push_back({.figure = std::move(figure), .row = index / line, .column = index % line});
    };
    for (const SheetFrame& frame : frames) {
        Figure figure = panel_of(*frame.trace, *frame.stage, frame.head, one_range, frame.name);
        if (frame.marks_centers) figure.centers = window_centers(*frame.trace, frame.head);
        add(std::move(figure));
    }
    if (spread) {
        const SheetFrame& first = frames.front();
        const Figure like = panel_of(*first.trace, *first.stage, first.head, one_range, "");
        add(figure_of(like, spread->mean, spread->count, "mean"));
        Figure deviation = figure_of(like, spread->deviation, spread->count, "");
        const double largest = std::max<double>(spread->largest_deviation(), 1e-30);
        deviation.scale = {&colormap_of(presentation.colormap), 0, largest, ColorSpacing::linear};
        deviation.title = fmt::format("spread  0 … {}", short_text(largest));
        add(std::move(deviation));
    }
    label_at_the_edges(sheet.panels);
    sheet.theme = &theme_of(presentation.theme);
    sheet.paper = presentation.paper();
    sheet.title = presentation.title.value_or(capitalized(stage_heading(*frames.front().stage->info)));
    return sheet;
}

Sheet compose(const Trace& trace, const Stage& stage, const HeadChoice& head,
              const Presentation& presentation, const std::optional<PinnedSide>& pinned) {
    const Composition composition = composition_of(presentation.compose);
    const HeadChoice shown = head_on_screen(stage, head);
    const Source from{trace, stage, shown, presentation, pinned};
    if (const std::string why = why_not_made(composition, from); !why.empty())
        throw Error(ErrorKind::bad_input, why);
    Figure whole = make_figure(trace, stage, shown, presentation);
    name_rows_by_words(whole, trace, stage);
    Sheet sheet = composition.make(from, whole);
    sheet.theme = whole.theme;
    sheet.paper = presentation.paper();
    if (composition.names_itself) {
        sheet.title = presentation.title.value_or(sheet.title);
        if (sheet.title.empty()) sheet.subtitle.clear();
        return sheet;
    }
    const std::string name =
        composition.has_its_facts ? stage_heading(stage.key()) : stage_heading(*stage.info);
    sheet.title = presentation.title.value_or(composition.is_of_stage ? name : "");
    sheet.typesets_title = !presentation.title;
    if (composition.has_its_facts && !sheet.title.empty()) sheet.subtitle = whole.subtitle;
    if (!composition.has_its_facts && !sheet.title.empty() && presentation.title && composition.is_of_stage)
        sheet.subtitle = name;
    return sheet;
}

}  // namespace attnscope
