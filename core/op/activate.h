// The activation of a feed-forward layer.
#pragma once

#include "core/experiment/choices.h"
#include "core/op/backward.h"
#include "core/op/formula.h"
#include "core/op/proof.h"
#include "core/op/torch.h"
#include "core/op/work.h"

namespace attnscope::op {

/// x: relu max(x, 0), or gelu x (1 + erf(x / √2)) / 2, in double (Hendrycks and Gimpel 2016).
struct Activate {
    Activation activation;

    Shape shape(Shapes in) const { return in[0]; }
    std::string formula(const Symbols&) const { return std::string(name_of(activation)); }
    std::string caption(const Symbols&) const { return std::string(name_of(activation)); }
    void forward(const Work& in, Tensor& out) const;
    /// relu: dY where x > 0, else 0; gelu: dY (Φ(x) + x φ(x)), in double.
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const Activate&) const = default;
};

/// An activation as a function of one number.
struct ActivationFunction {
    Activation choice;
    float (*value)(float x);
    double (*slope)(double x);  ///< its derivative; of relu at 0: 0
    const char* shader;         ///< its define in shaders/cells.comp
    double work;                ///< for each cell, in multiply-adds
    const char* help;           ///< what it does, in a sentence
};

const ActivationFunction& function_of(Activation activation);

}  // namespace attnscope::op
