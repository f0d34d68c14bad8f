// What a live edit may leave, and the values that dragging a size goes through.
#pragma once

#include "core/attention/experiment.h"

namespace attnscope {

/// Throws Error(bad_input) as check(), and for sizes that evaluate would refuse whatever the sentence is: an
/// odd d_k that RoPE cannot turn, values that a block cannot add to the embedding.
void check_edit(const Experiment& experiment);

/// `steps` further along the values of a size that check_edit takes with all else as it is, at most to the
/// first or the last: heads, dim, key_size, value_size. The latter two begin at the dimension where they are
/// 0.
int stepped_size(const Experiment& experiment, int Experiment::*size, int steps);

}  // namespace attnscope
