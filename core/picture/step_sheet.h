// The computation of one row of weights as a picture: its steps side by side, a row for each key.
#pragma once

#include <string>
#include <vector>

#include "core/graph/row_steps.h"
#include "core/picture/sheet.h"

namespace attnscope {

/// The range of a step's numbers on screen and in pictures; min ≤ 0 ≤ max, min < max.
struct StepRange {
    double min, max;
};

/// The ranges of all steps: raw and scaled scores share one, so do the weighted values and their sum, which
/// is symmetric, and includes the values if these are at most 2.5 times as large; weights and exponentials
/// have 0 … 1 or more, all others their own.
std::vector<StepRange> step_ranges(const RowSteps& row);
/// The largest magnitude of a value. There must be values.
double largest_value(const RowSteps& row);

/// The colors of a step's numbers: the colormap for weights and exponentials, else a diverging one.
ColorScale step_scale(const RowStep& step, const StepRange& range, ColormapKind colormap);

/// Why a stage has no steps to show in this head, in one line; empty if it has.
std::string why_no_step_sheet(const Trace& trace, const Stage& stage, const HeadChoice& head);

/// The steps of the locked cell's row, else of the first: a column of numbers for each, the values,
/// the weighted values, and their sum below these; with a title and its facts. `weights` must be
/// last_weights() of its layer. Throws as make_figure().
Sheet sheet_of_steps(const Trace& trace, const Stage& weights, const HeadChoice& head,
                     const Presentation& presentation);

}  // namespace attnscope
