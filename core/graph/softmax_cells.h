// The cells of a softmax on demand.
#pragma once

#include <memory>

#include "core/graph/stage_cells.h"

namespace attnscope {

/// The weights of a softmax over the keys; `parts.op` is an op::Softmax.
std::shared_ptr<const OnDemandValues> softmax_cells(StageParts parts);

}  // namespace attnscope
