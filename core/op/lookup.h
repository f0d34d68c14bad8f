// Looking up rows of a table.
#pragma once

#include "core/op/backward.h"
#include "core/op/formula.h"
#include "core/op/proof.h"
#include "core/op/torch.h"
#include "core/op/work.h"

namespace attnscope::op {

/// tokens (n × 1, rows from 0), table (words × d): each token's row; n × d.
struct Lookup {
    Shape shape(Shapes in) const { return matrix(in[0].rows, in[1].columns); }
    std::string formula(const Symbols& in) const { return in.own + " = " + in.of(1) + "[" + in.of(0) + "]"; }
    void forward(const Work& in, Tensor& out) const;
    /// Each token adds its row of dY to its row of the table's gradient.
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const Lookup&) const = default;
};

}  // namespace attnscope::op
