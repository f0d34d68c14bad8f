// The experiments whose every cell is proved.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "core/experiment/experiment.h"
#include "core/random/generator.h"

namespace attnscope::test {

inline Matrix random_matrix(int rows, int columns, std::int64_t seed) {
    Matrix matrix(rows, columns);
    Generator generator(seed);
    generator.normal({matrix.data(), static_cast<std::size_t>(matrix.size())});
    return matrix;
}

struct Case {
    std::string name;
    Experiment experiment;
};

/// The default experiment, changed.
template <typename Change>
Case changed(const char* name, const Change& change) {
    Case result{name, {}};
    change(result.experiment);
    return result;
}

inline std::vector<Case> cases() {
    return {
        changed("default", [](Experiment&) {}),
        changed("four_heads", [](Experiment& e) { e.attention.heads = 4; }),
        changed("four_heads_output",
                [](Experiment& e) {
                    e.attention.heads = 4;
                    e.attention.projection = Projection::mha;
                    e.attention.output_projection = true;
                    e.weighting.mask = {{MaskForm::causal, {}}};
                }),
        changed("output", [](Experiment& e) { e.attention.output_projection = true; }),
        changed("no_projection",
                [](Experiment& e) {
                    e.attention.projection = Projection::none;
                    e.attention.scale = {Scale::Kind::none};
                }),
        changed("causal_and_valid",
                [](Experiment& e) {
                    e.weighting.mask = {{MaskForm::causal, {}}, {MaskForm::valid, {5}}};
                }),
        changed("nothing_open",
                [](Experiment& e) {
                    e.weighting.mask = {{MaskForm::valid, {0}}};
                }),
        changed("four_heads_some_rows_empty",
                [](Experiment& e) {
                    e.attention.heads = 4;
                    e.weighting.mask = {{MaskForm::valid, {0, 1, 2, 3, 0, 5, 6, 7}}};
                }),
        changed("temperature_and_number",
                [](Experiment& e) {
                    e.weighting.temperature = 2.5;
                    e.attention.scale = {Scale::Kind::number, 0.3};
                }),
        changed("one_token", [](Experiment& e) { e.input.text = "Hello"; }),
        changed("stable_characters",
                [](Experiment& e) {
                    e.input.tokenizer = TokenizerKind::characters;
                    e.input.vocabulary = VocabularyOrder::stable;
                    e.input.text = "a b a";
                }),
        changed("lexicon", [](Experiment& e) { e.input.vocabulary = VocabularyOrder::lexicon; }),
        changed("biases",
                [](Experiment& e) {
                    e.attention.output_projection = true;
                    for (const char* name : {"b_q", "b_k", "b_v", "b_o"})
                        e.weights.custom.emplace(name, CustomMatrix(random_matrix(1, 16, 5)));
                }),
        changed("custom_embeddings",
                [](Experiment& e) {
                    e.weights.custom.emplace("embedding", CustomMatrix(random_matrix(5, 16, 1)));
                    e.weights.custom.emplace("embedding_kv", CustomMatrix(random_matrix(3, 16, 2)));
                    e.weights.custom.emplace("W_q", CustomMatrix(random_matrix(16, 16, 3)));
                }),
        changed("custom_query_key_value",
                [](Experiment& e) {
                    e.attention.heads = 2;
                    e.weights.custom.emplace("query", CustomMatrix(random_matrix(2, 6, 1)));
                    e.weights.custom.emplace("key", CustomMatrix(random_matrix(7, 6, 2)));
                    e.weights.custom.emplace("value", CustomMatrix(random_matrix(7, 4, 3)));
                }),
        changed("custom_scores",
                [](Experiment& e) {
                    Matrix scores = random_matrix(3, 4, 1);
                    scores.row(1).setConstant(-std::numeric_limits<float>::infinity());
                    scores(0, 2) = -std::numeric_limits<float>::infinity();
                    e.attention.scale = {Scale::Kind::none};
                    e.weights.custom.emplace("scores", CustomMatrix(scores));
                    e.weights.custom.emplace("value", CustomMatrix(random_matrix(4, 2, 2)));
                }),
        changed("nan_in_a_query",
                [](Experiment& e) {
                    Matrix X = random_matrix(4, 16, 1);
                    X(1, 3) = std::numeric_limits<float>::quiet_NaN();
                    e.attention.projection = Projection::none;
                    e.weights.custom.emplace("embedding", CustomMatrix(X));
                }),
        changed("stack",
                [](Experiment& e) {
                    e.mechanism = MechanismKind::transformer;
                    e.input.dim = 8;
                    e.attention.heads = 2;
                    e.attention.position = Position::learned;
                    e.attention.feed_forward_size = 5;
                    e.weighting.mask = {{MaskForm::causal, {}}};
                }),
        changed("stack_norm_after",
                [](Experiment& e) {
                    e.mechanism = MechanismKind::transformer;
                    e.input.dim = 8;
                    e.attention.position = Position::alibi;
                    e.transformer.norm = Norm::after;
                    e.weighting.mask = {{MaskForm::valid, {5, 0, 8, 8, 8, 8, 8, 8}}};
                }),
        changed("general", [](Experiment& e) { e.attention.score = Score::general; }),
        changed("additive", [](Experiment& e) { e.attention.score = Score::additive; }),
        changed("additive_heads_bias",
                [](Experiment& e) {
                    e.attention.score = Score::additive;
                    e.attention.heads = 2;
                    e.weighting.hidden = 3;
                    e.weights.custom.emplace("b_a", CustomMatrix(random_matrix(1, 3, 1)));
                }),
        changed("concat", [](Experiment& e) { e.attention.score = Score::concat; }),
        changed("cosine",
                [](Experiment& e) {
                    e.attention.score = Score::cosine;
                    e.attention.sharpening = 4;
                    e.attention.heads = 2;
                }),
        changed("location_across",
                [](Experiment& e) {
                    e.attention.score = Score::location;
                    e.input.text2 = "Kannst du mir helfen";
                }),
        changed("sinusoidal_across",
                [](Experiment& e) {
                    e.attention.position = Position::sinusoidal;
                    e.input.text2 = "Kannst du mir bitte helfen diesen kleinen alten Satz zu lesen";
                    e.attention.projection_bias = true;
                    e.attention.output_projection = true;
                    e.attention.projection = Projection::linear;
                }),
        changed("rope_interleaved",
                [](Experiment& e) {
                    e.attention.position = Position::rope;
                    e.attention.heads = 2;
                }),
        changed("rope_half",
                [](Experiment& e) {
                    e.attention.position = Position::rope;
                    e.attention.rope_layout = RopeLayout::half;
                }),
        changed("alibi_and_bias",
                [](Experiment& e) {
                    e.attention.position = Position::alibi;
                    e.attention.heads = 4;
                    Matrix bias = random_matrix(8, 8, 1);
                    bias(1, 2) = -std::numeric_limits<float>::infinity();
                    e.weights.custom.emplace("mask_additive", CustomMatrix(bias));
                }),
        changed("window_and_custom_mask",
                [](Experiment& e) {
                    e.weighting.mask = {{MaskForm::window, {1, 2}}};
                    Matrix open = Matrix::Ones(8, 8);
                    open(3, 3) = open(3, 4) = 0;
                    e.weights.custom.emplace("mask", CustomMatrix(open));
                }),
        changed("hard", [](Experiment& e) { e.weighting.normalizer = Normalization::hard; }),
        changed("local_m",
                [](Experiment& e) {
                    e.weighting.normalizer = Normalization::local_m;
                    e.weighting.local_window = 1;
                }),
        changed("local_p_heads",
                [](Experiment& e) {
                    e.weighting.normalizer = Normalization::local_p;
                    e.attention.heads = 2;
                }),
        changed("over_queries",
                [](Experiment& e) {
                    e.attention.softmax_axis = SoftmaxAxis::queries;
                    e.weighting.mask = {{MaskForm::causal, {}}};
                }),
        changed("dropout",
                [](Experiment& e) {
                    e.attention.dropout = 0.5;
                    e.attention.heads = 2;
                }),
        changed("own_sizes",
                [](Experiment& e) {
                    e.attention.projection = Projection::xavier;
                    e.attention.heads = 2;
                    e.attention.key_size = 6;
                    e.attention.value_size = 10;
                    e.attention.output_projection = true;
                }),
        changed("post_norm_relu",
                [](Experiment& e) {
                    e.attention.block = Block::post_norm;
                    e.attention.projection = Projection::mha;
                    e.attention.heads = 4;
                    e.attention.output_projection = true;
                    e.attention.feed_forward_size = 12;
                }),
        changed("pre_norm_gelu_logits",
                [](Experiment& e) {
                    e.attention.block = Block::pre_norm;
                    e.attention.activation = Activation::gelu;
                    e.attention.position = Position::sinusoidal;
                    e.attention.feed_forward_size = 6;
                    e.weights.custom.emplace("W_out", CustomMatrix(random_matrix(5, 16, 1)));
                    e.weights.custom.emplace("b_out", CustomMatrix(random_matrix(1, 5, 2)));
                    e.weights.custom.emplace("targets", CustomMatrix(Matrix::Constant(1, 8, 2)));
                }),
    };
}

}  // namespace attnscope::test
