// Builds the graph of an Experiment: the computation before any number is known.
#pragma once

#include "core/experiment/experiment.h"
#include "core/graph/graph.h"

namespace attnscope {

/// The graph of the experiment's mechanism. Throws Error(bad_input) for an experiment without tokens or whose
/// shapes do not fit, Error(too_large) for more than k_max_tokens tokens.
Graph build(const Experiment& experiment);

}  // namespace attnscope
