// The values that the cells of a custom matrix may hold.
#pragma once

#include <string>
#include <string_view>

#include "core/experiment/experiment.h"

namespace attnscope {

/// What is wrong with a value in a cell of `name` of overridable_matrices(), and which values are allowed:
/// "nan: a mask holds 1 (open) and 0 (closed)"; empty if it is allowed. Only masks are restricted; any other
/// matrix holds any number, including NaN and ±∞.
std::string why_not_custom(std::string_view name, float value);

/// Throws Error(bad_input), starting with `source` and naming the first cell that why_not_custom() refuses.
void check_custom_cells(std::string_view name, const Matrix& values, std::string_view source);
/// Checks every custom matrix of an experiment, each named as its own source. Reads every cell of the masks.
void check_custom_cells(const Experiment& experiment);

}  // namespace attnscope
