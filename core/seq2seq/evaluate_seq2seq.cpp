// Encoder, decoder, words: the stages of sequence to sequence.
#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "core/attention/block.h"
#include "core/attention/masks.h"
#include "core/attention/stages.h"
#include "core/error.h"
#include "core/seq2seq/evaluation.h"

namespace attnscope {
namespace {

constexpr int k_bos = 0, k_eos = 1;
constexpr int k_no_word = -1;  ///< a given table without words has no end

ConstMatrixView empty_view() { return {nullptr, 0, 0}; }

GruWeights gru_weights(const std::vector<StagePtr>& parameters) {
    return {values(parameters[0]), values(parameters[1]), values(parameters[2]), values(parameters[3])};
}

template <typename Steps, typename Part>
Tensor stacked(const Steps& steps, const Part& part) {
    const auto columns = static_cast<int>(part(steps.front()).size());
    Tensor rows({.heads = 1, .rows = static_cast<int>(steps.size()), .columns = columns});
    for (std::size_t i = 0; i < steps.size(); ++i)
        rows.head(0).row(static_cast<Eigen::Index>(i)) = part(steps[i]);
    return rows;
}

}  // namespace

Trace Seq2seqEvaluation::run() {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    trace_.experiment = e_;
    read_words();
    embed_source();
    encode_source();
    start_decoder();
    feed();
    decode_target();
    predict();
    add_loss();
    label_steps();
    std::stable_partition(trace_.records.begin(), trace_.records.end(),
                          [](const StageRecord& record) { return !is_parameter(*record.stage->info); });
    trace_.milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    return std::move(trace_);
}

Seq2seqSizes Seq2seqEvaluation::sizes() const {
    const int annotation = reads_backward() ? 2 * e_.encoder_size : e_.encoder_size;
    const bool current = e_.alignment_state == AlignmentState::current;
    return {.source_words = source_rows_,
            .target_words = target_rows_,
            .embedding = e_.dim,
            .encoder = e_.encoder_size,
            .annotation = annotation,
            .decoder = e_.decoder_size,
            .decoder_input = current ? e_.dim : e_.dim + annotation,
            .hidden = e_.hidden};
}

const std::map<std::string, Matrix>& Seq2seqEvaluation::drawn() {
    if (!drawn_.empty()) return drawn_;
    const Initializer& rule = initializer_of(e_.embedding);
    const bool stable = vocabulary_rule(e_.vocabulary).stable;
    Generator generator(e_.seed);
    drawn_ = draw_seq2seq(generator, sizes(), rule, !stable);
    if (!stable) return drawn_;
    const auto table = [&](const std::vector<std::string>& words, int rows) {
        if (!words.empty()) return draw_stable_table(e_.seed, words, e_.dim, rule);
        Generator own(e_.seed);
        return draw_table(own, rows, e_.dim, rule);
    };
    drawn_.emplace("E_src", table(source_words_, source_rows_));
    drawn_.emplace("E_tgt", table(target_words_, target_rows_));
    return drawn_;
}

StagePtr Seq2seqEvaluation::parameter(const std::string& name) {
    StagePtr& stage = parameters_[name];
    if (stage) return stage;
    const Seq2seqSizes s = sizes();
    if (is_given(name)) {
        const Seq2seqParameter& known = *find_seq2seq_parameter(name);
        stage = build_.given(e_, name);
        require_shape(*stage, known.rows(s), known.columns(s));
        return stage;
    }
    std::string text = settings(e_.seed.text(), e_.embedding, s.source_words, s.target_words, s.embedding,
                                s.encoder, s.annotation, s.decoder, s.decoder_input, s.hidden);
    if (vocabulary_rule(e_.vocabulary).stable) {
        text += settings("stable");
        if (name == "E_src")
            for (const std::string& word : source_words_) text += settings(word);
        if (name == "E_tgt")
            for (const std::string& word : target_words_) text += settings(word);
    }
    return stage = build_.stage(name, {}, std::move(text), [&] { return as_tensor(drawn().at(name)); });
}

std::vector<StagePtr> Seq2seqEvaluation::gru_parameters(const std::string& prefix) {
    std::vector<StagePtr> stages;
    for (const char* part : {".W_ih", ".W_hh", ".b_ih", ".b_hh"}) stages.push_back(parameter(prefix + part));
    return stages;
}

void Seq2seqEvaluation::embed_source() {
    const StagePtr words = token_rows("source", source_);
    X_ = rows_of_table("source_embedding", words, parameter("E_src"));
}

/// The gates of one direction, and its states, which it gives.
StagePtr Seq2seqEvaluation::read(const std::string& side, Direction direction) {
    const std::vector<StagePtr> weights = gru_parameters("enc_" + side);
    std::vector<StagePtr> inputs{X_};
    inputs.insert(inputs.end(), weights.begin(), weights.end());
    std::optional<std::vector<GruStep>> steps;
    const auto part = [&](const std::string& name, Row GruStep::*member) {
        return build_.stage(name, inputs, {}, [&] {
            if (!steps) steps = encode(gru_weights(weights), values(X_), direction, options_.cancel);
            return stacked(*steps, [&](const GruStep& step) -> const Row& { return step.*member; });
        });
    };
    part("encoder_r_" + side, &GruStep::r);
    part("encoder_z_" + side, &GruStep::z);
    part("encoder_n_" + side, &GruStep::n);
    return part("h_" + side, &GruStep::state);
}

void Seq2seqEvaluation::encode_source() {
    const StagePtr forward = read("fwd", Direction::forward);
    const StagePtr backward = reads_backward() ? read("bwd", Direction::backward) : nullptr;
    std::vector<StagePtr> inputs{forward};
    if (backward) inputs.push_back(backward);
    annotations_ = build_.stage("annotations", inputs, {}, [&] {
        const int E = forward->shape().columns;
        Tensor joined({.heads = 1, .rows = forward->shape().rows, .columns = sizes().annotation});
        joined.head(0).leftCols(E) = values(forward);
        if (backward) joined.head(0).rightCols(E) = values(backward);
        return joined;
    });
    last_state_ = backward ? backward : forward;
}

/// s_0 = tanh(W_init h + b_init), h being the backward state at the first word (Bahdanau et al. 2015,
/// §A.2.2), of a forward encoder the state at the last. Then U_a h_j for all words at once (§A.1.2).
void Seq2seqEvaluation::start_decoder() {
    const StagePtr W = parameter("W_init"), b = parameter("b_init");
    initial_state_ = build_.stage("initial_state", {last_state_, W, b}, {}, [&] {
        const Eigen::Index last = reads_backward() ? 0 : last_state_->shape().rows - 1;
        const Eigen::ArrayXd sums = product_in_double(values(W), values(last_state_).row(last)) +
                                    values(b).row(0).transpose().cast<double>().array();
        Tensor state({.heads = 1, .rows = 1, .columns = e_.decoder_size});
        state.head(0).row(0) = sums.tanh().cast<float>().matrix().transpose();
        return state;
    });
    if (!aligns()) return;
    const StagePtr U = parameter("U_a");
    keys_ = build_.stage("keys_projected", {annotations_, U}, {}, [&] {
        Tensor keys({.heads = 1, .rows = annotations_->shape().rows, .columns = e_.hidden});
        for (int j = 0; j < keys.shape().rows; ++j)
            keys.head(0).row(j) =
                product_in_double(values(U), values(annotations_).row(j)).cast<float>().matrix().transpose();
        return keys;
    });
}

Vocabularies Seq2seqEvaluation::vocabularies() const {
    return {values(parameters_.at("E_tgt")), values(parameters_.at("W_out")),
            values(parameters_.at("b_out"))};
}

/// Everything that the decoder reads but the words.
std::vector<StagePtr> Seq2seqEvaluation::decoder_inputs() const {
    std::vector<StagePtr> inputs{initial_state_, annotations_};
    if (keys_) inputs.push_back(keys_);
    for (const char* name : {"dec.W_ih", "dec.W_hh", "dec.b_ih", "dec.b_hh", "W_a", "v_a", "W_p", "v_p"})
        if (const auto found = parameters_.find(name); found != parameters_.end())
            inputs.push_back(found->second);
    return inputs;
}

std::string Seq2seqEvaluation::decoder_settings() const {
    std::string text = settings(e_.alignment_state, e_.decoder_attention, e_.encoder);
    if (!aligns()) return text;
    text += settings(e_.normalizer, e_.temperature, e_.local_window);
    for (const MaskRule& rule : e_.mask) text += settings(mask_rule_text(rule));
    if (is_given("mask")) text += settings("given", e_.given.at("mask").identity());
    return text;
}

/// Runs the decoder on what fed_stage_ holds, or greedily while there is none.
void Seq2seqEvaluation::run_decoder() {
    const int words = annotations_->shape().rows;
    const int steps = is_greedy() ? e_.max_steps : static_cast<int>(fed_.size());
    std::optional<Tensor> rules;
    if (aligns() && (!e_.mask.empty() || is_given("mask"))) {
        rules = mask_matrix(e_.mask, steps, words);
        if (is_given("mask")) {
            const Matrix& mask = e_.given.at("mask").values();
            if (mask.rows() != steps || mask.cols() != words)
                refuse_shape("mask", mask.rows(), mask.cols(),
                             std::to_string(steps) + " × " + std::to_string(words));
            rules->head(0) = (mask.array() != 0).select(rules->head(0), 0);
        }
    }
    const auto known = [&](const char* name) {
        const auto found = parameters_.find(name);
        return found == parameters_.end() ? empty_view() : values(found->second);
    };
    const Alignment alignment{.W_a = known("W_a"),
                              .v_a = known("v_a"),
                              .keys = keys_ ? values(keys_) : empty_view(),
                              .W_p = known("W_p"),
                              .v_p = known("v_p"),
                              .rules = rules ? std::as_const(*rules).head(0) : empty_view(),
                              .normalizer = &normalizer_of(e_.normalizer),
                              .temperature = e_.temperature,
                              .window = e_.local_window};
    Row last(annotations_->shape().columns);
    last = values(annotations_).row(words - 1);
    if (reads_backward()) last.tail(e_.encoder_size) = values(annotations_).row(0).tail(e_.encoder_size);
    const Decoder decoder{.gru = gru_weights(gru_parameters("dec")),
                          .initial_state = values(initial_state_),
                          .annotations = values(annotations_),
                          .alignment = aligns() ? &alignment : nullptr,
                          .fixed_context = last,
                          .align_current = e_.alignment_state == AlignmentState::current};
    steps_.emplace();
    if (words_)
        steps_ = decode(decoder, values(words_), options_.cancel);
    else
        fed_ = decode_greedily(decoder, vocabularies(), k_bos, target_words_.empty() ? k_no_word : k_eos,
                               e_.max_steps, *steps_, options_.cancel);
}

const std::vector<DecoderStep>& Seq2seqEvaluation::steps() {
    if (!steps_) run_decoder();
    return *steps_;
}

void Seq2seqEvaluation::feed() {
    for (const char* name : {"E_tgt", "W_out", "b_out"}) parameter(name);
    gru_parameters("dec");
    if (aligns()) {
        for (const char* name : {"W_a", "v_a"}) parameter(name);
        if (normalizer_of(e_.normalizer).window == Normalizer::Window::predicted)
            for (const char* name : {"W_p", "v_p"}) parameter(name);
    }
    if (is_greedy()) {
        std::vector<StagePtr> inputs = decoder_inputs();
        for (const char* name : {"E_tgt", "W_out", "b_out"}) inputs.push_back(parameters_.at(name));
        fed_stage_ = build_.stage("fed_tokens", inputs, decoder_settings() + settings(e_.max_steps), [&] {
            run_decoder();
            Tensor rows({.heads = 1, .rows = static_cast<int>(fed_.size()), .columns = 1});
            std::ranges::transform(fed_, rows.values().begin(), [](int word) { return float(word); });
            return rows;
        });
    } else {
        fed_stage_ = token_rows("fed_tokens", fed_);
    }
    words_ = rows_of_table("target_embedding", fed_stage_, parameters_.at("E_tgt"));
}

StagePtr Seq2seqEvaluation::step_rows(const char* name, const std::vector<StagePtr>& inputs,
                                      const std::string& text,
                                      const std::function<const Row&(const DecoderStep&)>& part) {
    return build_.stage(name, inputs, text, [&] { return stacked(steps(), part); });
}

/// Greedy decoding is teacher forcing with the words that it picked, so that these stages depend on
/// `fed_tokens` and not on what picked them.
void Seq2seqEvaluation::decode_target() {
    std::vector<StagePtr> inputs = decoder_inputs();
    inputs.push_back(words_);
    // A mask of greedy decoding has a row for each step that there may be.
    const std::string text = decoder_settings() + settings(is_greedy() ? e_.max_steps : 0);
    if (aligns()) add_alignment(inputs, text);
    context_ = step_rows("decoder_context", inputs, text,
                         [](const DecoderStep& step) -> const Row& { return step.context; });
    step_rows("gate_r", inputs, text, [](const DecoderStep& step) -> const Row& { return step.gru.r; });
    step_rows("gate_z", inputs, text, [](const DecoderStep& step) -> const Row& { return step.gru.z; });
    step_rows("gate_n", inputs, text, [](const DecoderStep& step) -> const Row& { return step.gru.n; });
    state_ = step_rows("decoder_state", inputs, text,
                       [](const DecoderStep& step) -> const Row& { return step.gru.state; });
}

void Seq2seqEvaluation::add_alignment(const std::vector<StagePtr>& inputs, const std::string& text) {
    const auto add = [&](const char* name, Row AlignmentStep::*member) {
        step_rows(name, inputs, text,
                  [member](const DecoderStep& step) -> const Row& { return step.alignment.*member; });
    };
    const Normalizer::Window window = normalizer_of(e_.normalizer).window;
    add("alignment_scores", &AlignmentStep::scores);
    if (e_.temperature != 1) add("alignment_scaled", &AlignmentStep::scaled);
    if (window != Normalizer::Window::none) add("alignment_center", &AlignmentStep::center);
    if (window != Normalizer::Window::none || !e_.mask.empty() || is_given("mask")) {
        add("alignment_mask", &AlignmentStep::open);
        add("alignment_masked", &AlignmentStep::masked);
    }
    if (window == Normalizer::Window::predicted) {
        add("alignment_softmax", &AlignmentStep::softmax);
        add("alignment_gauss", &AlignmentStep::gauss);
    }
    add("alignment", &AlignmentStep::weights);
}

void Seq2seqEvaluation::predict() {
    const StagePtr W = parameters_.at("W_out"), b = parameters_.at("b_out");
    const StagePtr logits = build_.stage("logits", {state_, words_, context_, W, b}, {}, [&] {
        Tensor rows({.heads = 1, .rows = state_->shape().rows, .columns = target_rows_});
        for (int i = 0; i < rows.shape().rows; ++i) {
            if (options_.cancel.stop_requested()) throw Cancelled{};
            rows.head(0).row(i) = output_logits(vocabularies(), values(state_).row(i), values(words_).row(i),
                                                values(context_).row(i));
        }
        return rows;
    });
    log_probs_ = build_.stage("log_probs", {logits}, {}, [&] {
        Tensor rows(logits->shape());
        log_softmax(values(logits), rows.head(0));
        return rows;
    });
    build_.stage("picked_tokens", {logits}, {}, [&] {
        Tensor rows({.heads = 1, .rows = logits->shape().rows, .columns = 1});
        for (int i = 0; i < rows.shape().rows; ++i)
            rows.head(0)(i, 0) = static_cast<float>(largest(values(logits).row(i)));
        return rows;
    });
}

/// The mean of −log p of each step's wanted word.
void Seq2seqEvaluation::add_loss() {
    if (wanted_.empty()) return;
    const StagePtr wanted = token_rows("target_tokens", wanted_);
    build_.stage("loss", {log_probs_, wanted}, {}, [&] {
        double sum = 0;
        for (int i = 0; i < wanted->shape().rows; ++i)
            sum -= values(log_probs_)(i, static_cast<int>(values(wanted)(i, 0)));
        Tensor value({.heads = 1, .rows = 1, .columns = 1});
        value.head(0)(0, 0) = static_cast<float>(sum / wanted->shape().rows);
        return value;
    });
}

std::size_t seq2seq_trace_bytes(const Experiment& e, int queries, int keys) {
    const auto size = [](int n) { return static_cast<std::size_t>(n); };
    const std::size_t N = size(queries), S = size(keys), d = size(e.dim), E = size(e.encoder_size),
                      D = size(e.decoder_size), A = size(e.hidden), C = 2 * E;
    const auto given_rows = [&](const char* name, std::size_t otherwise) {
        return e.is_given(name)
                   ? std::max(otherwise, size(static_cast<int>(e.given.at(name).values().rows())))
                   : otherwise;
    };
    const std::size_t source_words = given_rows("E_src", std::max(size(e.table_size), S));
    // No more words than letters; a teacher's are no more than the steps.
    const std::size_t letters = std::max(e.text.size(), e.text2.size());
    const std::size_t words =
        given_rows("E_tgt", (e.decode == Decode::greedy ? std::min(letters, size(k_max_tokens)) : N) + 2);
    const std::size_t parameters = source_words * d + words * (d + D + d + C) + 6 * E * (d + E + 2) +
                                   3 * D * (d + C + D + 2) + A * (2 * D + C + 2) + D * E;
    const std::size_t squares = 7 * N * S;
    const std::size_t rows = S * (d + 10 * E + A) + N * (d + C + 4 * D + 2 * words + 4);
    // What is drawn or decoded stands beside its stages until they are made; 1/3 more for pooled levels.
    return 2 * (parameters + squares + squares / 3 + rows) * sizeof(float);
}

}  // namespace attnscope
