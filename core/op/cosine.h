// The cosine of the angle between query and key.
#pragma once

#include "core/op/proof.h"
#include "core/op/torch.h"
#include "core/op/work.h"

namespace attnscope::op {

/// Q (h × N × d), K (h × M × d): q · k / max(|q| |k|, 1e-8) (Graves et al. 2014, eq. 6); h × N × M.
struct Cosine {
    Shape shape(Shapes in) const { return per_head(in[0].heads, in[0].rows, in[1].rows); }
    void forward(const Work& in, Tensor& out) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const Cosine&) const = default;
};

/// x: β x, the sharpened cosine (Graves et al. 2014, eq. 5).
struct Sharpen {
    float factor;

    Shape shape(Shapes in) const { return in[0]; }
    void forward(const Work& in, Tensor& out) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const Sharpen&) const = default;
};

}  // namespace attnscope::op
