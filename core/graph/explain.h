// Explains why a cell has its value, from a trace.
#pragma once

#include "core/graph/trace.h"
#include "core/op/proof.h"

namespace attnscope {

/// The proof of cell (row, column) of a stage of this trace, in one head (from 0), or in the mean over the
/// heads if head is −1. Row and column must be within the stage.
Proof explain(const Trace& trace, const Stage& stage, int head, int row, int column);

}  // namespace attnscope
