// Each stage in words: its formula and caption.
#pragma once

#include <string>

#include "core/graph/trace.h"

namespace attnscope {

/// The formula of a stage under these settings, for a title: "softmax( Q Kᵀ ÷ √d_k ) over keys, each row sums
/// to 1".
std::string formula(const Experiment& experiment, const StageInfo& info);

/// What queries, keys and values are without projections: "Q = K = V = X".
std::string unprojected_text(const Experiment& experiment);

/// The short caption under a thumbnail: "÷ √d_k", "softmax", "causal".
std::string caption(const Experiment& experiment, const StageInfo& info);

}  // namespace attnscope
