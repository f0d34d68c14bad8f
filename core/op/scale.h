// Scaling of the scores.
#pragma once

#include "core/experiment/experiment.h"
#include "core/op/backward.h"
#include "core/op/formula.h"
#include "core/op/proof.h"
#include "core/op/region.h"
#include "core/op/row_work.h"
#include "core/op/torch.h"
#include "core/op/work.h"

namespace attnscope::op {

/// x · factor ÷ temperature, multiplied first (Vaswani et al. 2017, eq. 1, with factor = 1/√d_k).
struct Scale {
    attnscope::Scale by;
    int d_k;             ///< columns of K in one head; used by the scale 1/√d_k
    double temperature;  ///< T

    Shape shape(Shapes in) const { return in[0]; }
    std::string formula(const Symbols& in) const {
        const std::string factor = by.kind == attnscope::Scale::Kind::none ? "" : " " + factor_symbol();
        return in.formula_of(0) + factor + (temperature == 1 ? "" : " ÷ T");
    }
    std::string caption(const Symbols&) const;
    std::string sentence() const;
    Operands operands() const { return {.same_as = 0}; }
    double work_per_cell(Shapes) const { return 1; }
    void rows(const RowWork& in, MatrixView out) const;
    void cells(const RegionWork& in, MatrixView out) const;
    /// dX = dY · factor ÷ temperature.
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    float factor() const { return static_cast<float>(by.factor(d_k)); }
    std::string factor_symbol() const;  ///< "÷ √d_k", "× 1", "× s"
    /// Whether any score changes.
    bool changes() const { return factor() != 1 || temperature != 1; }
    /// 1/√16 and the number 0.25 are one scale.
    bool operator==(const Scale& other) const {
        return factor() == other.factor() && temperature == other.temperature;
    }
};

}  // namespace attnscope::op
