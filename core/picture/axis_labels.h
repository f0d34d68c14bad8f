// The words or numbers beside the rows and above the columns of a matrix.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/graph/trace.h"

namespace attnscope {

/// The first `count` labels, as by Trace::label().
std::vector<std::string> axis_labels(const Trace& trace, Axis axis, int count);

/// "queries", "keys", "features", "words"; for a decoder "steps" and "source words". Empty for a single
/// column.
std::string_view axis_name(const Experiment& experiment, Axis axis);

}  // namespace attnscope
