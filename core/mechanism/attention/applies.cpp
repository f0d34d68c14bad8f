// Which settings attention uses, and why the others change nothing.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "core/graph/option_rules.h"
#include "core/mechanism/attention/build.h"
#include "core/mechanism/attention/mechanism.h"
#include "core/mechanism/attention/parameters.h"
#include "core/mechanism/attention/scores.h"
#include "core/op/normalizers.h"

namespace attnscope {
namespace {

using namespace option_rules;
using Kind = ProjectionSeed::Kind;

// What an experiment does
// -----------------------------------------------------------------------------------------------------

constexpr ProjectedInput k_inputs[] = {k_query_input, k_key_input, k_value_input};

bool is_computed(const Experiment& e, const ProjectedInput& input) {
    return !e.is_custom("scores") && !e.is_custom(input.name);
}

bool projects_output(const Experiment& e) {
    const bool values = !e.is_custom("scores") || e.is_custom("value");
    return values && (e.attention.output_projection || e.is_custom("W_o"));
}

/// Whether its weight or its bias is drawn, because it is not custom.
bool is_drawn(const Experiment& e, const ProjectionNames& projection) {
    return !e.is_custom(projection.W) || (e.attention.projection_bias && !e.is_custom(projection.b));
}

/// Whether a projection is drawn, or would be under a rule other than none.
bool may_draw_projections(const Experiment& e) {
    const auto drawn = [&](const ProjectedInput& each) {
        return is_computed(e, each) && is_drawn(e, each.projection);
    };
    return std::ranges::any_of(k_inputs, drawn) || (projects_output(e) && is_drawn(e, k_output_projection));
}

bool draws_projections(const Experiment& e) {
    return e.attention.projection == Projection::none ? projects_output(e) && is_drawn(e, k_output_projection)
                                                      : may_draw_projections(e);
}

bool draws_score_weights(const Experiment& e) {
    if (e.is_custom("scores")) return false;
    const auto drawn = [&](const ScoreParameter& each) { return each.drawn && !e.is_custom(each.name); };
    return std::ranges::any_of(score_function(e.attention.score).parameters, drawn) ||
           (predicts_window(e.weighting.normalizer) && !e.are_custom({"W_p", "v_p"}));
}

bool draws_block_weights(const Experiment& e) {
    return e.attention.block != Block::none && !e.are_custom({"W_1", "b_1", "W_2", "b_2"});
}

/// Whether a parameter is drawn, or would be, by the score's generator.
bool draws_after_projections(const Experiment& e) {
    return draws_score_weights(e) || (draws_block_weights(e) && e.weights.block_seed.kind == Kind::proceed);
}

/// Whether a parameter is drawn by the generator that continues after the projections.
bool continues_projections(const Experiment& e) {
    return draws_after_projections(e) && e.weights.score_seed.kind == Kind::proceed;
}

// Why a setting has no effect; empty: it has one
// -----------------------------------------------------------------------------------------------------

std::string no_scores(const Experiment& e) { return e.is_custom("scores") ? "the scores are custom" : ""; }

std::string no_embedding(const Experiment& e) {
    const bool inputs = e.are_custom({"query", "key", "value"});
    return !no_scores(e).empty() ? no_scores(e) : inputs ? "Q, K and V are custom" : "";
}

std::string no_text(const Experiment& e) {
    return e.is_custom("embedding") && no_embedding(e).empty() ? "the embedding is custom" : no_embedding(e);
}

std::string no_text2(const Experiment& e) {
    if (e.is_custom("embedding_kv") && no_embedding(e).empty()) return "the embedding of the keys is custom";
    return e.input.image && e.input.text2.empty() ? "the picture provides keys and values" : no_embedding(e);
}

std::string no_words(const Experiment& e) {
    const bool second = !e.input.text2.empty() && no_text2(e).empty();
    return second ? "" : no_text(e);
}

std::string no_drawn_table(const Experiment& e) {
    if (!e.input.uses_lexicon()) return no_words(e);
    const bool positions = position_rule(e.attention.position).has_table && !e.is_custom("P");
    return positions ? "" : k_lexicon_vectors;
}

std::string no_table_rows(const Experiment& e) {
    if (vocabulary_rule(e.input.vocabulary).stable) return k_one_row_per_word;
    return no_words(e);
}

std::string no_image(const Experiment& e) {
    if (!no_embedding(e).empty()) return no_embedding(e);
    if (e.is_custom("embedding_kv")) return "the embedding of the keys is custom";
    return e.input.text2.empty() ? "" : "the second sentence provides keys and values";
}

std::string no_patches(const Experiment& e) {
    return !no_image(e).empty() ? no_image(e) : e.input.image ? "" : "there is no picture";
}

std::string no_image_seed(const Experiment& e) {
    const bool continued = e.weights.projection_seed.kind == Kind::proceed && draws_projections(e);
    if (!no_patches(e).empty()) return no_patches(e);
    return e.is_custom("W_patch") && !continued ? "the projection of the patches is custom" : "";
}

std::string no_rotation(const Experiment& e) { return no_rope(e).empty() ? no_scores(e) : no_rope(e); }

std::string no_context_length(const Experiment& e) {
    if (!no_learned_positions(e).empty()) return no_learned_positions(e);
    return e.is_custom("P") ? "the positions are custom" : no_embedding(e);
}

std::string no_projection(const Experiment& e) {
    if (may_draw_projections(e) || continues_projections(e)) return "";
    return no_embedding(e).empty() ? "the weights are custom" : no_embedding(e);
}

std::string no_projection_seed(const Experiment& e) {
    if (draws_projections(e) || continues_projections(e)) return "";
    return e.attention.projection == Projection::none ? "there are no weights to draw" : no_projection(e);
}

std::string no_projection_bias(const Experiment& e) {
    const auto biased = [&](const ProjectedInput& each) {
        return is_computed(e, each) && !e.is_custom(each.projection.b);
    };
    const bool drawn = e.attention.projection != Projection::none || e.attention.output_projection;
    if ((e.attention.projection != Projection::none && std::ranges::any_of(k_inputs, biased)) ||
        (projects_output(e) && !e.is_custom("b_o")) || (drawn && continues_projections(e)))
        return "";
    return e.attention.projection == Projection::none ? "there is no projection" : no_projection_seed(e);
}

std::string no_key_size(const Experiment& e) {
    if (projection_rule(e.attention.projection).keeps_size)
        return "projection " + std::string(name_of(e.attention.projection)) +
               " keeps the size of the embedding";
    return no_projection_seed(e);
}

std::string no_value_size(const Experiment& e) {
    if (!no_key_size(e).empty()) return no_key_size(e);
    return e.is_custom("value") ? "the values are custom" : "";
}

std::string no_dimension(const Experiment& e) {
    const bool patches = no_patches(e).empty() && !e.is_custom("W_patch");
    const bool units = e.attention.block != Block::none && e.attention.feed_forward_size == 0;
    return patches || units || no_projection_seed(e).empty() ? "" : no_words(e);
}

std::string no_seed(const Experiment& e) {
    const std::string nothing = k_nothing_drawn;
    // Each generator starts with the seed, continues after another one, or has a seed of its own.
    const auto seeded = [](const ProjectionSeed& seed, bool before) {
        return seed.kind == Kind::same || (seed.kind == Kind::proceed && before);
    };
    const bool image = seeded(e.weights.image_seed, true);
    const bool projection = seeded(e.weights.projection_seed, !uses_image(e) || image);
    const bool score = seeded(e.weights.score_seed, projection), block = seeded(e.weights.block_seed, score);
    const bool patches = no_patches(e).empty() && !e.is_custom("W_patch");
    return no_drawn_table(e).empty() || (patches && image) || (draws_projections(e) && projection) ||
                   (draws_score_weights(e) && score) || (draws_block_weights(e) && block)
               ? ""
               : nothing;
}

/// Columns of Q, K or V, all heads together.
int columns_of(const Experiment& e, const ProjectedInput& input, int projected) {
    if (const CustomMatrix* given = e.weights.find_custom(input.name))
        return static_cast<int>(given->values().cols());
    const CustomMatrix* W = e.weights.find_custom(input.projection.W);
    return W ? static_cast<int>(W->values().rows()) : projected;
}

std::string no_heads(const Experiment& e) {
    if (e.attention.heads > 1) return "";
    if (e.is_custom("scores")) return "the scores are custom, for one head";
    const int keys =
        std::gcd(columns_of(e, k_query_input, e.key_columns()), columns_of(e, k_key_input, e.key_columns()));
    const int all = std::gcd(keys, columns_of(e, k_value_input, e.value_columns()));
    return all == 1 ? "one dimension cannot be split into heads" : "";
}

/// The names of the scores that use an option: "additive and concat".
std::string scores_with(OptionName option) {
    std::vector<std::string_view> names;
    for (const ScoreFunction& score : score_functions())
        if (score.option == option) names.push_back(name_of(score.choice));
    return fmt::format("{}", fmt::join(names, " and "));
}

std::string no_hidden_layer(const Experiment& e) {
    if (e.is_custom("scores")) return "the scores are custom";
    const bool hidden = score_function(e.attention.score).has_hidden_layer();
    if (!hidden && !predicts_window(e.weighting.normalizer))
        return "only " + scores_with("hidden") + " scores and local-p have a hidden layer";
    return draws_score_weights(e) ? "" : "the weights are custom";
}

std::string no_score_seed(const Experiment& e) {
    if (!no_scores(e).empty()) return no_scores(e);
    if (draws_after_projections(e)) return "";
    const bool weights = !score_function(e.attention.score).parameters.empty();
    return weights ? "the weights are custom"
                   : "a " + std::string(name_of(e.attention.score)) + " score has no weights to draw";
}

std::string no_sharpening(const Experiment& e) {
    if (score_function(e.attention.score).option == OptionName("sharpening")) return no_scores(e);
    return "only the " + scores_with("sharpening") + " score is sharpened";
}

std::string no_bandwidth(const Experiment& e) {
    if (score_function(e.attention.score).option == OptionName("bandwidth")) return no_scores(e);
    return "only the " + scores_with("bandwidth") + " score has a bandwidth";
}

std::string no_axis(const Experiment& e) {
    return normalizer_of(e.weighting.normalizer).has_axis ? ""
                                                          : "only the softmax can normalize over the queries";
}

std::string no_dropout(const Experiment& e) {
    return e.attention.training ? "" : "evaluation mode does not drop weights";
}

std::string no_dropout_seed(const Experiment& e) {
    if (!no_dropout(e).empty()) return no_dropout(e);
    if (e.is_custom("dropout_keep")) return "the dropout pattern is custom";
    return e.attention.dropout > 0 ? "" : "nothing is dropped: dropout is 0";
}

/// Training applies without dropout if it is off, so that it can be switched back on: dropout itself does not
/// apply then.
std::string no_training(const Experiment& e) {
    const bool drops = e.attention.dropout > 0 || e.is_custom("dropout_keep");
    return drops || !e.attention.training ? "" : "nothing is dropped: dropout is 0";
}

std::string no_values(const Experiment& e) {
    return e.is_custom("scores") && !e.is_custom("value") ? "the scores are custom, and there are no values"
                                                          : "";
}

std::string no_ablation(const Experiment& e) {
    if (!no_values(e).empty()) return no_values(e);
    return e.attention.ablated.empty() ? k_no_ablation : "";
}

std::string no_output(const Experiment& e) {
    if (!no_values(e).empty()) return no_values(e);
    return e.is_custom("W_o") && !continues_projections(e) ? "W_o is custom" : "";
}

std::string no_block_around(const Experiment& e) {
    return e.attention.block == Block::none ? no_embedding(e) : "";
}

std::string no_block(const Experiment& e) {
    return e.attention.block == Block::none ? "there is no block" : "";
}

std::string no_block_size(const Experiment& e) {
    if (!no_block(e).empty()) return no_block(e);
    return draws_block_weights(e) ? "" : "the weights are custom";
}

constexpr std::string_view k_image = "image is not none", k_block = "block is not none",
                           k_own_sizes = "projection is normal, uniform, linear or xavier";

constexpr OptionRule k_rules[] = {
    {"text", k_words, no_text},
    {"text2", "no custom matrix replaces its words and there is no image", no_text2},
    {"mechanism"},
    {"tokenizer", k_words, no_words},
    {"vocabulary", k_words, no_words},
    {"words", k_words, no_words},
    {"table-size", k_table_size, no_table_rows},
    {"seed", k_seed, no_seed},
    {"dim", "a table or weights of this width are drawn", no_dimension},
    {"embedding", k_table, no_drawn_table},
    {"image", "text2 is empty", no_image},
    {"grid", k_image, no_patches},
    {"patch-size", k_image, no_patches},
    {"image-seed", k_image, no_image_seed},
    {"position"},
    {"context-length", k_learned, no_context_length},
    {"rope-layout", k_rope, no_rotation},
    {"projection", "the projections are not custom", no_projection},
    {"projection-seed", "there are weights to draw", no_projection_seed},
    {"projection-bias", "projection is not none or output-projection is on", no_projection_bias},
    {"key-size", k_own_sizes, no_key_size},
    {"value-size", k_own_sizes, no_value_size},
    {"heads", "there is more than one dimension to split", no_heads},
    {"score", "the scores are not custom", no_scores},
    {"hidden", "score is additive or concat, or normalizer is local-p", no_hidden_layer},
    {"score-seed", "the score has weights or normalizer is local-p", no_score_seed},
    {"sharpening", "score is cosine", no_sharpening},
    {"bandwidth", "score is rbf", no_bandwidth},
    {"scale"},
    {"mask"},
    {"normalizer"},
    {"softmax-axis", "normalizer is softmax", no_axis},
    {"temperature"},
    {"local-window", k_local, no_local_window},
    {"dropout", "training is on", no_dropout},
    {"dropout-seed", "training is on and dropout > 0", no_dropout_seed},
    {"training", "dropout > 0", no_training},
    {"output-projection", "there are values", no_output},
    {"ablate", "there are values", no_values},
    {"ablation", "a head is ablated", no_ablation},
    {"block", "there is an embedding", no_block_around},
    {"activation", k_block, no_block},
    {"feed-forward-size", k_block, no_block_size},
    {"layer-norm-epsilon", k_block, no_block},
    {"block-seed", k_block, no_block_size},
    {"given"},
};

}  // namespace

std::span<const OptionRule> options_of_attention() { return k_rules; }

}  // namespace attnscope
