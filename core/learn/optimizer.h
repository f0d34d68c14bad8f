// Optimizers: how a step changes the parameters.
#pragma once

#include <map>
#include <string>

#include "core/experiment/experiment.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Matrices by the names of the parameters, as in overridable_matrices().
using Parameters = std::map<std::string, Matrix>;

/// What an optimizer remembers from step to step: shaped as the parameters, empty at first.
struct OptimizerState {
    int steps = 0;
    Parameters first;   ///< the momentum of sgd, the mean of the gradients of adam
    Parameters second;  ///< adam's mean of their squares
};

/// The norm of all gradients together, in double.
double norm_of(const Parameters& gradients);

/// The learning rate of a step, counted from 1. It rises in a straight line to Optimizer::learning_rate
/// during the warm-up (Vaswani et al. 2017, §5.3) and falls during the decay by half a cosine (Loshchilov and
/// Hutter 2017, eq. 5), after which it is 0.
double learning_rate_at(const Optimizer& optimizer, int step);

/// Changes the parameters by one step, in float32 and in PyTorch's order of operations. `gradients` has one
/// for each, which clipping and weight decay change.
void step(const Optimizer& optimizer, OptimizerState& state, Parameters& parameters, Parameters& gradients);

}  // namespace attnscope
