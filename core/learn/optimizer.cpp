#include "core/learn/optimizer.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace attnscope {
namespace {

/// g ← g · min(1, clip ÷ (norm + 1e-6)).
void clip(double limit, Parameters& gradients) {
    const auto factor = static_cast<float>(limit / (norm_of(gradients) + 1e-6));
    if (factor >= 1) return;
    for (auto& [name, gradient] : gradients) gradient *= factor;
}

/// b ← momentum · b + g, b = g at first; p ← p − rate · b.
void step_sgd(const Optimizer& optimizer, OptimizerState& state, const std::string& name, Matrix& p,
              Matrix& g) {
    if (optimizer.weight_decay != 0) g += static_cast<float>(optimizer.weight_decay) * p;
    const auto rate = static_cast<float>(learning_rate_at(optimizer, state.steps));
    if (optimizer.momentum == 0) {
        p -= rate * g;
        return;
    }
    const auto [buffer, is_first] = state.first.try_emplace(name, g);
    if (!is_first) buffer->second = static_cast<float>(optimizer.momentum) * buffer->second + g;
    p -= rate * buffer->second;
}

/// Weight decay is added to the gradient, or applied to the parameter by itself.
enum class Decay { in_gradient, decoupled };

/// m ← β1 m + (1 − β1) g; v ← β2 v + (1 − β2) g²; p ← p − rate ÷ (1 − β1^t) · m ÷ (√v ÷ √(1 − β2^t) + ε).
void step_adam(const Optimizer& optimizer, OptimizerState& state, const std::string& name, Matrix& p,
               Matrix& g, Decay how) {
    const double rate = learning_rate_at(optimizer, state.steps), decay = optimizer.weight_decay;
    if (how == Decay::decoupled)
        p *= static_cast<float>(1 - rate * decay);
    else if (decay != 0)
        g += static_cast<float>(decay) * p;
    Matrix& m = state.first.try_emplace(name, Matrix::Zero(g.rows(), g.cols())).first->second;
    Matrix& v = state.second.try_emplace(name, Matrix::Zero(g.rows(), g.cols())).first->second;
    const auto mean = [](double beta, const auto& old, const auto& added) {
        return (static_cast<float>(beta) * old + static_cast<float>(1 - beta) * added).eval();
    };
    m.array() = mean(optimizer.beta1, m.array(), g.array());
    v.array() = mean(optimizer.beta2, v.array(), g.array().square());
    const auto root = static_cast<float>(std::sqrt(1 - std::pow(optimizer.beta2, state.steps)));
    const auto size = static_cast<float>(rate / (1 - std::pow(optimizer.beta1, state.steps)));
    p.array() -= size * (m.array() / (v.array().sqrt() / root + static_cast<float>(optimizer.epsilon)));
}

}  // namespace

double norm_of(const Parameters& gradients) {
    double squares = 0;
    for (const auto& [name, gradient] : gradients) squares += gradient.cast<double>().squaredNorm();
    return std::sqrt(squares);
}

double learning_rate_at(const Optimizer& optimizer, int step) {
    const double rate = optimizer.learning_rate;
    if (step <= optimizer.warm_up) return rate * step / optimizer.warm_up;
    if (optimizer.decay == 0) return rate;
    const double done = std::min(1.0, static_cast<double>(step - optimizer.warm_up) / optimizer.decay);
    return rate * (1 + std::cos(std::numbers::pi * done)) / 2;
}

void step(const Optimizer& optimizer, OptimizerState& state, Parameters& parameters, Parameters& gradients) {
    if (optimizer.clip > 0) clip(optimizer.clip, gradients);
    ++state.steps;
    for (auto& [name, p] : parameters) {
        Matrix& g = gradients.at(name);
        switch (optimizer.kind) {
            case OptimizerKind::sgd: step_sgd(optimizer, state, name, p, g); break;
            case OptimizerKind::adam: step_adam(optimizer, state, name, p, g, Decay::in_gradient); break;
            case OptimizerKind::adamw: step_adam(optimizer, state, name, p, g, Decay::decoupled); break;
        }
    }
}

}  // namespace attnscope
