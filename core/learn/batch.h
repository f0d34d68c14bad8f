// The loss of a batch of sentences, what its heads attend to, and its gradients.
#pragma once

#include <span>
#include <stop_token>
#include <vector>

#include "core/learn/optimizer.h"
#include "core/learn/task_sentence.h"

namespace attnscope {

struct Mean {
    double sum = 0;
    int count = 0;

    void add(double value) {
        sum += value;
        ++count;
    }
    /// The mean of the values added; NaN if there are none.
    double value() const { return sum / count; }
};

/// The loss, accuracy, attention patterns and gradients of some of a batch's sentences.
struct BatchPart {
    double loss = 0;  ///< the sum of −log p over their positions that have a target
    int right = 0;    ///< at how many of these the target is the most likely word
    /// For each head of each layer, layer by layer, the weight at the keys of the sentences; of sequence to
    /// sequence its alignment; empty without one.
    std::vector<Mean> patterns = {};
    Parameters gradients = {};
};

struct BatchResult {
    double loss = 0;      ///< the mean of −log p over all positions of the batch that have a target
    int targets = 0;      ///< how many there are
    double accuracy = 0;  ///< the share of these where the target is the most likely word
    std::vector<Mean> patterns = {};  ///< see BatchPart
    double norm = 0;                  ///< of all gradients together
    Parameters gradients = {};
};

/// How many parts a batch is cut into, each of which has gradients until they are added.
std::size_t parts_of_batch(std::size_t sentences);

/// The model with these matrices in place of its own.
Experiment with_parameters(Experiment model, const Parameters& parameters);

/// The loss of a batch and its gradients. `model` is an experiment with any sentence; `parameters` are the
/// custom matrices that are learned, all of one mechanism. A parameter that the loss does not depend on has
/// the gradient 0. The batch is cut into parts that depend on the batch alone and are computed on `threads`
/// threads (0: one per core), so that the result is the same to the bit for any number; a part is computed as
/// one trace where the model allows it. Throws as evaluate(), and Error(bad_input) without any target;
/// Error(too_large) if a part does not fit in memory.
BatchResult batch_gradients(const Experiment& model, const Parameters& parameters,
                            std::span<const TaskSentence> batch, const std::stop_token& cancel = {},
                            int threads = 0);
/// What batch_gradients() returns, without gradients.
BatchResult batch_loss(const Experiment& model, const Parameters& parameters,
                       std::span<const TaskSentence> batch, const std::stop_token& cancel = {},
                       int threads = 0);

}  // namespace attnscope
