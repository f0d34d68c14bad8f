// The words or numbers that stand beside the rows and above the columns of a matrix.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/attention/trace.h"

namespace attnscope {

/// The first `count` of Trace::label.
std::vector<std::string> axis_labels(const Trace& trace, Axis axis, int count);

/// "queries", "keys", "features", "words"; a decoder's queries are "steps" and its keys "source words". Empty
/// for a single column.
std::string_view axis_name(const Experiment& experiment, Axis axis);

}  // namespace attnscope
