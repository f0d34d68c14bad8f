// The transformer's block around attention, the words' logits and the loss.
#include <cmath>

#include "core/attention/block.h"
#include "core/attention/evaluation.h"
#include "core/error.h"

namespace attnscope {

StagePtr AttentionEvaluation::normed(const std::string& name, const StagePtr& x, const std::string& prefix) {
    const int d = x->shape().columns;
    const StagePtr gain = block_weight(prefix + "_g", 1, d), shift = block_weight(prefix + "_b", 1, d);
    require_shape(*gain, 1, d);
    require_shape(*shift, 1, d);
    return build_.stage(name, {x, gain, shift}, {}, x->shape(), step::LayerNorm{}, [&](Tensor& rows) {
        layer_norm(values(x), values(gain), values(shift), rows.head(0));
    });
}

StagePtr AttentionEvaluation::sum(const std::string& name, const StagePtr& a, const StagePtr& b) {
    return build_.stage(name, {a, b}, {}, a->shape(), step::Sum{},
                        [&](Tensor& rows) { rows.head(0) = values(a) + values(b); });
}

/// Before attention (Xiong et al. 2020, pre-LN): what it reads is normed, what is added to is not.
void AttentionEvaluation::normalize_first() {
    if (e_.block == Block::none) return;
    if (!X_)
        throw Error(ErrorKind::bad_input,
                    "block " + std::string(name_of(e_.block)) +
                        " adds to the embedding and Q, K, V or the scores are given: use block none");
    if (e_.block != Block::pre_norm) return;
    const bool one_side = Y_ == X_, one_value_side = Y_v_ == Y_;
    X_ = normed("norm_1", x_, "ln1");
    if (one_side) Y_ = X_;
    if (one_value_side) Y_v_ = Y_;
}

/// Vaswani et al. 2017, §3.1: residual, norm, feed-forward, residual, norm.
void AttentionEvaluation::surround() {
    if (e_.block == Block::none) return;
    const int queries = x_->shape().rows, d = x_->shape().columns;
    if (!output_ || output_->shape().columns != d || output_->shape().rows != queries)
        refuse_shape(output_ ? output_->name() : "the output", N_, output_ ? output_->shape().columns : 0,
                     std::to_string(queries) + " × " + std::to_string(d) + " to add to the embedding");
    const bool first = e_.block == Block::pre_norm;
    const StagePtr residual_1 = sum("residual_1", x_, output_);
    const StagePtr norm_1 = first ? nullptr : normed("norm_1", residual_1, "ln1");
    const StagePtr to_add = first ? residual_1 : norm_1;
    const StagePtr read = first ? normed("norm_2", residual_1, "ln2") : norm_1;
    const int hidden = e_.feed_forward_columns();
    const StagePtr W_1 = block_weight("W_1", hidden, d), b_1 = block_weight("b_1", 1, hidden);
    const StagePtr pre = linear("feed_forward_hidden", read, W_1, b_1);
    const StagePtr active = build_.stage(
        "feed_forward_active", {pre}, settings(e_.activation), pre->shape(), step::Activate{e_.activation},
        [&](Tensor& rows) {
            rows.head(0) = values(pre).unaryExpr(e_.activation == Activation::gelu ? &gelu : &relu);
        });
    const StagePtr W_2 = block_weight("W_2", d, hidden), b_2 = block_weight("b_2", 1, d);
    const StagePtr feed_forward = linear("feed_forward", active, W_2, b_2);
    if (feed_forward->shape().columns != d)
        refuse_shape("W_2", W_2->shape().rows, W_2->shape().columns, std::to_string(d) + " × in");
    output_ = sum("residual_2", to_add, feed_forward);
    if (!first) output_ = normed("norm_2", output_, "ln2");
}

void AttentionEvaluation::add_logits() {
    if (!output_ || !is_given("W_out")) return;
    const StagePtr logits =
        linear("logits", output_, given("W_out"), is_given("b_out") ? given("b_out") : nullptr);
    output_ = build_.stage("log_probs", {logits}, {}, logits->shape(), step::LogSoftmax{},
                           [&](Tensor& rows) { log_softmax(values(logits), rows.head(0)); });
}

/// The mean of −log p of each row's target, or Σ loss_weights ∘ output.
void AttentionEvaluation::add_loss() {
    if (!output_) return;
    const auto loss = [&](const StagePtr& reads, const auto& compute) {
        build_.stage("loss", {output_, reads}, {}, [&] {
            Tensor value({.heads = 1, .rows = 1, .columns = 1});
            value.head(0)(0, 0) = static_cast<float>(compute());
            return value;
        });
    };
    if (is_given("targets") && is_given("W_out")) {
        const StagePtr targets = given("targets");
        require_shape(*targets, 1, N_);
        const int words = output_->shape().columns;
        for (int i = 0; i < N_; ++i) {
            const float target = values(targets)(0, i);
            if (!(target >= 0 && target < static_cast<float>(words)) || target != std::floor(target))
                throw Error(ErrorKind::bad_input, "target " + std::to_string(i + 1) +
                                                      " is not a row of W_out: use 0 to " +
                                                      std::to_string(words - 1));
        }
        loss(targets, [&] {
            double sum = 0;
            for (int i = 0; i < N_; ++i) sum -= values(output_)(i, static_cast<int>(values(targets)(0, i)));
            return sum / N_;
        });
    } else if (is_given("loss_weights")) {
        const StagePtr G = given("loss_weights");
        require_shape(*G, N_, output_->shape().columns);
        loss(G, [&] {
            return (values(G).cast<double>().array() * values(output_).cast<double>().array()).sum();
        });
    }
}

}  // namespace attnscope
