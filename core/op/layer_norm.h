// Layer normalization.
#pragma once

#include "core/op/backward.h"
#include "core/op/formula.h"
#include "core/op/proof.h"
#include "core/op/torch.h"
#include "core/op/work.h"

namespace attnscope::op {

/// x (n × d), gain (1 × d), shift (1 × d): (x − mean) / √(variance + ε) · gain + shift of each row, the
/// variance divided by d (Ba et al. 2016, eq. 4), in double; n × d.
struct LayerNorm {
    double epsilon;  ///< ε > 0

    Shape shape(Shapes in) const { return in[0]; }
    std::string formula(const Symbols& in) const { return "layer norm of each row of " + in.of(0); }
    void forward(const Work& in, Tensor& out) const;
    /// With x̂ = (x − mean) ÷ σ of each row and g = dY ∘ gain: dX = (g − mean g − x̂ mean(g ∘ x̂)) ÷ σ,
    /// dgain = Σ dY ∘ x̂, dshift = Σ dY, in double.
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const LayerNorm&) const = default;
};

}  // namespace attnscope::op
