// Dropout of weights.
#pragma once

#include "core/op/backward.h"
#include "core/op/formula.h"
#include "core/op/proof.h"
#include "core/op/row_work.h"
#include "core/op/torch.h"
#include "core/op/work.h"

namespace attnscope::op {

/// weights (h × N × M), kept (h × N × M, 1 or 0): weights · kept ÷ (1 − p) (Srivastava et al. 2014; inverted
/// dropout, as in torch.nn.functional.dropout).
struct Dropout {
    float keep_probability;  ///< 1 − p

    Shape shape(Shapes in) const { return in[0]; }
    std::string formula(const Symbols& in) const {
        return fmt::format("{} ∘ kept ÷ (1 − p), p = {}", in.of(0), number_text(1 - keep_probability));
    }
    std::string sentence() const {
        return "Dropout sets some weights to 0 and enlarges the others, so that the sum is the same on "
               "average.";
    }
    Operands operands() const { return {.same_as = 0}; }
    double work_per_cell(Shapes) const { return 1; }
    void rows(const RowWork& in, MatrixView out) const;
    /// dA = dY ∘ kept ÷ (1 − p).
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const Dropout&) const = default;
};

}  // namespace attnscope::op
