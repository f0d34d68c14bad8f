// Sequence to sequence over several sentences at once.
#pragma once

#include <span>
#include <stop_token>

#include "core/learn/batch.h"

namespace attnscope {

/// Whether seq2seq_batch() computes this model: an alignment, if there is one, is normalized by a softmax
/// over all source words, and any setting that it does not know has its default.
bool computes_together(const Experiment& model);

/// What op::GruEncoder, op::InitialState, op::Decode and op::OutputLogits compute for each sentence, and
/// their gradients, with one matrix product per step for all sentences instead of one vector product for
/// each; in double. What stands between the products are the formulas of these operations
/// (core/op/gru_cell.h, alignment.h, softmax.h), with VectorizedFunctions. `parameters` are all of the
/// model's. Gradients are those of the mean over `targets` positions, and only computed if `wants_gradients`.
/// Throws Canceled.
BatchPart seq2seq_batch(const Experiment& model, const Parameters& parameters,
                        std::span<const TaskSentence> batch, int targets, bool wants_gradients,
                        const std::stop_token& cancel);

}  // namespace attnscope
