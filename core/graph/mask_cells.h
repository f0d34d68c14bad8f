// The cells of a mask on demand.
#pragma once

#include <memory>

#include "core/graph/stage_cells.h"

namespace attnscope {

/// The cells of a mask without local windows; `parts.op` is an op::Mask.
std::shared_ptr<const OnDemandValues> mask_cells(StageParts parts);

}  // namespace attnscope
