// Random experiments of attention.
#pragma once

#include "core/experiment/experiment.h"
#include "tests/dice.h"

namespace attnscope::test {

/// Any of its settings, with masks, pictures, and what may be given. Throws Error where they exclude each
/// other.
Experiment random_attention(Dice& dice);

}  // namespace attnscope::test
