// The sparsemax, which turns scores into weights, many of them exactly zero.
#pragma once

#include "core/op/backward.h"
#include "core/op/formula.h"
#include "core/op/proof.h"
#include "core/op/row_work.h"
#include "core/op/torch.h"
#include "core/op/work.h"

namespace attnscope::op {

/// x (h × N × M, −∞ where closed): max(x − τ, 0), the threshold τ of each row such that the row sums to 1:
/// the projection of the row onto the simplex (Martins and Astudillo 2016, algorithm 1), in double. Closed
/// cells are exactly 0, and so is a row with nothing open; NaN or +∞ in an open cell makes the row's open
/// cells NaN.
struct Sparsemax {
    Shape shape(Shapes in) const { return in[0]; }
    std::string formula(const Symbols& in) const {
        return "sparsemax( " + in.formula_of(0) + " ) over " + in.keys + ", each row sums to 1";
    }
    std::string caption(const Symbols&) const { return "sparsemax"; }
    Operands operands() const { return {.same_as = 0}; }
    double work_per_cell(Shapes) const { return k_softmax_work; }
    void rows(const RowWork& in, MatrixView out) const;
    /// dX = dA − the mean of dA over the weights above 0; 0 where the weight is 0 (Martins and Astudillo
    /// 2016, eq. 14).
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const Sparsemax&) const = default;
};

/// Computes some rows of one head, n × M each.
void sparsemax_rows(ConstMatrixView x, MatrixView out);

}  // namespace attnscope::op
