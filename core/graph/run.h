// Evaluates a Graph into a Trace.
#pragma once

#include "core/graph/graph.h"
#include "core/graph/run_options.h"

namespace attnscope {

/// Computes every value of the graph in float32, on the backend of `options` if there is one. A stage whose
/// operation and inputs equal those of `previous` is reused, and so is one whose result is equal bit for bit,
/// so that the stages that depend on it are reused as well. Returns the records (stages, then parameters,
/// each in the order of the graph) and the labels. Throws Canceled, and the backend's errors.
Trace run(const Graph& graph, const Trace& previous, const EvaluateOptions& options);

}  // namespace attnscope
