// Each stage in words: its formula, caption and operands.
#pragma once

#include <string>

#include "core/attention/trace.h"

namespace attnscope {

/// Whether a stage is a parameter: the embedding table or weights, drawn rather than computed from tokens.
bool is_parameter(const StageInfo& info);

/// The formula of a stage under these settings, for a title: "softmax( Q Kᵀ ÷ √d_k ) over keys, each row sums
/// to 1".
std::string formula(const Experiment& experiment, const StageInfo& info);

/// What queries, keys and values are without projections: "Q = K = V = X".
std::string unprojected_text(const Experiment& experiment);

/// The short caption under a thumbnail: "÷ √d_k", "softmax", "causal".
std::string caption(const Experiment& experiment, const StageInfo& info);

/// The main result: `weights`; in seq2seq `alignment`, or `decoder_context` without attention.
const Stage& main_stage(const Trace& trace);

/// The stage in focus: the one named `wanted`, or the main stage if this experiment does not have it.
const Stage& focused_stage(const Trace& trace, std::string_view wanted);

/// The name of the mask whose closed pairs are empty cells of this stage; empty for other stages.
std::string_view mask_of(const StageInfo& info);

/// The stage that StageInfo::left or ::above names, the per-head one where there are heads, or the stage that
/// replaces it (the embedding for the keys' embedding, the context for concat). nullptr if there is none.
const Stage* operand(const Trace& trace, std::string_view name);

}  // namespace attnscope
