// The steps in order, and those after the weights.
#include "core/recipe/recipe_attention.h"

#include <algorithm>

namespace attnscope {

void AttentionRecipe::write() {
    tokens();
    embedding();
    annotations();
    positions();
    normalize_first();
    projections();
    heads();
    score();
    scale();
    biases();
    mask();
    weights();
    dropout();
    context();
    output();
    block();
    logits();
    loss();
}

/// Whether a closed cell meets a value that is not finite: 0 · NaN is NaN.
bool AttentionRecipe::values_meet_closed() const {
    const ValueRange& values = trace_.find(V_)->buffer.range();
    return values.nan + values.plus_infinity + values.minus_infinity > 0 &&
           trace_.find("masked")->buffer.range().minus_infinity > 0;
}

void AttentionRecipe::context() {
    if (!has("context")) return;
    section("Context: the weighted sum of the values.");
    if (values_meet_closed()) {
        line("# Over the open keys only: 0 times NaN would be NaN.");
        line("terms = " + weights_ + ".unsqueeze(-1) * " + V_ + ".unsqueeze(-3)");
        line("context = terms.masked_fill((masked == -inf).unsqueeze(-1), 0).sum(dim=-2)");
    } else {
        line("context = " + weights_ + " @ " + V_);
    }
    output_ = "context";
    if (!has("concat")) return;
    line("concat = torch.cat(context.unbind(), dim=-1)  # the heads side by side");
    output_ = "concat";
}

void AttentionRecipe::output() {
    if (!has("output")) return;
    given_among({"W_o", "b_o"});
    line("output = " + affine(output_, "W_o", "b_o"));
    output_ = "output";
}

void AttentionRecipe::layer_norm(const std::string& name, const std::string& x, const std::string& prefix) {
    const std::string gain = prefix + "_g", shift = prefix + "_b", d = text(columns(x));
    if (e_.is_given(gain))
        given(gain);
    else
        line(gain + " = torch.ones(" + d + ")");
    if (e_.is_given(shift))
        given(shift);
    else
        line(shift + " = torch.zeros(" + d + ")");
    line(name + " = torch.nn.functional.layer_norm(" + x + ", (" + d + ",), " + gain + ", " + shift + ")");
}

GeneratorState AttentionRecipe::block_start() const {
    if (e_.weights.block_seed.kind != ProjectionSeed::Kind::proceed) return start(e_.weights.block_seed);
    GeneratorState state = score_start();
    for (const DrawLine& each : score_draws()) state.draws.push_back(each);
    return state;
}

std::vector<DrawLine> AttentionRecipe::block_draws() const {
    const std::string d = text(columns(x_)), hidden = text(e_.feed_forward_columns());
    return {{"W_1, b_1", "torch.nn.Linear(" + d + ", " + hidden + ").parameters()"},
            {"W_2, b_2", "torch.nn.Linear(" + hidden + ", " + d + ").parameters()"}};
}

void AttentionRecipe::block_weights() {
    if (!has("W_1") || block_is_drawn_) return;
    block_is_drawn_ = true;
    const bool drawn = is_drawn("W_1") || is_drawn("b_1") || is_drawn("W_2") || is_drawn("b_2");
    section("The feed-forward layer's weights" +
            (drawn ? ", " + seed_text(e_.weights.block_seed) + "." : std::string(".")));
    if (drawn) {
        script_.reach(block_start());
        for (const DrawLine& each : block_draws()) script_.draw(each);
    }
    given_among({"W_1", "b_1", "W_2", "b_2"});
}

/// Vaswani et al. 2017, §3.1, or the variant with the norms first.
void AttentionRecipe::block() {
    if (e_.attention.block == Block::none) return;
    const bool first = e_.attention.block == Block::pre_norm;
    section(first ? "The block: the output of attention is added to its input before the norm."
                  : "The block: the output of attention is added to its input and normalized.");
    line("residual_1 = " + x_ + " + " + output_);
    if (first)
        layer_norm("norm_2", "residual_1", "ln2");
    else
        layer_norm("norm_1", "residual_1", "ln1");
    block_weights();
    line("feed_forward_hidden = " + affine(first ? "norm_2" : "norm_1", "W_1", "b_1"));
    line("feed_forward_active = torch.nn.functional." + std::string(name_of(e_.attention.activation)) +
         "(feed_forward_hidden)");
    line("feed_forward = " + affine("feed_forward_active", "W_2", "b_2"));
    line(std::string("residual_2 = ") + (first ? "residual_1" : "norm_1") + " + feed_forward");
    output_ = "residual_2";
    if (first) return;
    layer_norm("norm_2", "residual_2", "ln2");
    output_ = "norm_2";
}

void AttentionRecipe::logits() {
    if (!has("logits")) return;
    section("The probability of each word.");
    given_among({"W_out", "b_out"});
    line("logits = " + affine(output_, "W_out", "b_out"));
    line("log_probs = logits.log_softmax(dim=-1)");
    output_ = "log_probs";
}

void AttentionRecipe::loss() {
    if (!has("loss")) return;
    if (has("targets")) {
        section("The loss: the mean of −log p at the targets.");
        std::vector<std::string> targets;
        for (const float target : e_.weights.given.at("targets").values().reshaped())
            targets.push_back(text(static_cast<int>(target)));
        script_.list("targets = torch.tensor([", targets, "])");
        line("loss = torch.nn.functional.nll_loss(log_probs, targets)");
    } else {
        section("The loss: the weighted sum of the output.");
        given("loss_weights");
        line("loss = (loss_weights * " + output_ + ").sum()");
    }
}

void write_attention(Script& script, const Trace& trace) { AttentionRecipe(script, trace).write(); }

}  // namespace attnscope
