// Luong's general score.
#pragma once

#include "core/op/backward.h"
#include "core/op/formula.h"
#include "core/op/proof.h"
#include "core/op/region.h"
#include "core/op/row_work.h"
#include "core/op/torch.h"
#include "core/op/work.h"

namespace attnscope::op {

/// Q (h × N × d_q), K (h × M × d_k), W (d_q × d_k): qᵀ W k (Luong et al. 2015, §3.1); h × N × M.
struct GeneralScore {
    Shape shape(Shapes in) const { return per_head(in[0].heads, in[0].rows, in[1].rows); }
    std::string formula(const Symbols& in) const { return in.of(0) + " " + in.of(2) + " " + in.of(1) + "ᵀ"; }
    std::string caption(const Symbols&) const { return "general"; }
    std::string sentence() const {
        return "Transform the query by W, then multiply it and the key dimension by dimension and add up: W "
               "decides which dimensions are compared.";
    }
    Operands operands() const { return {.left = 0, .above = 1, .is_transposed = true}; }
    double work_per_cell(Shapes in) const { return in[1].columns; }
    static bool reads_rows(std::size_t input) { return input == 0; }
    void rows(const RowWork& in, MatrixView out) const;
    void cells(const RegionWork& in, MatrixView out) const;
    /// dQ = dS K Wᵀ, dK = dSᵀ Q W, dW = Σ over heads of Qᵀ dS K.
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const GeneralScore&) const = default;
};

}  // namespace attnscope::op
