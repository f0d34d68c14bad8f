// Which settings a transformer's stack uses, and why the others change nothing.
#include <algorithm>

#include "core/mechanism/transformer/mechanism.h"
#include "core/mechanism/transformer/parameters.h"
#include "core/op/normalizers.h"

namespace attnscope {
namespace {

std::string always(const Experiment&) { return {}; }

std::string no_text(const Experiment& e) { return e.is_given("tokens") ? "the tokens are custom" : ""; }

std::string no_order(const Experiment& e) {
    return !e.input.words.empty() && e.is_given("E") ? "the table and its words are custom" : no_text(e);
}

std::string no_targets(const Experiment& e) {
    if (e.is_given("targets")) return "the targets are custom";
    if (!no_text(e).empty()) return no_text(e);
    return e.transformer.objective == Objective::position ? "" : "the objective is the next token";
}

std::string no_table_size(const Experiment& e) {
    if (e.is_given("E")) return "the table is custom";
    const bool stable = vocabulary_rule(e.input.vocabulary).stable && !e.is_given("tokens");
    return stable ? "this vocabulary has exactly one row per word" : "";
}

/// Whether all the parameters that the stack uses are custom.
bool is_without_draws(const Experiment& e) {
    const auto is_drawn = [&](const TransformerParameter& parameter) {
        using enum TransformerParameter::Draw;
        if (parameter.draw == table && e.input.vocabulary == VocabularyOrder::lexicon)
            return e.is_given("tokens");
        return parameter.is_used(e) && parameter.draw != ones && parameter.draw != zeros;
    };
    const auto is_custom = [&](const TransformerParameter& parameter) {
        if (!is_drawn(parameter)) return true;
        if (parameter.place != TransformerParameter::Place::layer) return e.is_given(parameter.name);
        for (int layer = 1; layer <= e.transformer.layers; ++layer)
            if (!e.is_given(name_in_layer(layer, parameter.name))) return false;
        return true;
    };
    return std::ranges::all_of(transformer_parameters(), is_custom);
}

std::string no_seed(const Experiment& e) {
    return is_without_draws(e) ? "nothing is drawn with this seed" : "";
}

std::string no_embedding(const Experiment& e) {
    const bool positions = e.attention.position == Position::learned && !e.is_given("P");
    if (positions) return "";
    if (e.is_given("E")) return "the table is custom";
    const bool features = e.input.vocabulary == VocabularyOrder::lexicon && !e.is_given("tokens");
    return features ? "the words' vectors are those of the lexicon" : "";
}

std::string no_context_length(const Experiment& e) {
    return e.attention.position == Position::learned ? no_seed(e) : "only learned positions have a table";
}

std::string no_rope(const Experiment& e) {
    return e.attention.position == Position::rope ? "" : "only rope rotates pairs of features";
}

std::string no_window(const Experiment& e) {
    return normalizer_of(e.weighting.normalizer).window == Normalizer::Window::none
               ? "only local attention has a window"
               : "";
}

std::string no_activation(const Experiment& e) {
    return e.attention.feed_forward_size > 0 ? "" : "there is no feed-forward layer: its size is 0";
}

std::string no_ablation(const Experiment& e) {
    return e.transformer.ablated.empty() && e.training.ablated.empty() ? "no head is ablated" : "";
}

std::string no_objective(const Experiment& e) {
    return e.is_given("targets") ? "the targets are custom" : "";
}

constexpr OptionRule k_rules[] = {
    {"text", no_text},
    {"text2", no_targets},
    {"mechanism", always},
    {"tokenizer", no_text},
    {"vocabulary", no_order},
    {"words", no_text},
    {"table-size", no_table_size},
    {"seed", no_seed},
    {"dim", always},
    {"embedding", no_embedding},
    {"position", always},
    {"context-length", no_context_length},
    {"rope-layout", no_rope},
    {"heads", always},
    {"scale", always},
    {"mask", always},
    {"normalizer", always},
    {"temperature", always},
    {"local-window", no_window},
    {"activation", no_activation},
    {"feed-forward-size", always},
    {"layers", always},
    {"norm", always},
    {"ablate", always},
    {"ablation", no_ablation},
    {"tied", always},
    {"objective", no_objective},
    {"given", always},
};

}  // namespace

std::string why_unused_by_transformer(std::string_view option, const Experiment& experiment) {
    return why_unused(k_rules, option, experiment, "a transformer does not use it");
}

}  // namespace attnscope
