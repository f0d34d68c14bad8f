// A stage in words, read off the operation that computes it: its formula, caption, sentence and operands.
#pragma once

#include <string>

#include "core/graph/trace.h"

namespace attnscope {

/// The formula of a stage of the trace, for a title: "softmax( Q Kᵀ ÷ √d_k ) over keys, each row sums to 1".
std::string formula(const Trace& trace, const Stage& stage);

/// The short caption under a thumbnail: "÷ √d_k", "softmax", "causal".
std::string caption(const Trace& trace, const Stage& stage);

/// What the stage's operation does on the way from scores to weights: "Add the bias of each pair of query and
/// key to its score."; its formula where the operation has no sentence.
std::string sentence(const Trace& trace, const Stage& stage);

/// The matrices whose row and column meet in a cell of a stage, drawn at its left and above it.
struct StageOperands {
    const Stage* left = nullptr;   ///< its rows are the stage's rows; nullptr: none
    const Stage* above = nullptr;  ///< its columns, or rows if it is transposed, are the stage's columns
    bool is_transposed = false;    ///< the upper one
};
StageOperands operands(const Trace& trace, const Stage& stage);

}  // namespace attnscope
