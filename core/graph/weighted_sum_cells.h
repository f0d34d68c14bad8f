// The cells of a weighted sum of values on demand.
#pragma once

#include <memory>

#include "core/graph/stage_cells.h"

namespace attnscope {

/// The context; `parts.op` is an op::WeightedSum.
std::shared_ptr<const OnDemandValues> weighted_sum_cells(StageParts parts);

}  // namespace attnscope
