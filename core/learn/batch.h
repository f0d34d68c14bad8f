// The loss of a batch of examples, and its gradients.
#pragma once

#include <span>
#include <stop_token>

#include "core/experiment/experiment.h"
#include "core/learn/optimizer.h"

namespace attnscope {

/// What one example replaces in an experiment: `tokens` and `targets` of a transformer; `src`, `tgt_in` and
/// `tgt_out` of sequence to sequence.
using Example = std::map<std::string, Matrix>;

struct BatchResult {
    double loss = 0;  ///< the mean of −log p over all positions of the batch that have a target
    int targets = 0;  ///< how many there are
    double norm = 0;  ///< of all gradients together
    Parameters gradients;
};

/// `model` is an experiment of any sentence; `parameters` are the custom matrices that are learned, all of
/// one mechanism. A parameter that the loss does not depend on has the gradient 0. A transformer's sentences
/// of one length are computed together. Throws as evaluate(), and Error(bad_input) without any target.
BatchResult batch_gradients(const Experiment& model, const Parameters& parameters,
                            std::span<const Example> batch, const std::stop_token& cancel = {});

}  // namespace attnscope
