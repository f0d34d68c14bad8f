// Optimizers: how a step changes the parameters.
#pragma once

#include <array>
#include <map>
#include <string>

#include "core/choice.h"
#include "core/tensor/tensor.h"

namespace attnscope {

enum class OptimizerKind { sgd, adam, adamw };
constexpr auto choice_names(OptimizerKind) {
    using enum OptimizerKind;
    return std::to_array<ChoiceName<OptimizerKind>>({{sgd, "sgd"}, {adam, "adam"}, {adamw, "adamw"}});
}

/// As torch.optim.SGD, Adam (Kingma and Ba 2015, algorithm 1) and AdamW (Loshchilov and Hutter 2019,
/// algorithm 2) of PyTorch 1.13, in float32 and in the same order of operations.
struct Optimizer {
    OptimizerKind kind = OptimizerKind::adam;
    double learning_rate = 1e-3;
    double momentum = 0;  ///< of sgd
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
    double weight_decay = 0;
    double clip = 0;  ///< largest norm of all gradients together, as torch.nn.utils.clip_grad_norm_; 0: none
    bool operator==(const Optimizer&) const = default;
};

/// Matrices by the names of the parameters, as in given_names().
using Parameters = std::map<std::string, Matrix>;

/// What an optimizer remembers from step to step: shaped as the parameters, empty at first.
struct OptimizerState {
    int steps = 0;
    Parameters first;   ///< the momentum of sgd, the mean of the gradients of adam
    Parameters second;  ///< adam's mean of their squares
};

/// The norm of all gradients together, in double.
double norm_of(const Parameters& gradients);

/// Changes the parameters by one step. `gradients` has one for each, which clipping changes.
void step(const Optimizer& optimizer, OptimizerState& state, Parameters& parameters, Parameters& gradients);

}  // namespace attnscope
