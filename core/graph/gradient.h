// The gradients of a trace's loss: the computation walked backward.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "core/graph/trace.h"

namespace attnscope {

/// ∂loss/∂stage of every stage and parameter that the loss depends on and that is neither a whole number nor
/// a mask, of the stage's shape, in the order of the trace: each operation, from the last to the first, adds
/// to the gradients of its inputs (reverse accumulation). Their key is the stage's, with Part::gradient.
/// Throws Error(bad_input) if the trace has no loss, Error(too_large) if they do not fit in memory, and
/// Canceled.
std::vector<StagePtr> gradients(const Trace& trace, const std::stop_token& cancel = {});
/// Why a trace has no gradients, and what to do, in one line; empty if it has them.
std::string why_no_gradients(const Trace& trace);

}  // namespace attnscope
