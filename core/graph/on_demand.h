// Stages of so many pairs that no memory holds them: their cells are computed when they are read.
#pragma once

#include <cstddef>
#include <vector>

#include "core/graph/backend.h"
#include "core/graph/graph.h"
#include "core/graph/run_options.h"

namespace attnscope {

/// Which of a graph's values are computed on demand: those of more than `sizes.most_cells` cells a head, and
/// those that read one of them. Throws Error(too_large), naming the stage and what to do, if an operation
/// cannot compute a part of its result alone.
std::vector<bool> on_demand_values(const Graph& graph, const OnDemandSizes& sizes);

/// Bytes that the survey of a head keeps: its strongest cells and its means, level by level.
std::size_t survey_bytes(const Shape& shape, const OnDemandSizes& sizes);

/// The values of a stage, computed from its inputs when they are asked for. `mask`: the stage whose closed
/// pairs do not count in pooled cells; may be null. `card` computes large regions and pools them, where it
/// can and does not fail; may be null.
std::shared_ptr<const OnDemandValues> compute_on_demand(std::shared_ptr<const Op> op,
                                                        std::vector<StagePtr> inputs, StagePtr mask,
                                                        const OnDemandSizes& sizes,
                                                        std::shared_ptr<RegionBackend> card);

}  // namespace attnscope
