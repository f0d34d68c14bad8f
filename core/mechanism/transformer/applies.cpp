// Which settings a transformer's stack uses, and why the others change nothing.
#include <algorithm>

#include "core/graph/option_rules.h"
#include "core/mechanism/transformer/mechanism.h"
#include "core/mechanism/transformer/parameters.h"

namespace attnscope {
namespace {

using namespace option_rules;

std::string no_text(const Experiment& e) { return e.is_custom("tokens") ? "the tokens are custom" : ""; }

std::string no_order(const Experiment& e) {
    return !e.input.words.empty() && e.is_custom("E") ? "the table and its words are custom" : no_text(e);
}

std::string no_targets(const Experiment& e) {
    if (e.is_custom("targets")) return "the targets are custom";
    if (!no_text(e).empty()) return no_text(e);
    return has_own_targets(e.transformer.objective) ? "" : "the objective is the next token";
}

std::string no_table_size(const Experiment& e) {
    if (e.is_custom("E")) return "the table is custom";
    const bool stable = vocabulary_rule(e.input.vocabulary).stable && !e.is_custom("tokens");
    return stable ? k_one_row_per_word : "";
}

/// Whether all the parameters that the stack uses are custom.
bool is_without_draws(const Experiment& e) {
    const auto is_drawn = [&](const TransformerParameter& parameter) {
        using enum TransformerParameter::Draw;
        if (parameter.draw == table && e.input.uses_lexicon()) return e.is_custom("tokens");
        return parameter.is_used(e) && parameter.draw != ones && parameter.draw != zeros;
    };
    const auto is_custom = [&](const TransformerParameter& parameter) {
        if (!is_drawn(parameter)) return true;
        if (parameter.place != TransformerParameter::Place::layer) return e.is_custom(parameter.name);
        for (int layer = 1; layer <= e.transformer.layers; ++layer)
            if (!e.is_custom(name_in_layer(layer, parameter.name))) return false;
        return true;
    };
    return std::ranges::all_of(transformer_parameters(), is_custom);
}

std::string no_seed(const Experiment& e) { return is_without_draws(e) ? k_nothing_drawn : ""; }

std::string no_embedding(const Experiment& e) {
    const bool positions = position_rule(e.attention.position).has_table && !e.is_custom("P");
    if (positions) return "";
    if (e.is_custom("E")) return "the table is custom";
    const bool features = e.input.uses_lexicon() && !e.is_custom("tokens");
    return features ? k_lexicon_vectors : "";
}

std::string no_context_length(const Experiment& e) {
    return no_learned_positions(e).empty() ? no_seed(e) : no_learned_positions(e);
}

std::string no_activation(const Experiment& e) {
    return e.attention.feed_forward_size > 0 ? "" : "there is no feed-forward layer: its size is 0";
}

std::string no_layer_norm(const Experiment& e) {
    return e.transformer.norm == Norm::none ? "there are no layer norms: norm is none" : "";
}

std::string no_ablation(const Experiment& e) {
    return e.attention.ablated.empty() && e.training.ablated.empty() ? k_no_ablation : "";
}

std::string no_objective(const Experiment& e) {
    return e.is_custom("targets") ? "the targets are custom" : "";
}

constexpr OptionRule k_rules[] = {
    {"text", k_words, no_text},
    {"text2", "objective is position and no custom matrix replaces its words", no_targets},
    {"mechanism"},
    {"tokenizer", k_words, no_text},
    {"vocabulary", k_words, no_order},
    {"words", k_words, no_text},
    {"table-size", k_table_size, no_table_size},
    {"seed", k_seed, no_seed},
    {"dim"},
    {"embedding", k_table, no_embedding},
    {"position"},
    {"context-length", k_learned, no_context_length},
    {"rope-layout", k_rope, no_rope},
    {"heads"},
    {"scale"},
    {"mask"},
    {"normalizer"},
    {"temperature"},
    {"local-window", k_local, no_local_window},
    {"ablate"},
    {"ablation", "a head is ablated", no_ablation},
    {"activation", "feed-forward-size is above 0", no_activation},
    {"feed-forward-size"},
    {"layer-norm-epsilon", "norm is before or after", no_layer_norm},
    {"layers"},
    {"norm"},
    {"tied"},
    {"objective", "the targets are not custom", no_objective},
    {"given"},
};

}  // namespace

std::span<const OptionRule> options_of_transformer() { return k_rules; }

}  // namespace attnscope
