#include "core/mechanism/transformer/mechanism.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/experiment/sentence.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/transformer/build.h"
#include "core/mechanism/transformer/parameters.h"

namespace attnscope {
namespace {

Graph build_transformer(const Experiment& experiment) { return TransformerBuilder(experiment).build(); }

std::string title(const Experiment& e) {
    const int layers = e.transformer.layers, heads = e.attention.heads;
    return fmt::format("A transformer with {} layer{} of {} head{}", layers, layers == 1 ? "" : "s", heads,
                       heads == 1 ? "" : "s");
}

std::string why_unfit(const Experiment& e) {
    return position_rule(e.attention.position).rotates ? why_rope_does_not_fit(e.key_width()) : "";
}

std::vector<Overridable> parameters(const Experiment& e) {
    const auto listed = static_cast<int>(sentence_vocabulary(e, e.input.words, {}).words.size());
    const CustomMatrix* table = e.weights.find_custom("E");
    const int rows = table ? static_cast<int>(table->values().rows()) : e.input.table_size;
    const TransformerSizes sizes = transformer_sizes(e, std::max(rows, listed));
    std::vector<Overridable> used;
    for (const TransformerParameter& each : transformer_parameters()) {
        if (!each.is_used(e)) continue;
        const bool in_layers = each.place == TransformerParameter::Place::layer;
        for (int layer = in_layers ? 1 : 0; layer <= (in_layers ? e.transformer.layers : 0); ++layer)
            used.push_back({name_in_layer(layer, each.name), each.rows(sizes), each.columns(sizes)});
    }
    return used;
}

constexpr const StageInfo* k_results[] = {"weights"_stage};

constexpr OptionSection k_sections[] = {
    OptionSection::input,       OptionSection::training, OptionSection::embedding, OptionSection::position,
    OptionSection::heads,       OptionSection::score,    OptionSection::mask,      OptionSection::softmax,
    OptionSection::transformer, OptionSection::custom};

}  // namespace

const Mechanism k_transformer_mechanism = {
    .choice = MechanismKind::transformer,
    .summary = "A stack of layers that predicts a token at each position",
    .build = build_transformer,
    .options = options_of_transformer(),
    .other_options = "it does not apply to a transformer",
    .why_no_sentence_fits = why_unfit,
    .why_not_trained = "",
    .row_labels = nullptr,
    .query_words = nullptr,
    .query_words_name = "",
    .results = k_results,
    .mask = "mask"_stage,
    .center = "center"_stage,
    .sections = k_sections,
    .first = {.is_of_keys = false,
              .tokens = "tokens"_stage,
              .words = "tokens",
              .hint = "Type a sentence",
              .table = "table"_stage,
              .table_words = "words"},
    .second = {false, "target_tokens"_stage, "targets", "Target of each position (objective position)", true},
    .second_sentence = "The target of each position, for the loss (objective position)",
    .title = title,
    .parameters = parameters,
};

}  // namespace attnscope
