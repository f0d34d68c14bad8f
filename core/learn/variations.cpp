#include "core/learn/variations.h"

#include <algorithm>
#include <array>

#include "core/error.h"
#include "core/learn/training_run.h"

namespace attnscope {
namespace {

constexpr MechanismKind k_stack = MechanismKind::transformer, k_decoder = MechanismKind::seq2seq;

constexpr std::array k_variations = {
    Variation{"no positions", "Without positions a model knows which tokens occur, but not where", k_stack,
              [](Experiment& e) { e.attention.position = Position::none; }},
    Variation{"one head", "One head can attend to one thing at a time", k_stack,
              [](Experiment& e) { e.attention.heads = 1; }},
    Variation{"one layer", "An induction head reads what a head of an earlier layer wrote", k_stack,
              [](Experiment& e) { e.transformer.layers = 1; }},
    Variation{"no mask", "A model that sees the next token copies it, and learns nothing else", k_stack,
              [](Experiment& e) { e.weighting.mask.clear(); }},
    Variation{"no scaling", "Scores that are not divided by √d_k saturate the softmax early", k_stack,
              [](Experiment& e) { e.attention.scale.kind = Scale::Kind::none; }},
    Variation{"no layer norms", "Without norms the residual stream grows from layer to layer", k_stack,
              [](Experiment& e) { e.transformer.norm = Norm::none; }},
    Variation{"no feed-forward layers", "Attention alone moves information; it computes little from it",
              k_stack, [](Experiment& e) { e.attention.feed_forward_size = 0; }},
    Variation{"without the ablated heads",
              "Ablate heads (right-click), then train without them from the beginning", k_stack,
              [](Experiment& e) { e.training.ablated = e.attention.ablated; }},
    Variation{"no attention", "The encoder's last state alone has to hold the whole sentence", k_decoder,
              [](Experiment& e) { e.seq2seq.decoder_attention = DecoderAttention::none; }},
    Variation{"no backward encoder", "An annotation then knows only its own word and those before it",
              k_decoder, [](Experiment& e) { e.seq2seq.encoder = Encoder::forward; }},
    Variation{"another seed", "What depends on the random initial weights, and what does not", std::nullopt,
              [](Experiment& e) { e.weights.seed = Seed::from_unsigned(e.weights.seed.bits() + 1); }},
    Variation{"plain gradient descent",
              "The same learning rate, without Adam's running averages of the gradients", std::nullopt,
              [](Experiment& e) { e.training.optimizer.kind = OptimizerKind::sgd; }},
};

}  // namespace

std::span<const Variation> variations() { return k_variations; }

const Variation* find_variation(std::string_view name) {
    const auto found = std::ranges::find(k_variations, name, &Variation::name);
    return found == k_variations.end() ? nullptr : &*found;
}

std::optional<Experiment> varied(const Experiment& experiment, const Variation& variation) {
    if (variation.mechanism && *variation.mechanism != experiment.mechanism) return std::nullopt;
    const Experiment before = untrained(experiment);
    Experiment after = before;
    variation.apply(after);
    drop_missing_heads(after);
    const bool valid = after != before && can_be_trained(after) && succeeds([&] { check(after); });
    return valid ? std::optional(after) : std::nullopt;
}

}  // namespace attnscope
