// The encoder of sequence to sequence.
#pragma once

#include "core/op/backward.h"
#include "core/op/formula.h"
#include "core/op/gru.h"
#include "core/op/proof.h"
#include "core/op/torch.h"
#include "core/op/work.h"

namespace attnscope::op {

/// X (S × d), W_ih (3E × d), W_hh (3E × E), b_ih (1 × 3E), b_hh (1 × 3E): gru_step() over the rows of X in
/// one direction, from a zero state. Four results, S × E each: the gates r, z and n, and the states.
struct GruEncoder {
    Direction direction;

    static constexpr std::size_t k_results = 4;
    std::vector<Shape> shapes(Shapes in) const;
    std::string formula(const Symbols& in) const;
    std::vector<Tensor> results(const Work& in) const;
    /// Goes through the steps from the last one read to the first (core/op/gru_backward.h); completes the
    /// gradients of gates and states.
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    /// Explains what later steps pass back to a cell of the result `cell.input`.
    void explain_own_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const GruEncoder&) const = default;
};

/// One of the formulas of a GRU (core/op/gru.h): gate r, z or n, with its input and its state.
std::string gate_formula(char gate, const std::string& input, const std::string& state);

/// One or two matrices of n rows: their columns side by side.
struct JoinColumns {
    Shape shape(Shapes in) const;
    std::string formula(const Symbols& in) const {
        return in.count > 1 ? fmt::format("{} = [{}; {}], side by side", in.own, in.of(0), in.of(1))
                            : in.own + " = " + in.of(0);
    }
    void forward(const Work& in, Tensor& out) const;
    /// The gradient of each input is its columns of dY.
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const JoinColumns&) const = default;
};

/// states (S × E), W (D × E), b (1 × D): tanh(W h + b) of one state h (Bahdanau et al. 2015, §A.2.2), in
/// double; 1 × D.
struct InitialState {
    enum class Of { first, last } word;

    Shape shape(Shapes in) const { return matrix(1, in[1].rows); }
    std::string formula(const Symbols& in) const {
        return fmt::format("{} = tanh( {} {} at the {} word + {} )", in.own, in.of(1), in.of(0),
                           word == Of::first ? "first" : "last", in.of(2));
    }
    void forward(const Work& in, Tensor& out) const;
    /// du = dY (1 − Y²): dh = du W, dW = duᵀ h, db = du, in double.
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const InitialState&) const = default;
};

/// x (n × in), W (out × in): x Wᵀ, summed in double; n × out.
struct LinearInDouble {
    Shape shape(Shapes in) const { return matrix(in[0].rows, in[1].rows); }
    std::string formula(const Symbols& in) const { return in.of(0) + " " + in.of(1) + "ᵀ"; }
    Operands operands() const { return {.left = 0, .above = 1, .is_transposed = true}; }
    void forward(const Work& in, Tensor& out) const;
    /// dX = dY W, dW = dYᵀ X, summed in double.
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const LinearInDouble&) const = default;
};

}  // namespace attnscope::op
