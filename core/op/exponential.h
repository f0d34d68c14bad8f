// The exponential, which turns log probabilities into probabilities.
#pragma once

#include "core/op/backward.h"
#include "core/op/formula.h"
#include "core/op/proof.h"
#include "core/op/torch.h"
#include "core/op/work.h"

namespace attnscope::op {

/// x: e^x of each cell, in double.
struct Exponential {
    Shape shape(Shapes in) const { return in[0]; }
    std::string formula(const Symbols& in) const { return "exp( " + in.of(0) + " )"; }
    void forward(const Work& in, Tensor& out) const;
    /// dX = dY ∘ Y.
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const Exponential&) const = default;
};

}  // namespace attnscope::op
