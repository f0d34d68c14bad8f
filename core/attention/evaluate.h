// Experiment → Trace.
#pragma once

#include <cstddef>

#include "core/attention/evaluate_options.h"
#include "core/attention/trace.h"

namespace attnscope {

/// Computes every stage of the experiment in float32. A pure function: `previous` only spares work. A stage
/// whose operation and inputs are those of the previous trace's is reused, and so is one that comes out equal
/// to it, bit for bit, so that what follows from it is spared as well. Throws Error(bad_input)
/// for an experiment that check() refuses, that has no tokens, or whose shapes do not fit; Error(too_large),
/// before anything is allocated, if both traces and their pictures would not fit in memory, here or there.
Trace evaluate(const Experiment& experiment, const Trace& previous = {}, const EvaluateOptions& options = {});

}  // namespace attnscope
