#include "tests/random_transformer.h"

#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "core/op/normalizers.h"
#include "core/random/initializers.h"
#include "core/text/tokenizer.h"
#include "core/text/vocabulary.h"

namespace attnscope::test {
namespace {

Experiment random_transformer_settings(Dice& dice) {
    Experiment e;
    e.mechanism = MechanismKind::transformer;
    e.input.text = random_text(dice);
    e.input.tokenizer = dice.choice_of(tokenizers());
    e.input.vocabulary = dice.choice_of(vocabulary_rules());
    e.input.table_size = dice.of({0, 10, 40});
    e.weights.seed = dice.of({Seed(0), Seed(-1), Seed(dice.below(100000)), Seed::from_unsigned(~0ull)});
    e.attention.heads = dice.of({1, 1, 2, 3});
    e.input.dim = e.attention.heads * 2 * dice.from_to(1, 3);
    e.weights.embedding = dice.choice_of(initializers());
    e.attention.position =
        dice.of({Position::none, Position::sinusoidal, Position::rope, Position::alibi, Position::learned});
    e.attention.rope_layout = dice.of({RopeLayout::interleaved, RopeLayout::half});
    e.attention.scale = {dice.of({Scale::Kind::sqrt, Scale::Kind::none, Scale::Kind::number}), 0.3};
    e.attention.activation = dice.of({Activation::relu, Activation::gelu});
    e.attention.feed_forward_size = dice.of({0, 3, 8});
    e.weighting.normalizer = dice.one_in(2) ? Normalization::softmax : dice.choice_of(normalizers());
    e.weighting.temperature = dice.of({1.0, 1.0, 0.7});
    e.weighting.local_window = dice.from_to(1, 8) / 2.0;
    e.transformer.layers = dice.from_to(1, 3);
    e.transformer.norm = dice.of({Norm::none, Norm::before, Norm::after});
    e.transformer.tied = dice.one_in(3);
    for (int layer = 1; layer <= e.transformer.layers; ++layer)
        for (int head = 1; head <= e.attention.heads; ++head)
            if (dice.one_in(6)) e.attention.ablated.push_back({layer, head});
    e.attention.ablation = dice.of({Ablation::zero, Ablation::mean});
    e.transformer.objective = dice.of({Objective::next, Objective::position});
    if (e.transformer.objective == Objective::position && dice.one_in(2)) e.input.text2 = e.input.text;
    if (e.attention.activation == Activation::gelu) e.attention.layer_norm_epsilon = 0.5;
    return e;
}

/// Rows of the table; with `none` also −1.
Matrix rows_of_table(Dice& dice, int count, int rows, bool none) {
    Matrix row(1, count);
    for (float& each : row.reshaped())
        each = static_cast<float>(none && dice.one_in(3) ? -1 : dice.below(rows));
    return row;
}

}  // namespace

Experiment random_transformer(Dice& dice) {
    Experiment e = random_transformer_settings(dice);
    const Trace trace = evaluate(e);
    const int rows = trace.find("table"_stage)->shape().rows, N = trace.find("tokens"_stage)->shape().rows;
    for (int rules = dice.below(3); rules > 0; --rules) e.weighting.mask.push_back(random_rule(dice, N));
    if (dice.one_in(2)) return e;
    for (const Overridable& each : trace.overridable) {
        if (!dice.one_in(4)) continue;
        const bool names_rows = each.name == "tokens" || each.name == "targets";
        Matrix values = names_rows            ? rows_of_table(dice, N, rows, each.name == "targets")
                        : each.name == "mask" ? dice.bits(each.rows, each.columns)
                                              : dice.matrix(each.rows, each.columns);
        e.weights.custom.emplace(each.name, CustomMatrix(std::move(values)));
    }
    evaluate(e);
    return e;
}

}  // namespace attnscope::test
