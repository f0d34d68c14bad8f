// The transformer's stack, as a mechanism.
#pragma once

#include "core/graph/mechanism.h"

namespace attnscope {

extern const Mechanism k_transformer_mechanism;

/// The settings that the mechanism uses, and when.
std::span<const OptionRule> options_of_transformer();

}  // namespace attnscope
