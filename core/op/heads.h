// Splitting features into heads, and joining them again.
#pragma once

#include <optional>

#include "core/experiment/choices.h"
#include "core/op/backward.h"
#include "core/op/formula.h"
#include "core/op/proof.h"
#include "core/op/region.h"
#include "core/op/torch.h"
#include "core/op/work.h"

namespace attnscope::op {

/// x (n × h·w): h × n × w, head h taking columns h·w … (h+1)·w − 1 (Vaswani et al. 2017, §3.2.2); with
/// `rotary` each head's rows are then rotated by rotate_positions(). With a `batch` of sentences, one below
/// the other in x, each has heads of its own: those of the first sentence come first.
struct SplitHeads {
    int heads;
    std::optional<RopeLayout> rotary = {};
    int batch = 1;

    Shape shape(Shapes in) const {
        return per_head(batch * heads, in[0].rows / batch, in[0].columns / heads);
    }
    std::string formula(const Symbols& in) const;
    void forward(const Work& in, Tensor& out) const;
    /// dX: the heads of dY side by side, each first rotated back.
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const SplitHeads&) const = default;
};

/// x (h × n × w): n × h·w, the heads side by side; with a `batch` the sentences one below the other, as in
/// SplitHeads.
struct JoinHeads {
    int batch = 1;

    Shape shape(Shapes in) const { return matrix(batch * in[0].rows, in[0].heads / batch * in[0].columns); }
    std::string formula(const Symbols&) const { return "the heads' contexts side by side"; }
    void forward(const Work& in, Tensor& out) const;
    void cells(const RegionWork& in, MatrixView out) const;
    /// dX: the columns of dY that are each head's.
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const JoinHeads&) const = default;
};

}  // namespace attnscope::op
