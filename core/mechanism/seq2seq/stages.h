// The stages of sequence to sequence in words.
#pragma once

#include <string>

#include "core/graph/trace.h"

namespace attnscope {

/// formula() and caption() of core/mechanism/stages.h for the seq2seq mechanism.
std::string seq2seq_formula(const Experiment& experiment, const StageInfo& info);
std::string seq2seq_caption(const Experiment& experiment, const StageInfo& info);

}  // namespace attnscope
