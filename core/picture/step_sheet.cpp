#include "core/picture/step_sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/graph/formula.h"
#include "core/number_text.h"
#include "core/picture/shown_matrix.h"
#include "core/picture/view_figure.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

using StepKind = RowStep::Kind;

constexpr double k_flat = 0.5;              ///< the height of all cells, of their width
constexpr double k_products_width = 3;      ///< of all features together, in columns of numbers
constexpr std::size_t k_longest_title = 8;  ///< letters over a column of numbers

bool is_of_weights(StepKind kind) { return kind == StepKind::weights || kind == StepKind::exponentials; }

void set_value(Figure& figure, std::size_t cell, double value, bool closed) {
    figure.values[cell] = static_cast<float>(value);
    figure.marks[cell] = closed               ? CellMark::masked
                         : std::isnan(value)  ? CellMark::nan
                         : !std::isinf(value) ? CellMark::value
                         : value > 0          ? CellMark::plus_infinity
                                              : CellMark::minus_infinity;
}

/// A figure as a panel of the sheet, which has its title and its legend.
Figure panel(Figure figure) {
    figure.type = FigureType::panel;
    figure.title.clear();
    figure.subtitle.clear();
    figure.range_caption.clear();
    figure.bar = figure.legend = false;
    figure.title_over_matrix = true;
    figure.row_title.clear();
    figure.column_title.clear();
    return figure;
}

/// Keys as rows, without columns yet.
Figure of_keys(const Figure& row) {
    Figure figure = row;
    figure.rows = row.columns;
    figure.columns = 0;
    figure.row_labels = row.column_labels;
    figure.row_axis = row.column_axis;
    figure.column_labels.clear();
    figure.column_axis = Axis::single;
    figure.fully_masked.assign(figure.row_labels.size(), false);
    figure.fully_masked_columns.clear();
    return figure;
}

void resize(Figure& figure, int columns) {
    figure.columns = columns;
    const auto cells = static_cast<std::size_t>(figure.rows) * static_cast<std::size_t>(columns);
    figure.values.assign(cells, 0);
    figure.marks.assign(cells, CellMark::value);
}

Figure column_of(const Figure& keys, const RowSteps& row, std::size_t step, const StepRange& range,
                 ColormapKind colormap) {
    const RowStep& of = row.steps[step];
    Figure figure = keys;
    resize(figure, 1);
    // The mask closes a key from its stage on: before that it has a score like any other.
    for (std::size_t j = 0; j < of.numbers.size(); ++j) {
        const bool closed = row.closed[j] && (is_of_weights(of.kind) || of.numbers[j] == -INFINITY);
        set_value(figure, j, of.numbers[j], closed);
    }
    figure.scale = step_scale(of, range, colormap);
    figure.unit = is_of_weights(of.kind) ? Unit::probability : Unit::real;
    const bool is_short = count_code_points(of.title) <= k_longest_title;
    figure.title = is_short ? of.title : of.symbol;
    return figure;
}

/// The features of each key: its value, or its value times its weight.
Figure features_of(const Figure& keys, const RowSteps& row, std::vector<double> (*of)(const RowSteps&, int),
                   std::string_view symbol, const StepRange& range) {
    Figure figure = keys;
    resize(figure, row.values->shape().columns);
    for (int j = 0; j < figure.rows; ++j) {
        const std::vector<double> numbers = of(row, j);
        for (int k = 0; k < figure.columns; ++k)
            set_value(figure, figure.cell(j, k), numbers[static_cast<std::size_t>(k)],
                      row.closed[static_cast<std::size_t>(j)]);
    }
    figure.scale = {&diverging_colormap(), range.min, range.max};
    figure.unit = Unit::real;
    figure.title = fmt::format("{}  ±{}", symbol, short_text(range.max));
    return figure;
}

/// The sum of the products, with the labels of the row that it is.
Figure sum_of(const Trace& trace, const RowStep& step, const StepRange& range, const HeadChoice& head,
              const Presentation& presentation, int query) {
    Figure sum =
        panel(make_row_figure(trace, *step.stage, head_on_screen(*step.stage, head), presentation, query));
    sum.column_labels.clear();
    sum.scale = step_scale(step, range, presentation.colormap);
    sum.title = fmt::format("{}  ±{}", step.symbol.empty() ? step.title : step.symbol, short_text(range.max));
    return sum;
}

double largest_of(const std::vector<double>& numbers) {
    double largest = 0;
    for (const double each : numbers)
        if (std::isfinite(each)) largest = std::max(largest, std::abs(each));
    return largest;
}

/// The largest magnitude among the weighted values and their sum. Reads only the values that can have it,
/// since they may lie on the card.
double largest_product(const RowSteps& row) {
    double largest = largest_of(row.steps.back().numbers);
    const double bound = largest_value(row);
    for (int j = 0; j < row.keys(); ++j)
        if (std::abs(row.weights[static_cast<std::size_t>(j)]) * bound > largest)
            largest = std::max(largest, largest_of(weighted_value(row, j)));
    return largest;
}

/// The range of the products and their sum; of the values, too, unless these leave little of it to them.
StepRange range_of_products(const RowSteps& row) {
    constexpr double k_most_room = 2.5;
    if (!row.values) return {-1, 1};
    const double products = largest_product(row), values = largest_value(row);
    const double largest = values > products && values <= k_most_room * products ? values : products;
    return largest > 0 ? StepRange{-largest, largest} : StepRange{-1, 1};
}

}  // namespace

double largest_value(const RowSteps& row) {
    return row.values->buffer.range(std::min(row.head, row.values->shape().heads - 1)).magnitude();
}

std::vector<StepRange> step_ranges(const RowSteps& row) {
    StepRange scores{0, 0};
    const auto widen = [](StepRange& range, const RowStep& step) {
        for (const double each : step.numbers)
            if (std::isfinite(each)) range = {std::min(range.min, each), std::max(range.max, each)};
    };
    const StepRange products = range_of_products(row);
    // Biased and masked scores are compared with those before: one range for all of them.
    const auto are_scores = [](const RowStep& step) {
        return step.kind == StepKind::scores || (step.kind == StepKind::signed_ && step.stage);
    };
    for (const RowStep& step : row.steps)
        if (are_scores(step)) widen(scores, step);
    std::vector<StepRange> ranges;
    for (const RowStep& step : row.steps) {
        StepRange range{0, 0};
        switch (step.kind) {
            case StepKind::scores: range = scores; break;
            case StepKind::exponentials:
            case StepKind::weights: range.max = 1; [[fallthrough]];
            case StepKind::signed_:
                if (are_scores(step))
                    range = scores;
                else
                    widen(range, step);
                break;
            case StepKind::products:
            case StepKind::sum: range = products; break;
        }
        if (!(range.min < range.max)) range.max = range.min + 1;
        ranges.push_back(range);
    }
    return ranges;
}

ColorScale step_scale(const RowStep& step, const StepRange& range, ColormapKind colormap) {
    if (is_of_weights(step.kind)) return {&colormap_of(colormap), 0, range.max};
    const double most = std::max(-range.min, range.max);
    return {&diverging_colormap(), -most, most};
}

std::string why_no_step_sheet(const Trace& trace, const Stage& stage, const HeadChoice& head) {
    if (last_weights(trace, std::max(1, stage.layer)) != &stage)
        return "only a row of weights is computed step by step";
    if (head.kind == HeadChoice::Kind::mean && stage.shape().heads > 1)
        return "a mean over the heads is not computed step by step: choose one head";
    return "";
}

Sheet sheet_of_steps(const Trace& trace, const Stage& weights, const HeadChoice& head,
                     const Presentation& presentation) {
    const int query = locked_query(presentation, weights.shape().rows);
    const RowSteps row = row_steps(trace, weights, std::max(0, head.head), query);
    const std::vector<StepRange> ranges = step_ranges(row);
    const Figure of_row = panel(make_row_figure(trace, weights, head, presentation, query));
    const Figure keys = of_keys(of_row);
    const int features = row.values ? row.values->shape().columns : 1;
    const double narrow = std::min(1.0, k_products_width / features);
    Sheet sheet;
    sheet.title = fmt::format("{} of “{}”, step by step", stage_heading(*weights.info),
                              trace.row_label(weights, query));
    sheet.subtitle = side_by_side(formula(trace, weights), {head_fact(weights, head)});
    int column = 0;
    const auto add = [&](Figure figure, int line, int at, double squeeze) {
        sheet.panels.push_back({.figure = std::move(figure),
                                .row = line,
                                .column = at,
                                .repeats_rows = line == 0 && at > 0,
                                .row_squeeze = k_flat,
                                .column_squeeze = squeeze});
    };
    for (std::size_t i = 0; i < row.steps.size(); ++i) {
        const RowStep& step = row.steps[i];
        if (step.kind == StepKind::products) {
            const double of_values = std::max(ranges[i].max, largest_value(row));
            add(features_of(keys, row, value_of_key, row.values->info->symbol, {-of_values, of_values}), 0,
                column++, narrow);
            add(features_of(keys, row, weighted_value, step.symbol, ranges[i]), 0, column++, narrow);
        } else if (step.kind == StepKind::sum) {
            add(sum_of(trace, step, ranges[i], head, presentation, query), 1, column - 1, narrow);
        } else {
            add(column_of(keys, row, i, ranges[i], presentation.colormap), 0, column++, 1);
        }
    }
    return sheet;
}

}  // namespace attnscope
