// Luong's local attention: a window around a position for each query.
#pragma once

#include "core/op/backward.h"
#include "core/op/formula.h"
#include "core/op/proof.h"
#include "core/op/row_work.h"
#include "core/op/torch.h"
#include "core/op/work.h"

namespace attnscope::op {

/// What formulas and proofs of a window's center call the query, a query and the number of keys.
struct CenterWords {
    std::string_view query = "query", letter = "q", keys = "M";
};

/// local-m: each query's window is centered on its own position, counted from 0 (Luong et al. 2015, §3.2,
/// monotonic); N × 1.
struct QueryPlaces {
    int queries;

    static constexpr std::string_view k_no_gradient =
        "the positions of the queries do not depend on any input";

    Shape shape(Shapes) const { return matrix(queries, 1); }
    std::string formula(const Symbols&, const CenterWords& words = {}) const {
        return fmt::format("p = i, the {}'s own position", words.query);
    }
    void forward(const Work& in, Tensor& out) const;
    void explain(Proof& proof, const Cell&, const CenterWords& words = {}) const;
    void torch(TorchLines& py) const;
    bool operator==(const QueryPlaces&) const = default;
};

/// local-p: Q (h × N × d), W_p (hidden × d), v_p (1 × hidden): M · sigmoid(v_p · tanh(W_p q)), a position
/// among M keys, 0 … M (Luong et al. 2015, eq. 9), in double; h × N × 1.
struct PredictedCenters {
    int keys;  ///< M

    Shape shape(Shapes in) const { return per_head(in[0].heads, in[0].rows, 1); }
    std::string formula(const Symbols&, const CenterWords& words = {}) const {
        return fmt::format("p = {} · sigmoid( v_p · tanh( W_p {} ) )", words.keys, words.letter);
    }
    void forward(const Work& in, Tensor& out) const;
    /// With t = tanh(W_p q), s = sigmoid(v_p · t) and du = dp M s (1 − s): dv_p = Σ du t; with
    /// dt = du v_p ∘ (1 − t²): dq = dt W_p, dW_p = Σ dtᵀ q, in double.
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell, const CenterWords& words = {}) const;
    void torch(TorchLines& py) const;
    bool operator==(const PredictedCenters&) const = default;
};

/// centers (h × N × 1): exp(−(j − p)² / (2 (D/2)²)) for key j from 0 (Luong et al. 2015, eq. 10); h × N × M.
struct GaussianWindow {
    int keys;       ///< M
    double window;  ///< D > 0

    Shape shape(Shapes in) const { return per_head(in[0].heads, in[0].rows, keys); }
    std::string formula(const Symbols&) const {
        return fmt::format("exp( −(j − p)² ÷ 2(D ÷ 2)² ), D = {}", window);
    }
    double work_per_cell(Shapes) const { return k_exponential_work; }
    void rows(const RowWork& in, MatrixView out) const;
    /// dp = Σ over the keys of dG G (j − p) ÷ (D/2)².
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const GaussianWindow&) const = default;
};

/// weights (h × N × M), window (h × N × M): their product; a weight of 0 stays 0 even where the window is
/// NaN.
struct ApplyWindow {
    Shape shape(Shapes in) const { return in[0]; }
    std::string formula(const Symbols& in) const { return in.of(0) + " ∘ " + in.of(1); }
    std::string caption(const Symbols&) const { return "local-p"; }
    std::string sentence() const {
        return "Multiply each weight by the Gaussian window: the farther a key is from its center, the less "
               "weight it keeps.";
    }
    Operands operands() const { return {.same_as = 0}; }
    double work_per_cell(Shapes) const { return 1; }
    void rows(const RowWork& in, MatrixView out) const;
    /// dA = dY ∘ G, 0 where the result is 0, even where G is NaN; dG = dY ∘ A.
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const ApplyWindow&) const = default;
};

/// PredictedCenters of one head: Q n × d, W_p hidden × d, v_p 1 × hidden, out n × 1.
void predicted_centers(ConstMatrixView Q, ConstMatrixView W_p, ConstMatrixView v_p, int keys, MatrixView out);
/// GaussianWindow of some rows: centers n × 1, out n × M; D > 0.
void gaussian_windows(ConstMatrixView centers, double D, MatrixView out);
/// ApplyWindow of some rows, n × M each.
void apply_window(ConstMatrixView weights, ConstMatrixView window, MatrixView out);

}  // namespace attnscope::op
