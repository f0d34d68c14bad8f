#include "tests/random_attention.h"

#include <cmath>

#include "core/graph/stage_table.h"
#include "core/mechanism/attention/scores.h"
#include "core/mechanism/evaluate.h"
#include "core/op/normalizers.h"
#include "core/random/initializers.h"
#include "core/text/tokenizer.h"
#include "core/text/vocabulary.h"
#include "tests/image_fixture.h"

namespace attnscope::test {
namespace {

Experiment random_attention_settings(Dice& dice) {
    Experiment e;
    e.input.text = random_text(dice);
    if (dice.one_in(3)) e.input.text2 = random_text(dice);
    e.input.tokenizer = dice.choice_of(tokenizers());
    e.input.vocabulary = dice.choice_of(vocabulary_rules());
    e.input.table_size = dice.of({0, 10, 40});
    e.weights.seed = dice.of({Seed(0), Seed(-1), Seed(dice.below(100000)), Seed::from_unsigned(~0ull)});
    e.attention.heads = dice.of({1, 1, 2, 3});
    e.input.dim = e.attention.heads * (dice.one_in(3) ? dice.from_to(1, 5) : 2 * dice.from_to(1, 4));
    e.weights.embedding = dice.choice_of(initializers());
    e.attention.position =
        dice.of({Position::none, Position::sinusoidal, Position::rope, Position::alibi, Position::learned});
    e.attention.rope_layout = dice.of({RopeLayout::interleaved, RopeLayout::half});
    e.attention.projection =
        dice.one_in(6) ? Projection::none : dice.choice_of(projection_rules().subspan(1));
    e.weights.projection_seed = dice.seed();
    e.attention.projection_bias = dice.one_in(3);
    if (dice.one_in(4)) e.attention.key_size = e.attention.heads * 2 * dice.from_to(1, 3);
    if (dice.one_in(4)) e.attention.value_size = e.attention.heads * dice.from_to(1, 5);
    e.attention.score = dice.choice_of(score_functions());
    e.weights.score_seed = dice.seed();
    e.weighting.hidden = dice.from_to(1, 9);
    e.attention.sharpening = dice.of({1.0, 2.5, 0.1});
    e.attention.bandwidth = dice.of({1.0, 0.5, 3.0});
    e.attention.scale = {dice.of({Scale::Kind::sqrt, Scale::Kind::none, Scale::Kind::number}), 0.3};
    e.weighting.normalizer = dice.one_in(2) ? Normalization::softmax : dice.choice_of(normalizers());
    e.attention.softmax_axis = dice.of({SoftmaxAxis::keys, SoftmaxAxis::keys, SoftmaxAxis::queries});
    e.weighting.temperature = dice.of({1.0, 1.0, 0.7});
    e.weighting.local_window = dice.from_to(1, 8) / 2.0;
    e.attention.dropout = dice.of({0.0, 0.0, 0.1, 0.5});
    e.attention.dropout_seed = Seed(dice.below(1000));
    e.attention.training = !dice.one_in(4);
    e.attention.output_projection = dice.one_in(2);
    e.attention.block = dice.of({Block::none, Block::none, Block::post_norm, Block::pre_norm});
    e.attention.activation = dice.of({Activation::relu, Activation::gelu});
    e.attention.feed_forward_size = dice.of({0, 5});
    e.weights.block_seed = dice.seed();
    if (e.input.text2.empty() && dice.one_in(4)) {
        e.input.image = CustomImage(gradient(dice.from_to(1, 40), dice.from_to(1, 40)));
        e.input.grid = dice.from_to(1, 4);
        e.input.patch_size = dice.from_to(1, 6);
        e.weights.image_seed = dice.seed();
    }
    if (e.attention.activation == Activation::gelu) e.attention.layer_norm_epsilon = 0.5;
    for (int head = 1; head <= e.attention.heads; ++head)
        if (dice.one_in(6)) e.attention.ablated.push_back({1, head});
    e.attention.ablation = dice.of({Ablation::zero, Ablation::mean});
    return e;
}

/// Some of what `trace` has, and more that fits it, given.
void set_custom(Dice& dice, const Trace& trace, Experiment& e) {
    const int N = trace.find("weights"_stage)->shape().rows, M = trace.find("weights"_stage)->shape().columns;
    const auto set = [&](std::string_view name, Matrix values) {
        e.weights.custom.insert_or_assign(std::string(name), CustomMatrix(std::move(values)));
    };
    for (const OverridableMatrix& known : overridable_matrices())
        if (const Stage* stage = trace.find_named(known.name); stage && dice.one_in(2)) {
            const Shape& shape = stage->shape();
            const int rows = shape.heads * shape.rows;
            const bool zeros_and_ones = known.name == "mask" || known.name == "dropout_keep";
            if (known.name == "value" && dice.one_in(3)) {  // may have any width
                set(known.name, dice.matrix(rows, e.attention.heads * dice.from_to(1, 5)));
                continue;
            }
            set(known.name,
                zeros_and_ones ? dice.bits(rows, shape.columns) : dice.matrix(rows, shape.columns));
        }
    if (dice.one_in(6)) {
        Matrix bias = dice.matrix(N, M);
        if (dice.one_in(2)) bias(dice.below(N), dice.below(M)) = -INFINITY;
        set("mask_additive", std::move(bias));
    }
    if (e.attention.score == Score::additive && dice.one_in(2))
        set("b_a", dice.matrix(1, e.weighting.hidden));
    if (dice.one_in(8)) set("embedding_v", dice.matrix(M, e.input.dim));
    if (dice.one_in(20)) set("scores", dice.matrix(N, M));
    const int width = [&] {
        for (const char* name : {"norm_2", "residual_2", "output", "concat"})
            if (const Stage* stage = trace.find_named(name)) return stage->shape().columns;
        return trace.find("context"_stage)->shape().columns;
    }();
    if (dice.one_in(6)) {
        set("W_out", dice.matrix(5, width));
        if (dice.one_in(2)) set("b_out", dice.matrix(1, 5));
        if (dice.one_in(2)) set("targets", Matrix::Constant(1, N, static_cast<float>(dice.below(5))));
    } else if (dice.one_in(6)) {
        set("loss_weights", dice.matrix(N, width));
    }
}

}  // namespace

Experiment random_attention(Dice& dice) {
    Experiment e = random_attention_settings(dice);
    const int queries = evaluate(e).find("weights"_stage)->shape().rows;
    for (int rules = dice.below(3); rules > 0; --rules)
        e.weighting.mask.push_back(random_rule(dice, queries));
    const Trace trace = evaluate(e);
    if (!dice.one_in(3)) set_custom(dice, trace, e);
    evaluate(e);
    return e;
}

}  // namespace attnscope::test
