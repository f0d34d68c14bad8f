// Why a cell of sequence to sequence has its value.
#pragma once

#include "core/attention/explain.h"

namespace attnscope {

/// Adds the terms, the steps and the remark of a cell to a proof that has its value.
void explain_seq2seq(Proof& proof, const Trace& trace, const Stage& stage, int row, int column);

}  // namespace attnscope
