#include "core/mechanism/seq2seq/mechanism.h"

#include "core/graph/stage_table.h"
#include "core/mechanism/seq2seq/build.h"

namespace attnscope {
namespace {

Graph build_seq2seq(const Experiment& experiment) { return Seq2seqBuilder(experiment).build(); }

std::string title(const Experiment& e) {
    const bool aligns = e.seq2seq.decoder_attention != DecoderAttention::none;
    return std::string("Sequence to sequence ") + (aligns ? "by additive attention" : "without attention");
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
    .other_options = "seq2seq uses its own alignment",
    .why_no_sentence_fits = nullptr,
    .why_not_trained = "",
    .row_labels = step_labels,
    .results = k_results,
    .mask = "alignment_mask"_stage,
    .center = "alignment_center"_stage,
    .query = "step",
    .queries = "steps",
    .key = "source word",
    .keys = "source words",
    .sections = k_sections,
    .first = {true, "source"_stage, "source", "Type a sentence"},
    .second = {.is_of_keys = false,
               .tokens = "fed_tokens"_stage,
               .words = "decoder's steps",
               .hint = "Target sentence (the decoder's words)",
               .has_own_table = true},
    .second_sentence = "The target sentence, for the decoder",
    .title = title,
};

}  // namespace attnscope
