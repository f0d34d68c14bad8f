// Random experiments of the transformer's stack.
#pragma once

#include "core/experiment/experiment.h"
#include "tests/dice.h"

namespace attnscope::test {

/// Any of its settings, with masks, and what may be given. Throws Error where they exclude each other.
Experiment random_transformer(Dice& dice);

}  // namespace attnscope::test
