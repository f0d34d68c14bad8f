// Sequence to sequence: the stages of encoder, decoder and logits.
#include "core/mechanism/seq2seq/build.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/graph/stage_table.h"
#include "core/op/normalizers.h"
#include "core/op/op.h"
#include "core/op/word_table.h"
#include "core/text/vocabulary.h"

namespace attnscope {
namespace {

constexpr int k_no_word = -1;  ///< a custom table without words has no <eos>

}  // namespace

Graph Seq2seqBuilder::build() {
    read_source();
    read_target();
    builder_.may_override("src", 1, static_cast<int>(source_.size()));
    if (!is_greedy()) builder_.may_override("tgt_in", 1, steps());
    if (!is_greedy()) builder_.may_override("tgt_out", 1, steps());
    if (aligns()) builder_.may_override("mask", steps(), static_cast<int>(source_.size()));
    const Value source = builder_.add("source"_stage, op::TokenRows{source_});
    X_ = builder_.add("source_embedding"_stage, op::Lookup{}, {source, parameter("E_src")});
    encode_source();
    start_decoder();
    feed();
    decode_target();
    predict();
    add_loss();
    return std::move(builder_.graph);
}

Seq2seqSizes Seq2seqBuilder::sizes() const { return seq2seq_sizes(e_, source_rows_, target_rows_); }

/// All parameters are one sequence, in the order of seq2seq_parameters(); a `stable` table has generators of
/// its own.
Op Seq2seqBuilder::drawn(const Seq2seqParameter& parameter) const {
    const bool stable = vocabulary_rule(e_.input.vocabulary).stable;
    if (stable && parameter.draw == Seq2seqParameter::Draw::table) {
        const bool of_source = parameter.part == Seq2seqParameter::Part::source_table;
        const std::vector<std::string>& words = of_source ? source_words_ : target_words_;
        const int rows = of_source ? source_rows_ : target_rows_;
        if (words.empty())
            return op::Drawn{e_.weights.seed, {Draw::by(e_.weights.embedding, rows, e_.input.dim)}};
        return word_table(e_, words);
    }
    op::Drawn drawn{e_.weights.seed, {}};
    for (const Seq2seqParameter& each : seq2seq_parameters()) {
        if (stable && each.draw == Seq2seqParameter::Draw::table) continue;
        drawn.draws.push_back(draw_of(each, sizes(), e_.weights.embedding));
        if (&each == &parameter) break;
    }
    return drawn;
}

Value Seq2seqBuilder::parameter(CustomName name) {
    if (const auto found = parameters_.find(name.text()); found != parameters_.end()) return found->second;
    const StageInfo* stage = find_in_table(name.text());
    const Seq2seqParameter& known = *find_seq2seq_parameter(name.text());
    builder_.may_override(name, known.rows(sizes()), known.columns(sizes()));
    Value value;
    if (const CustomMatrix* matrix = e_.weights.find_custom(name)) {
        value = builder_.custom(stage, *matrix);
        builder_.require_shape(value, known.rows(sizes()), known.columns(sizes()));
    } else {
        value = builder_.add(stage, drawn(known));
    }
    return parameters_[std::string(name.text())] = value;
}

std::vector<Value> Seq2seqBuilder::gru_parameters(const GruNames& names) {
    std::vector<Value> values;
    for (const CustomName& name : names) values.push_back(parameter(name));
    return values;
}

/// The gates of one direction and its states, which are returned.
Value Seq2seqBuilder::encode(const GruNames& names, const std::vector<StageKey>& stages,
                             Direction direction) {
    std::vector<Value> inputs = gru_parameters(names);
    inputs.insert(inputs.begin(), X_);
    return builder_.add(stages, op::GruEncoder{direction}, inputs).back();
}

void Seq2seqBuilder::encode_source() {
    const Value forward =
        encode({"enc_fwd.W_ih", "enc_fwd.W_hh", "enc_fwd.b_ih", "enc_fwd.b_hh"},
               {"encoder_r_fwd"_stage, "encoder_z_fwd"_stage, "encoder_n_fwd"_stage, "h_fwd"_stage},
               Direction::forward);
    Value backward;
    if (reads_backward())
        backward =
            encode({"enc_bwd.W_ih", "enc_bwd.W_hh", "enc_bwd.b_ih", "enc_bwd.b_hh"},
                   {"encoder_r_bwd"_stage, "encoder_z_bwd"_stage, "encoder_n_bwd"_stage, "h_bwd"_stage},
                   Direction::backward);
    annotations_ = builder_.add("annotations"_stage, op::JoinColumns{}, {forward, backward});
    last_state_ = backward ? backward : forward;
}

/// s_0 = tanh(W_init h + b_init), where h is the backward state at the first word (Bahdanau et al. 2015,
/// §A.2.2), or the state at the last word of a forward encoder. Then U_a h_j for all words at once (§A.1.2).
void Seq2seqBuilder::start_decoder() {
    const Value W = parameter("W_init"), b = parameter("b_init");
    const auto word = reads_backward() ? op::InitialState::Of::first : op::InitialState::Of::last;
    initial_state_ = builder_.add("initial_state"_stage, op::InitialState{word}, {last_state_, W, b});
    if (aligns())
        keys_ = builder_.add("keys_projected"_stage, op::LinearInDouble{}, {annotations_, parameter("U_a")});
}

op::DecoderRule Seq2seqBuilder::decoder_rule() const {
    op::DecoderRule rule{
        .query_state = e_.seq2seq.alignment_state, .aligns = aligns(), .encoder = e_.seq2seq.encoder};
    if (!aligns()) return rule;
    const int words = builder_.shape(annotations_).rows;
    rule.normalizer = e_.weighting.normalizer;
    rule.temperature = e_.weighting.temperature;
    rule.window = e_.weighting.local_window;
    rule.mask = e_.weighting.mask;
    rule.mask_steps = steps();
    for (const MaskRule& each : e_.weighting.mask) mask_kind(each.kind).check_fit(each, steps());
    const CustomMatrix* given = e_.weights.find_custom("mask");
    if (!given) return rule;
    const Matrix& mask = given->values();
    if (mask.rows() != steps() || mask.cols() != words)
        refuse_shape("mask", mask.rows(), mask.cols(), must_be(steps(), words));
    rule.custom_mask = given->shared();
    return rule;
}

/// The inputs of op::Decode, without the words.
std::vector<Value> Seq2seqBuilder::decoder_inputs() {
    std::vector<Value> inputs{initial_state_, annotations_};
    for (const Value each : gru_parameters({"dec.W_ih", "dec.W_hh", "dec.b_ih", "dec.b_hh"}))
        inputs.push_back(each);
    if (!aligns()) return inputs;
    inputs.insert(inputs.end(), {keys_, parameter("W_a"), parameter("v_a")});
    if (predicts_window(e_.weighting.normalizer))
        inputs.insert(inputs.end(), {parameter("W_p"), parameter("v_p")});
    return inputs;
}

/// Greedy decoding equals teacher forcing with the words that it picked, so the other stages depend only on
/// `fed_tokens`, whichever way these were chosen.
void Seq2seqBuilder::feed() {
    const Value table = parameter("E_tgt"), W = parameter("W_out"), b = parameter("b_out");
    std::vector<Value> inputs = decoder_inputs();
    if (is_greedy()) {
        inputs.insert(inputs.end(), {table, W, b});
        const int last = target_words_.empty() ? k_no_word : k_eos;
        fed_tokens_ =
            builder_.add("fed_tokens"_stage,
                         op::DecodeGreedily{decoder_rule(), k_bos, last, e_.seq2seq.max_steps}, inputs);
    } else {
        fed_tokens_ = builder_.add("fed_tokens"_stage, op::TokenRows{fed_});
    }
    words_ = builder_.add("target_embedding"_stage, op::Lookup{}, {fed_tokens_, table});
}

namespace {

StageKey stage_of(op::DecoderPart part) {
    switch (part) {
        using enum op::DecoderPart;
        case scores: return "alignment_scores"_stage;
        case scaled: return "alignment_scaled"_stage;
        case center: return "alignment_center"_stage;
        case mask: return "alignment_mask"_stage;
        case masked: return "alignment_masked"_stage;
        case softmax: return "alignment_softmax"_stage;
        case gauss: return "alignment_gauss"_stage;
        case weights: return "alignment"_stage;
        case context: return "decoder_context"_stage;
        case gate_r: return "gate_r"_stage;
        case gate_z: return "gate_z"_stage;
        case gate_n: return "gate_n"_stage;
        case state: break;
    }
    return "decoder_state"_stage;
}

}  // namespace

void Seq2seqBuilder::decode_target() {
    std::vector<Value> inputs = decoder_inputs();
    inputs.push_back(words_);
    const op::DecoderRule rule = decoder_rule();
    std::vector<StageKey> keys;
    for (const op::DecoderPart part : rule.parts()) keys.push_back(stage_of(part));
    const std::vector<Value> values = builder_.add(keys, op::Decode{rule}, inputs);
    state_ = values.back();
    context_ = values[values.size() - 5];
}

void Seq2seqBuilder::predict() {
    const Value W = parameter("W_out"), b = parameter("b_out");
    const Value logits = builder_.add("logits"_stage, op::OutputLogits{}, {state_, words_, context_, W, b});
    log_probs_ = builder_.add("log_probs"_stage, op::LogSoftmax{}, {logits});
    builder_.add("probabilities"_stage, op::Exponential{}, {log_probs_});
    builder_.add("picked_tokens"_stage, op::ArgMax{}, {logits});
}

/// Adds the loss: the mean of −log p of each step's target.
void Seq2seqBuilder::add_loss() {
    builder_.graph.loss_advice = is_greedy() ? "set decode to teacher" : "set the custom matrix tgt_out";
    if (targets_.empty()) return;
    const Value targets = builder_.add("target_tokens"_stage, op::TokenRows{targets_});
    builder_.add("loss"_stage, op::CrossEntropy{}, {log_probs_, targets});
}

}  // namespace attnscope
