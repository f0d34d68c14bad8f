// Linear projections.
#pragma once

#include "core/op/backward.h"
#include "core/op/formula.h"
#include "core/op/proof.h"
#include "core/op/region.h"
#include "core/op/row_work.h"
#include "core/op/torch.h"
#include "core/op/work.h"

namespace attnscope::op {

/// x (n × in), W (out × in)[, b (1 × out)]: x Wᵀ + b, as in torch.nn.Linear; n × out.
struct Linear {
    Shape shape(Shapes in) const { return matrix(in[0].rows, in[1].rows); }
    std::string formula(const Symbols& in) const {
        return in.own + " = " + in.of(0) + " " + in.of(1) + "ᵀ" + (in.count > 2 ? " + " + in.of(2) : "");
    }
    Operands operands() const { return {.left = 0, .above = 1, .is_transposed = true}; }
    double work_per_cell(Shapes in) const { return in[0].columns; }
    static bool reads_rows(std::size_t input) { return input == 0; }
    void rows(const RowWork& in, MatrixView out) const;
    void cells(const RegionWork& in, MatrixView out) const;
    /// dX = dY W, dW = dYᵀ X, db: the sum of the rows of dY.
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const Linear&) const = default;
};

/// Explains a cell of a gradient of x Wᵀ + b, however it is summed: dX = dY W, dW = dYᵀ X, db = Σ dY.
void explain_linear_gradient(Proof& proof, const GradientCell& cell);

}  // namespace attnscope::op
