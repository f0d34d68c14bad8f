// The words or numbers beside the rows and above the columns of a matrix.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/graph/trace.h"

namespace attnscope {

/// The first `count` labels, as by Trace::label().
std::vector<std::string> axis_labels(const Trace& trace, Axis axis, int count);
/// All labels of a stage, as by Trace::row_label() and Trace::column_label().
std::vector<std::string> row_labels(const Trace& trace, const Stage& stage);
std::vector<std::string> column_labels(const Trace& trace, const Stage& stage, int head);
/// What the rows of a stage are called beside words: of a decoder's steps the words that it predicts, else
/// row_labels().
std::vector<std::string> row_words(const Trace& trace, const Stage& stage);

/// "queries", "keys", "features", "words"; for a decoder "steps" and "source words". Empty for a single
/// column.
std::string_view axis_name(const Experiment& experiment, Axis axis);

}  // namespace attnscope
