// The softmax, which turns scores into weights.
#pragma once

#include <cmath>

#include "core/experiment/choices.h"
#include "core/op/backward.h"
#include "core/op/formula.h"
#include "core/op/proof.h"
#include "core/op/region.h"
#include "core/op/row_work.h"
#include "core/op/torch.h"
#include "core/op/work.h"

namespace attnscope::op {

// The formulas for one row, an Eigen array in double. Those of a gradient take the softmax that the row has
// become, and the gradient of that.

/// exp(x − max) / Σ exp(x − max) of scores that are all open.
template <typename X>
Eigen::ArrayXd softmax_of(const X& x) {
    const Eigen::ArrayXd exponentials = (x - x.maxCoeff()).exp();
    return exponentials / exponentials.sum();
}
/// log Σ exp x, where `largest` is the largest x.
template <typename X>
double log_sum_exp(const X& x, double largest) {
    return largest + std::log((x - largest).exp().sum());
}
/// dx = A ∘ (dA − Σ A ∘ dA) for A = softmax(x).
template <typename A, typename D>
auto softmax_back(const A& weights, const D& d) {
    return weights * (d - (weights * d).sum());
}
/// dx = dY − exp(Y) Σ dY for Y = log softmax(x).
template <typename Y, typename D>
auto log_softmax_back(const Y& log_probs, const D& d) {
    return d - log_probs.exp() * d.sum();
}

/// What a softmax subtracts from one row or column of scores, −∞ where closed, and what it divides by.
struct SoftmaxLine {
    float largest;  ///< NaN if any score is, −∞ if nothing is open
    double sum;     ///< Σ exp(x − largest) over the open cells

    explicit SoftmaxLine(const Eigen::VectorXf& x);
    double difference(float x) const { return static_cast<double>(x) - largest; }
    double exponential(float x) const { return std::exp(difference(x)); }
};

/// x (h × N × M, −∞ where closed): exp(x − max) / Σ exp(x − max) along the axis, the maximum over the
/// open cells (Vaswani et al. 2017, eq. 1). Closed cells are exactly 0, and so is a row or column with
/// nothing open.
struct Softmax {
    SoftmaxAxis axis = SoftmaxAxis::keys;  ///< keys: each row sums to 1; queries: each column does

    Shape shape(Shapes in) const { return in[0]; }
    std::string formula(const Symbols& in) const {
        return "softmax( " + in.formula_of(0) + " ) over " +
               (!is_over_queries(axis) ? in.keys + ", each row sums to 1" : "queries, each column sums to 1");
    }
    Operands operands() const { return {.same_as = 0}; }
    /// Over the queries, a cell needs its whole column.
    bool has_rows() const { return !is_over_queries(axis); }
    bool has_cells() const { return has_rows(); }
    double work_per_cell(Shapes) const { return k_softmax_work; }
    void rows(const RowWork& in, MatrixView out) const;
    void cells(const RegionWork& in, MatrixView out) const;
    /// For a softmax over the queries.
    void forward(const Work& in, Tensor& out) const;
    /// dX = A ∘ (dA − Σ A ∘ dA), the sum along the axis, in double; 0 where the weight is 0.
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const Softmax&) const = default;
};

/// x: x − log Σ exp x of each row, summed in double.
struct LogSoftmax {
    Shape shape(Shapes in) const { return in[0]; }
    std::string formula(const Symbols&) const { return "log softmax of each row"; }
    void forward(const Work& in, Tensor& out) const;
    /// dX = dY − exp(Y) Σ dY of each row, in double.
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const LogSoftmax&) const = default;
};

}  // namespace attnscope::op
