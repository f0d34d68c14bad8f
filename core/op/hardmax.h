// Hard attention: all weight on one key.
#pragma once

#include "core/op/formula.h"
#include "core/op/proof.h"
#include "core/op/row_work.h"
#include "core/op/torch.h"
#include "core/op/work.h"

namespace attnscope::op {

/// x (h × N × M, −∞ where closed): 1 at the maximum of each row, the first if several tie; 0 elsewhere (Xu et
/// al. 2015, §4.1, by arg-max). A NaN in an open cell makes the row's open cells NaN; a row with nothing open
/// is all zeros.
struct Hardmax {
    static constexpr std::string_view k_no_gradient =
        "zeros and ones: no small change of a score changes them";

    Shape shape(Shapes in) const { return in[0]; }
    std::string formula(const Symbols& in) const {
        return "1 at the row's maximum of ( " + in.formula_of(0) + " )";
    }
    std::string caption(const Symbols&) const { return "hard"; }
    Operands operands() const { return {.same_as = 0}; }
    double work_per_cell(Shapes) const { return k_softmax_work; }
    void rows(const RowWork& in, MatrixView out) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const Hardmax&) const = default;
};

/// Computes some rows of one head, n × M each.
void hardmax_rows(ConstMatrixView x, MatrixView out);

}  // namespace attnscope::op
