#include "core/mechanism/attention/mechanism.h"

#include <fmt/format.h>

#include "core/graph/stage_table.h"
#include "core/mechanism/attention/build.h"
#include "core/mechanism/attention/scores.h"

namespace attnscope {
namespace {

Graph build_attention(const Experiment& experiment) { return AttentionBuilder(experiment).build(); }

std::string title(const Experiment& e) {
    std::string name(score_function(e.attention.score).title);
    if (e.attention.score == Score::dot && e.attention.scale.kind == Scale::Kind::sqrt)
        name = "Scaled dot-product attention";
    if (e.is_custom("scores")) name = "Attention from custom scores";
    if (e.attention.block != Block::none)
        name = "A " + std::string(name_of(e.attention.block)) + " transformer block: " + name;
    if (uses_image(e)) name += " over a picture";
    return name + (e.attention.heads > 1 ? fmt::format(" with {} heads", e.attention.heads) : "");
}

/// An odd d_k with RoPE, or values that a block cannot add to the embedding.
std::string why_unfit(const Experiment& e) {
    const bool has_keys = !e.is_custom("scores") && !(e.is_custom("query") && e.is_custom("key"));
    const bool rotates = position_rule(e.attention.position).rotates && has_keys;
    if (std::string why = rotates ? why_rope_does_not_fit(e.key_width()) : ""; !why.empty()) return why;
    const bool as_wide = e.value_columns() == e.input.dim || e.is_custom("value");
    if (e.attention.block == Block::none || as_wide || e.attention.output_projection || e.is_custom("W_o"))
        return "";
    return fmt::format(
        "block {} needs an output as wide as the embedding ({} and {}): use value-size 0 or an output "
        "projection",
        name_of(e.attention.block), e.value_columns(), e.input.dim);
}

constexpr const StageInfo* k_results[] = {"weights"_stage};

constexpr OptionSection k_sections[] = {
    OptionSection::input,       OptionSection::embedding, OptionSection::image, OptionSection::position,
    OptionSection::projections, OptionSection::heads,     OptionSection::score, OptionSection::mask,
    OptionSection::softmax,     OptionSection::output,    OptionSection::block, OptionSection::custom};

}  // namespace

const Mechanism k_attention_mechanism = {
    .choice = MechanismKind::attention,
    .summary = "All queries at once, from Luong's scores to the transformer",
    .build = build_attention,
    .options = options_of_attention(),
    .other_options = "it does not apply to attention alone",
    .why_no_sentence_fits = why_unfit,
    .why_not_trained = "attention alone is not trained",
    .row_labels = nullptr,
    .query_words = nullptr,
    .query_words_name = "",
    .results = k_results,
    .mask = "mask"_stage,
    .center = "center"_stage,
    .sections = k_sections,
    .first = {.is_of_keys = false,
              .tokens = "tokens"_stage,
              .words = "queries",
              .hint = "Type a sentence",
              .table = "table"_stage,
              .table_words = "words"},
    .second = {.is_of_keys = true,
               .tokens = "tokens_kv"_stage,
               .words = "keys, values",
               .hint = "Second sentence (keys and values)",
               .table = "table"_stage,
               .table_words = "words"},
    .second_sentence = "Cross-attention: queries from the first sentence, keys and values from the second",
    .title = title,
};

}  // namespace attnscope
