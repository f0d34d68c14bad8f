// Luong's location score.
#pragma once

#include "core/op/backward.h"
#include "core/op/formula.h"
#include "core/op/proof.h"
#include "core/op/row_work.h"
#include "core/op/torch.h"
#include "core/op/work.h"

namespace attnscope::op {

/// Q (h × N × d), W (M × d): entry j of W q, independent of the keys (Luong et al. 2015, eq. 8); h × N × M.
struct LocationScore {
    Shape shape(Shapes in) const { return per_head(in[0].heads, in[0].rows, in[1].rows); }
    std::string formula(const Symbols& in) const { return in.of(0) + " " + in.of(1) + "ᵀ"; }
    std::string caption(const Symbols&) const { return "location"; }
    std::string sentence() const {
        return "Multiply the query by the row of W for each key's position and add up: the keys themselves "
               "are not read.";
    }
    Operands operands() const { return {.left = 0, .above = 1, .is_transposed = true}; }
    double work_per_cell(Shapes in) const { return in[1].columns; }
    static bool reads_rows(std::size_t input) { return input == 0; }
    void rows(const RowWork& in, MatrixView out) const;
    /// dQ = dS W, dW = Σ over heads of dSᵀ Q.
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const LocationScore&) const = default;
};

}  // namespace attnscope::op
