// The transformer block around attention, the logits and the loss.
#include <fmt/format.h>

#include <cmath>

#include "core/error.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/attention/build.h"
#include "core/mechanism/attention/parts.h"

namespace attnscope {

Value AttentionBuilder::normed(const NormNames& norm, Value x) {
    const int d = builder_.shape(x).columns;
    const Value gain = norm_parameter(norm.gain, d, 1), shift = norm_parameter(norm.shift, d, 0);
    return builder_.add(norm.stage, op::LayerNorm{e_.attention.layer_norm_epsilon}, {x, gain, shift});
}

void AttentionBuilder::require_inputs_to_add() const {
    if (X_) return;
    throw Error(ErrorKind::bad_input,
                "block " + std::string(name_of(e_.attention.block)) +
                    " needs an embedding, but Q, K, V or the scores are custom: use block none");
}

/// The layer norm before attention (Xiong et al. 2020, pre-LN): attention reads the normalized input, the
/// residual the original.
void AttentionBuilder::normalize_first() {
    switch (e_.attention.block) {
        case Block::none: return;
        case Block::post_norm: return require_inputs_to_add();
        case Block::pre_norm: break;
    }
    require_inputs_to_add();
    const bool one_side = Y_ == X_, one_value_side = Y_v_ == Y_;
    X_ = normed(k_first_norm, x_);
    if (one_side) Y_ = X_;
    if (one_value_side) Y_v_ = Y_;
}

/// The output of attention, added to the block's input.
Value AttentionBuilder::first_residual() {
    const int queries = builder_.shape(x_).rows, d = builder_.shape(x_).columns;
    if (!output_ || builder_.shape(output_).columns != d || builder_.shape(output_).rows != queries)
        refuse_shape(output_ ? builder_.name(output_) : "the output", N_,
                     output_ ? builder_.shape(output_).columns : 0,
                     must_be(queries, d) + " to be added to the embedding");
    return builder_.add("residual_1"_stage, op::Add{}, {x_, output_});
}

Value AttentionBuilder::feed_forward(Value x) {
    const Value W_1 = parameter("W_1"), b_1 = parameter("b_1");
    const Value W_2 = parameter("W_2"), b_2 = parameter("b_2");
    for (const Value each : {W_1, b_1, W_2, b_2})
        builder_.may_override(builder_.name(each), builder_.shape(each).rows, builder_.shape(each).columns);
    const Value fed = add_feed_forward(builder_, e_, 0, x, {W_1, b_1, W_2, b_2});
    if (const int d = builder_.shape(x).columns; builder_.shape(fed).columns != d)
        refuse_shape("W_2", builder_.shape(W_2).rows, builder_.shape(W_2).columns,
                     fmt::format("needs {} rows", d));
    return fed;
}

/// The rest of the block around attention: residual, norm, feed-forward, residual, norm (Vaswani et al. 2017,
/// §3.1), or with a norm before each part instead (Xiong et al. 2020).
void AttentionBuilder::surround() {
    const auto add = [&](Value x, Value fed) {
        return builder_.add("residual_2"_stage, op::Add{}, {x, fed});
    };
    switch (e_.attention.block) {
        case Block::none: return;
        case Block::post_norm: {
            const Value x = normed(k_first_norm, first_residual());
            output_ = normed(k_second_norm, add(x, feed_forward(x)));
            return;
        }
        case Block::pre_norm: {
            const Value x = first_residual();
            output_ = add(x, feed_forward(normed(k_second_norm, x)));
            return;
        }
    }
}

void AttentionBuilder::add_logits() {
    if (!output_) return;
    builder_.may_override("W_out", std::max(table_rows_, 1), builder_.shape(output_).columns);
    if (!is_custom("W_out")) return;
    const Value W = custom("W_out");
    const Value logits =
        builder_.linear("logits"_stage, output_, W, is_custom("b_out") ? custom("b_out") : Value{});
    builder_.may_override("b_out", 1, builder_.shape(logits).columns);
    output_ = builder_.add("log_probs"_stage, op::LogSoftmax{}, {logits});
    builder_.add("probabilities"_stage, op::Exponential{}, {output_});
}

/// Adds the loss: the mean of −log p of each row's target, or Σ loss_weights ∘ output.
void AttentionBuilder::add_loss() {
    builder_.graph.loss_advice = "set the custom matrices W_out and targets, or loss_weights";
    if (!output_) return;
    if (is_custom("W_out")) builder_.may_override("targets", 1, N_);
    builder_.may_override("loss_weights", N_, builder_.shape(output_).columns);
    if (is_custom("targets") && is_custom("W_out")) {
        const Value targets = custom("targets");
        builder_.require_shape(targets, 1, N_);
        const Matrix& rows = e_.weights.find_custom("targets")->values();
        const int words = builder_.shape(output_).columns;
        for (int i = 0; i < N_; ++i)
            if (const float target = rows(0, i);
                !(target >= 0 && target < static_cast<float>(words)) || target != std::floor(target))
                throw Error(ErrorKind::bad_input,
                            fmt::format("target {} is not a row of W_out: use 0 to {}", i + 1, words - 1));
        builder_.add("loss"_stage, op::CrossEntropy{}, {output_, targets});
    } else if (is_custom("loss_weights")) {
        const Value G = custom("loss_weights");
        builder_.require_shape(G, N_, builder_.shape(output_).columns);
        builder_.add("loss"_stage, op::WeightedTotal{}, {output_, G});
    }
}

}  // namespace attnscope
