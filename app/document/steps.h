// Checks of live edits, and the values that dragging a size steps through.
#pragma once

#include "core/experiment/experiment.h"

namespace attnscope {

/// Throws Error(bad_input) as check() does, and for sizes that fit no sentence.
void check_edit(const Experiment& experiment);

/// A size that can be dragged.
using SizeField = int& (*)(Experiment& experiment);
inline int& dim_of(Experiment& e) { return e.input.dim; }
inline int& heads_of(Experiment& e) { return e.attention.heads; }
inline int& key_size_of(Experiment& e) { return e.attention.key_size; }
inline int& value_size_of(Experiment& e) { return e.attention.value_size; }

/// The value `steps` further among the valid values of a size, all else being equal; stops at the first and
/// the last. key_size and value_size start from the dimension where they are 0.
int stepped_size(const Experiment& experiment, SizeField size, int steps);

}  // namespace attnscope
