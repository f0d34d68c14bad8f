#include "core/mechanism/seq2seq/mechanism.h"

#include <algorithm>

#include "core/experiment/sentence.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/seq2seq/build.h"
#include "core/mechanism/seq2seq/parameters.h"
#include "core/mechanism/seq2seq/step_words.h"

namespace attnscope {
namespace {

Graph build_seq2seq(const Experiment& experiment) { return Seq2seqBuilder(experiment).build(); }

std::string title(const Experiment& e) {
    switch (e.seq2seq.decoder_attention) {
        case DecoderAttention::additive: return "Encoder–decoder with additive attention";
        case DecoderAttention::none: break;
    }
    return "Sequence to sequence without attention";
}

/// The rows of a table: those of the custom one, or as many as the words that are listed need.
int rows_of_table(const Experiment& e, CustomName name, int needed) {
    const CustomMatrix* table = e.weights.find_custom(name);
    return std::max(table ? static_cast<int>(table->values().rows()) : e.input.table_size, needed);
}

std::vector<Overridable> parameters(const Experiment& e) {
    constexpr int k_bos_and_eos = 2;
    const auto listed = [&](const std::string& words) {
        return static_cast<int>(sentence_vocabulary(e, words, {}).words.size());
    };
    // A decoder that is fed no words of the text takes a table of any size.
    const bool reads_target = !is_greedy(e.seq2seq.decode) && !e.is_custom("tgt_in");
    const int target_words = reads_target ? k_bos_and_eos + listed(e.input.words2) : 0;
    const Seq2seqSizes sizes = seq2seq_sizes(e, rows_of_table(e, "E_src", std::max(1, listed(e.input.words))),
                                             rows_of_table(e, "E_tgt", target_words));
    std::vector<Overridable> used;
    for (const Seq2seqParameter& each : seq2seq_parameters())
        if (is_used(each.part, e))
            used.push_back({std::string(each.name), each.rows(sizes), each.columns(sizes)});
    return used;
}

constexpr const StageInfo* k_results[] = {"alignment"_stage, "decoder_context"_stage};

constexpr OptionSection k_sections[] = {
    OptionSection::input, OptionSection::training, OptionSection::embedding, OptionSection::score,
    OptionSection::mask,  OptionSection::softmax,  OptionSection::seq2seq,   OptionSection::custom};

}  // namespace

const Mechanism k_seq2seq_mechanism = {
    .choice = MechanismKind::seq2seq,
    .summary = "Encoder and decoder, aligned word by word (Bahdanau)",
    .build = build_seq2seq,
    .options = options_of_seq2seq(),
    .other_options = "it does not apply to seq2seq",
    .why_no_sentence_fits = nullptr,
    .why_not_trained = "",
    .row_labels = step_labels,
    .query_words = said_words,
    .query_words_name = "target words",
    .results = k_results,
    .mask = "alignment_mask"_stage,
    .center = "alignment_center"_stage,
    .query = "step",
    .queries = "steps",
    .key = "source word",
    .keys = "source words",
    .sections = k_sections,
    .first = {.is_of_keys = true,
              .tokens = "source"_stage,
              .words = "source",
              .hint = "Type a sentence",
              .table = "E_src"_stage,
              .table_words = "source_words"},
    .second = {.is_of_keys = false,
               .tokens = "fed_tokens"_stage,
               .words = "decoder's steps",
               .hint = "Target sentence (the decoder's words)",
               .has_own_table = true,
               .table = "E_tgt"_stage,
               .table_words = "target_words"},
    .second_sentence = "The target sentence, for the decoder",
    .title = title,
    .parameters = parameters,
};

}  // namespace attnscope
