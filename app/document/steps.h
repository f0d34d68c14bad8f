// Checks of live edits, and the values that dragging a size steps through.
#pragma once

#include "core/experiment/experiment.h"

namespace attnscope {

/// Throws Error(bad_input) as check() does, and for sizes that evaluate() would reject for any sentence: an
/// odd d_k with RoPE, or values that a block cannot add to the embedding.
void check_edit(const Experiment& experiment);

/// The value `steps` further among the valid values of a size (heads, dim, key_size or value_size), all else
/// being equal; stops at the first and the last. key_size and value_size start from the dimension where they
/// are 0.
int stepped_size(const Experiment& experiment, int Experiment::*size, int steps);

}  // namespace attnscope
