// Which query may look at which key.
#pragma once

#include <memory>
#include <vector>

#include "core/attention/masks.h"
#include "core/op/proof.h"
#include "core/op/work.h"

namespace attnscope::op {

/// Nothing, or the centres of local windows (h × N × 1): 1 where every rule allows, no custom matrix closes
/// and key j is within `window` of the query's centre; N × M, or h × N × M where each head has its own
/// centres. A centre that is NaN is near nothing.
struct Mask {
    int queries, keys;
    std::vector<MaskRule> rules;
    double window = 0;                               ///< D; read with centres alone
    std::shared_ptr<const Matrix> custom = nullptr;  ///< N × M, closed where it is 0; may be none
    std::shared_ptr<const Matrix> bias = nullptr;    ///< N × M, closed where it is −∞; may be none

    Shape shape(Shapes in) const;
    void forward(const Work& in, Tensor& out) const;
    void explain(Proof& proof, const Cell& cell) const;
    bool operator==(const Mask&) const = default;
};

/// x (h × N × M), mask: x where the mask is 1, else −∞ (Vaswani et al. 2017, §3.2.3).
struct MaskedFill {
    Shape shape(Shapes in) const { return in[0]; }
    void forward(const Work& in, Tensor& out) const;
    void explain(Proof& proof, const Cell& cell) const;
    bool operator==(const MaskedFill&) const = default;
};

}  // namespace attnscope::op
