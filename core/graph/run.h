// Graph → Trace.
#pragma once

#include "core/attention/evaluate_options.h"
#include "core/graph/graph.h"

namespace attnscope {

/// Computes every value of the graph in float32, by the backend of `options` where there is one. A stage
/// whose operation and inputs are those of `previous` is reused, and so is one that comes out equal to it,
/// bit for bit, so that what follows from it is spared. Gives the records (stages, then parameters, each in
/// the order of the graph) and the labels. Throws Cancelled, and what a backend throws.
Trace run(const Graph& graph, const Trace& previous, const EvaluateOptions& options);

}  // namespace attnscope
