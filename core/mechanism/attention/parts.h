// The parts of a graph that attention and each layer of a stack have in common.
#pragma once

#include <memory>

#include "core/experiment/experiment.h"
#include "core/graph/graph.h"
#include "core/graph/stage_table.h"

namespace attnscope {

/// The mask of the experiment's rules, a custom mask, a local window around `centers` (absent: none) and the
/// −∞ of a bias of queries × keys (nullptr: none). Throws Error(bad_input) for rules and a custom mask that
/// do not fit.
Value add_mask(GraphBuilder& builder, const Experiment& e, int queries, int keys, Value centers,
               std::shared_ptr<const Matrix> bias = nullptr);

/// The bias −m · distance of each head (Press et al. 2022).
Value add_alibi(GraphBuilder& builder, const Experiment& e, int queries, int keys);

/// A layer norm: its result, gain and shift.
struct NormNames {
    const StageInfo* stage;
    CustomName gain, shift;
};
inline constexpr NormNames k_first_norm{"norm_1"_stage, "ln1_g", "ln1_b"};
inline constexpr NormNames k_second_norm{"norm_2"_stage, "ln2_g", "ln2_b"};

/// The parameters of a feed-forward layer.
struct FeedForward {
    Value W_1, b_1, W_2, b_2;
};
/// activation(x W_1ᵀ + b_1) W_2ᵀ + b_2 (Vaswani et al. 2017, §3.3), in a layer from 1, or 0 outside layers.
Value add_feed_forward(GraphBuilder& builder, const Experiment& e, int layer, Value x,
                       const FeedForward& parameters);

}  // namespace attnscope
