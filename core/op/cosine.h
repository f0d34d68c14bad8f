// The cosine of the angle between query and key.
#pragma once

#include "core/op/backward.h"
#include "core/op/formula.h"
#include "core/op/proof.h"
#include "core/op/region.h"
#include "core/op/row_work.h"
#include "core/op/torch.h"
#include "core/op/work.h"

namespace attnscope::op {

/// Q (h × N × d), K (h × M × d): q · k / max(|q| |k|, 1e-8) (Graves et al. 2014, eq. 6); h × N × M.
struct Cosine {
    Shape shape(Shapes in) const { return per_head(in[0].heads, in[0].rows, in[1].rows); }
    std::string formula(const Symbols&) const { return "q · k ÷ max( |q| |k|, 1e-8 )"; }
    std::string sentence() const {
        return "Divide the dot product of query and key by their lengths: only the angle between them "
               "counts.";
    }
    Operands operands() const { return {.left = 0, .above = 1, .is_transposed = true}; }
    double work_per_cell(Shapes) const { return k_exponential_work; }
    static bool reads_rows(std::size_t input) { return input == 0; }
    void rows(const RowWork& in, MatrixView out) const;
    void cells(const RegionWork& in, MatrixView out) const;
    /// With n = |q| |k| and c the result: dq = Σ dc (k ÷ n − c q ÷ |q|²), dk by symmetry; at 1e-8 the divisor
    /// is a constant.
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const Cosine&) const = default;
};

/// x: β x, the sharpened cosine (Graves et al. 2014, eq. 5).
struct Sharpen {
    float factor;

    Shape shape(Shapes in) const { return in[0]; }
    std::string formula(const Symbols&) const { return "β q · k ÷ |q| |k|"; }
    std::string caption(const Symbols& in) const { return "β·" + in.of(0); }
    std::string sentence() const {
        return fmt::format("× β {}: a larger factor makes the weights less even.", number_text(factor));
    }
    Operands operands() const { return {.same_as = 0}; }
    double work_per_cell(Shapes) const { return 1; }
    void rows(const RowWork& in, MatrixView out) const;
    void cells(const RegionWork& in, MatrixView out) const;
    /// dX = β dY.
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const Sharpen&) const = default;
};

}  // namespace attnscope::op
