// Scores with a hidden layer over query and key.
#pragma once

#include "core/op/backward.h"
#include "core/op/formula.h"
#include "core/op/proof.h"
#include "core/op/row_work.h"
#include "core/op/torch.h"
#include "core/op/work.h"

namespace attnscope::op {

/// Q (h × N × d_q), K (h × M × d_k), W_aq (hidden × d_q), W_ak (hidden × d_k)[, b_a (1 × hidden)]:
/// tanh(W_aq q + W_ak k + b_a) (Bahdanau et al. 2015, §A.1.2); h × N × (M · hidden), the hidden units of a
/// key side by side.
struct AdditiveHidden {
    Shape shape(Shapes in) const;
    std::string formula(const Symbols& in) const {
        return "tanh( W_aq q + W_ak k" + std::string(in.count > 4 ? " + b_a )" : " )");
    }
    Operands operands() const { return {.left = 0, .above = 1, .is_transposed = true}; }
    double work_per_cell(Shapes) const { return k_exponential_work; }
    static bool reads_rows(std::size_t input) { return input == 0; }
    void rows(const RowWork& in, MatrixView out) const;
    /// With dU = dH ∘ (1 − H²), summed over the keys for q and over the queries for k: dq = dU W_aq,
    /// dk = dU W_ak, dW_aq = dUᵀ Q, dW_ak = dUᵀ K, and db_a is the sum of all dU.
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const AdditiveHidden&) const = default;
};

/// Q (h × N × d_q), K (h × M × d_k), W_c (hidden × (d_q + d_k)): tanh(W_c [q; k]) (Luong et al. 2015, §3.1);
/// h × N × (M · hidden), the hidden units of a key side by side.
struct ConcatHidden {
    Shape shape(Shapes in) const;
    std::string formula(const Symbols&) const { return "tanh( W_c [q; k] )"; }
    Operands operands() const { return {.left = 0, .above = 1, .is_transposed = true}; }
    double work_per_cell(Shapes) const { return k_exponential_work; }
    static bool reads_rows(std::size_t input) { return input == 0; }
    void rows(const RowWork& in, MatrixView out) const;
    /// The gradients are those of AdditiveHidden, W_aq and W_ak being the columns of W_c.
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const ConcatHidden&) const = default;
};

/// hidden (h × N × (M · hidden)), v (1 × hidden): v · (a key's hidden units); h × N × M.
struct HiddenScore {
    Shape shape(Shapes in) const { return per_head(in[0].heads, in[0].rows, in[0].columns / in[0].depth); }
    std::string formula(const Symbols& in) const { return in.of(1) + " · " + in.formula_of(0); }
    std::string caption(const Symbols& in) const { return in.of(1) + "·" + in.of(0); }
    std::string sentence() const {
        return "Multiply each hidden unit of query and key by its weight and add up.";
    }
    Operands operands() const { return {.same_as = 0}; }
    double work_per_cell(Shapes in) const { return static_cast<double>(in[1].head_size()); }
    static bool reads_rows(std::size_t input) { return input == 0; }
    void rows(const RowWork& in, MatrixView out) const;
    /// dH = dS v for each key, dv = Σ dS H.
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const HiddenScore&) const = default;
};

}  // namespace attnscope::op
