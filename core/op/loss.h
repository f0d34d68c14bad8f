// The losses, and the predicted words.
#pragma once

#include "core/op/backward.h"
#include "core/op/formula.h"
#include "core/op/proof.h"
#include "core/op/torch.h"
#include "core/op/work.h"

namespace attnscope::op {

/// log_probs (n × words), targets (n whole numbers, each a word counted from 0): the mean of −log p of each
/// row's target, summed in double; 1 × 1. Rows whose target is −1 are left out.
struct CrossEntropy {
    bool skips = false;  ///< whether there is such a row

    static constexpr std::string_view k_heading = "The loss: the mean of −log p at the targets.";

    Shape shape(Shapes) const { return matrix(1, 1); }
    std::string formula(const Symbols&) const { return "mean of −log p at the targets"; }
    void forward(const Work& in, Tensor& out) const;
    /// −dℓ ÷ n at each row's target, n rows having one; 0 elsewhere.
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const CrossEntropy&) const = default;
};

/// x (n × d), weights (n × d): Σ weights ∘ x, summed in double; 1 × 1.
struct WeightedTotal {
    Shape shape(Shapes) const { return matrix(1, 1); }
    std::string formula(const Symbols& in) const { return "Σ " + in.of(1) + " ∘ " + in.of(0); }
    void forward(const Work& in, Tensor& out) const;
    /// dX = dℓ · weights, dweights = dℓ · X.
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const WeightedTotal&) const = default;
};

/// x (n × m): the column of each row's maximum, the first if several tie; n × 1.
struct ArgMax {
    static constexpr std::string_view k_no_gradient =
        "whole numbers: no small change of a score changes them";

    Shape shape(Shapes in) const { return matrix(in[0].rows, 1); }
    std::string formula(const Symbols&) const { return "the word with the largest logit"; }
    void forward(const Work& in, Tensor& out) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const ArgMax&) const = default;
};

}  // namespace attnscope::op
