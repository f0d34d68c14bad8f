// Which settings sequence to sequence uses, and why the others change nothing.
#include <algorithm>

#include "core/mechanism/seq2seq/mechanism.h"
#include "core/mechanism/seq2seq/parameters.h"
#include "core/op/normalizers.h"

namespace attnscope {
namespace {

bool aligns(const Experiment& e) { return e.seq2seq.decoder_attention == DecoderAttention::additive; }

bool all_given(const Experiment& e, std::initializer_list<const char*> names) {
    return std::ranges::all_of(names, [&](const char* name) { return e.is_given(name); });
}

/// Whether a word's vector is its features.
bool uses_lexicon(const Experiment& e) { return e.input.vocabulary == VocabularyOrder::lexicon; }

/// Whether all the parameters that the encoder and the decoder use are custom.
bool is_without_draws(const Experiment& e) {
    const bool predicts = normalizer_of(e.weighting.normalizer).window == Normalizer::Window::predicted;
    const auto is_used = [&](Seq2seqParameter::Part part) {
        using enum Seq2seqParameter::Part;
        switch (part) {
            case backward_encoder: return e.seq2seq.encoder == Encoder::bidirectional;
            case alignment: return aligns(e);
            case center: return aligns(e) && predicts;
            case source_table: return e.is_given("src") || !uses_lexicon(e);
            case target_table: return !uses_lexicon(e);
            case encoder:
            case decoder: break;
        }
        return true;
    };
    return std::ranges::all_of(seq2seq_parameters(), [&](const Seq2seqParameter& parameter) {
        return e.is_given(parameter.name) || !is_used(parameter.part);
    });
}

std::string always(const Experiment&) { return {}; }

std::string no_alignment(const Experiment& e) { return aligns(e) ? "" : "the decoder has no attention"; }

std::string no_target(const Experiment& e) {
    const bool words = all_given(e, {"E_tgt", "tgt_in"}) && e.seq2seq.decode == Decode::teacher;
    return words ? "the target words are custom" : "";
}

std::string no_text(const Experiment& e) {
    const bool is_target = e.input.text2.empty() && no_target(e).empty();
    return e.is_given("src") && !is_target ? "the source words are custom" : "";
}

std::string no_words(const Experiment& e) {
    const bool second = !e.input.text2.empty() && no_target(e).empty();
    return second ? "" : no_text(e);
}

std::string no_table(const Experiment& e) {
    return all_given(e, {"E_src", "E_tgt"}) ? "both tables are custom" : "";
}

std::string no_drawn_table(const Experiment& e) {
    if (!uses_lexicon(e) || (e.is_given("src") && !e.is_given("E_src"))) return no_table(e);
    return "the words' vectors are those of the lexicon";
}

std::string no_table_rows(const Experiment& e) {
    if (vocabulary_rule(e.input.vocabulary).stable) return "this vocabulary has exactly one row per word";
    return e.is_given("E_src") ? "the source table is custom" : no_table(e);
}

std::string no_seed(const Experiment& e) {
    return is_without_draws(e) ? "nothing is drawn with this seed" : "";
}

std::string no_hidden_layer(const Experiment& e) {
    return is_without_draws(e) ? "the weights are custom" : "";
}

std::string no_window(const Experiment& e) {
    return normalizer_of(e.weighting.normalizer).window == Normalizer::Window::none
               ? "only local attention has a window"
               : no_alignment(e);
}

std::string no_image(const Experiment&) { return "seq2seq reads sentences only"; }

std::string no_axis(const Experiment&) { return "the decoder computes its queries step by step"; }

std::string no_limit(const Experiment& e) {
    return e.seq2seq.decode == Decode::greedy ? "" : "the target sets the number of steps";
}

constexpr OptionRule k_rules[] = {
    {"text", no_text},
    {"text2", no_target},
    {"mechanism", always},
    {"tokenizer", no_words},
    {"vocabulary", no_words},
    {"words", no_text},
    {"words2", no_target},
    {"table-size", no_table_rows},
    {"seed", no_seed},
    {"dim", no_table},
    {"embedding", no_drawn_table},
    {"image", no_image},
    {"grid", no_image},
    {"patch-size", no_image},
    {"image-seed", no_image},
    {"hidden", no_hidden_layer},
    {"mask", no_alignment},
    {"normalizer", no_alignment},
    {"softmax-axis", no_axis},
    {"temperature", no_alignment},
    {"local-window", no_window},
    {"encoder", always},
    {"decoder-attention", always},
    {"alignment-state", always},
    {"decode", always},
    {"max-steps", no_limit},
    {"encoder-size", always},
    {"decoder-size", always},
    {"given", always},
};

}  // namespace

std::string why_unused_by_seq2seq(std::string_view option, const Experiment& experiment) {
    return why_unused(k_rules, option, experiment, "seq2seq uses its own alignment");
}

}  // namespace attnscope
