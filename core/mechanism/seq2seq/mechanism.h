// Sequence to sequence, as a mechanism.
#pragma once

#include "core/graph/mechanism.h"

namespace attnscope {

extern const Mechanism k_seq2seq_mechanism;

/// The settings that the mechanism uses, and when.
std::span<const OptionRule> options_of_seq2seq();

}  // namespace attnscope
