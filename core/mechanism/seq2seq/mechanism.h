// Sequence to sequence, as a mechanism.
#pragma once

#include "core/graph/mechanism.h"

namespace attnscope {

extern const Mechanism k_seq2seq_mechanism;

std::string why_unused_by_seq2seq(std::string_view option, const Experiment& experiment);

}  // namespace attnscope
