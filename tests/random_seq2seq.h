// Random experiments of sequence to sequence.
#pragma once

#include "core/experiment/experiment.h"
#include "tests/dice.h"

namespace attnscope::test {

/// Any of its settings, and what may be given. Throws Error where they exclude each other.
Experiment random_seq2seq(Dice& dice);

}  // namespace attnscope::test
