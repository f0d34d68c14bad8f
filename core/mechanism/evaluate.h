// Evaluates an Experiment into a Trace.
#pragma once

#include <cstddef>

#include "core/graph/run_options.h"
#include "core/graph/trace.h"

namespace attnscope {

struct Graph;

/// Computes every stage of the experiment in float32. A pure function: `previous` only saves work. A stage
/// whose operation and inputs equal those of the previous trace is reused, and so is one whose result is
/// equal bit for bit, unless some of its heads were not kept, so that the stages that depend on it are reused
/// as well. Throws Error(bad_input) for an experiment that check() refuses, that has no tokens, or whose
/// shapes do not fit; Error(too_large), before anything is allocated, if both traces and their pictures would
/// not fit in this machine's memory or the card's.
Trace evaluate(const Experiment& experiment, const Trace& previous = {}, const EvaluateOptions& options = {});
/// Evaluates a graph that was built otherwise, such as that of a batch of sentences.
Trace evaluate(const Graph& graph, const EvaluateOptions& options);

}  // namespace attnscope
