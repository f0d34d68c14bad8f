// Which settings sequence to sequence uses, and why the others change nothing.
#include <algorithm>

#include "core/graph/option_rules.h"
#include "core/mechanism/seq2seq/mechanism.h"
#include "core/mechanism/seq2seq/parameters.h"

namespace attnscope {
namespace {

using namespace option_rules;

bool aligns(const Experiment& e) { return e.seq2seq.aligns(); }

/// Whether all the parameters that the encoder and the decoder use are custom.
bool is_without_draws(const Experiment& e) {
    using Part = Seq2seqParameter::Part;
    const auto is_drawn = [&](Part part) {
        if (part == Part::source_table) return e.is_custom("src") || !e.input.uses_lexicon();
        if (part == Part::target_table) return !e.input.uses_lexicon();
        return is_used(part, e);
    };
    return std::ranges::all_of(seq2seq_parameters(), [&](const Seq2seqParameter& parameter) {
        return e.is_custom(parameter.name) || !is_drawn(parameter.part);
    });
}

std::string no_alignment(const Experiment& e) { return aligns(e) ? "" : "the decoder has no attention"; }

std::string no_target(const Experiment& e) {
    const bool words = e.are_custom({"E_tgt", "tgt_in"}) && !is_greedy(e.seq2seq.decode);
    return words ? "the target words are custom" : "";
}

std::string no_text(const Experiment& e) {
    const bool is_target = e.input.text2.empty() && no_target(e).empty();
    return e.is_custom("src") && !is_target ? "the source words are custom" : "";
}

std::string no_words(const Experiment& e) {
    const bool second = !e.input.text2.empty() && no_target(e).empty();
    return second ? "" : no_text(e);
}

std::string no_table(const Experiment& e) {
    return e.are_custom({"E_src", "E_tgt"}) ? "both tables are custom" : "";
}

std::string no_drawn_table(const Experiment& e) {
    if (!e.input.uses_lexicon() || (e.is_custom("src") && !e.is_custom("E_src"))) return no_table(e);
    return k_lexicon_vectors;
}

std::string no_table_rows(const Experiment& e) {
    if (vocabulary_rule(e.input.vocabulary).stable) return k_one_row_per_word;
    return e.is_custom("E_src") ? "the source table is custom" : no_table(e);
}

std::string no_seed(const Experiment& e) { return is_without_draws(e) ? k_nothing_drawn : ""; }

std::string no_hidden_layer(const Experiment& e) {
    return is_without_draws(e) ? "the weights are custom" : "";
}

std::string no_window(const Experiment& e) {
    return no_local_window(e).empty() ? no_alignment(e) : no_local_window(e);
}

std::string no_image(const Experiment&) { return "seq2seq reads sentences only"; }

std::string no_axis(const Experiment&) { return "the decoder computes its queries step by step"; }

std::string no_limit(const Experiment& e) {
    return is_greedy(e.seq2seq.decode) ? "" : "the target sets the number of steps";
}

constexpr std::string_view k_aligns = "decoder-attention is additive";

constexpr OptionRule k_rules[] = {
    {"text", k_words, no_text},
    {"text2", "no custom matrix replaces its words", no_target},
    {"mechanism"},
    {"tokenizer", k_words, no_words},
    {"vocabulary", k_words, no_words},
    {"words", k_words, no_text},
    {"words2", "no custom matrix replaces the target's words", no_target},
    {"table-size", k_table_size, no_table_rows},
    {"seed", k_seed, no_seed},
    {"dim", "not both tables are custom", no_table},
    {"embedding", k_table, no_drawn_table},
    {"image", no_image},
    {"grid", no_image},
    {"patch-size", no_image},
    {"image-seed", no_image},
    {"hidden", "not all weights are custom", no_hidden_layer},
    {"mask", k_aligns, no_alignment},
    {"normalizer", k_aligns, no_alignment},
    {"softmax-axis", no_axis},
    {"temperature", k_aligns, no_alignment},
    {"local-window", "decoder-attention is additive and normalizer is local-m or local-p", no_window},
    {"encoder"},
    {"decoder-attention"},
    {"alignment-state"},
    {"decode"},
    {"max-steps", "decode is greedy", no_limit},
    {"encoder-size"},
    {"decoder-size"},
    {"given"},
};

}  // namespace

std::span<const OptionRule> options_of_seq2seq() { return k_rules; }

}  // namespace attnscope
