// The transformer's stack, as a mechanism.
#pragma once

#include "core/graph/mechanism.h"

namespace attnscope {

extern const Mechanism k_transformer_mechanism;

std::string why_unused_by_transformer(std::string_view option, const Experiment& experiment);

}  // namespace attnscope
