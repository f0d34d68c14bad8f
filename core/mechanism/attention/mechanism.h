// Attention, as a mechanism.
#pragma once

#include "core/graph/mechanism.h"

namespace attnscope {

extern const Mechanism k_attention_mechanism;

std::string why_unused_by_attention(std::string_view option, const Experiment& experiment);

}  // namespace attnscope
