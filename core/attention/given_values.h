// What the cells of a matrix that is given may hold.
#pragma once

#include <string>
#include <string_view>

#include "core/attention/experiment.h"

namespace attnscope {

/// What is wrong with a number in a cell of `name` of given_names(), and what it may be: "nan: a mask holds 1
/// (may look) and 0 (closed)"; empty if nothing is. Masks alone are particular; any other matrix holds any
/// number, NaN and ±∞ too.
std::string why_not_given(std::string_view name, float value);

/// Throws Error(bad_input) that begins with `source` and names the first cell that why_not_given() refuses.
void check_given_cells(std::string_view name, const Matrix& values, std::string_view source);
/// The same for all that an experiment is given, each as its own source. Reads every cell of the masks.
void check_given_cells(const Experiment& experiment);

}  // namespace attnscope
