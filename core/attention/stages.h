// What there is to say about each stage in words: its formula, its caption, its operands.
#pragma once

#include <string>

#include "core/attention/trace.h"

namespace attnscope {

/// The table of embeddings and the weights, which are drawn and not computed from the tokens.
bool is_parameter(const StageInfo& info);

/// The formula of a stage under these settings, for a title: "softmax( Q Kᵀ ÷ √d_k ) over keys, each row sums
/// to 1".
std::string formula(const Experiment& experiment, const StageInfo& info);

/// What queries, keys and values are without projections: "Q = K = V = X".
std::string unprojected_text(const Experiment& experiment);

/// A few words for the line under a thumbnail: "÷ √d_k", "softmax", "causal".
std::string caption(const Experiment& experiment, const StageInfo& info);

/// What the whole computation is for: `weights`; where words are translated `alignment`, or
/// `decoder_context` without attention.
const Stage& main_stage(const Trace& trace);

/// The stage in focus: the one called `wanted`, else, where this experiment has none, the main one.
const Stage& focused_stage(const Trace& trace, std::string_view wanted);

/// The mask whose closed pairs are cells of this stage that hold nothing, by name; empty for other stages.
std::string_view mask_of(const StageInfo& info);

/// The stage that StageInfo::left or ::above names, by head where there are heads, and the one that stands in
/// for it where it does not apply (the embedding for the keys' embedding, the context for concat). nullptr if
/// there is none.
const Stage* operand(const Trace& trace, std::string_view name);

}  // namespace attnscope
