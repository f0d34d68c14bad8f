#include "core/mechanism/transformer/build.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/experiment/sentence.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/attention/parts.h"
#include "core/op/normalizers.h"
#include "core/op/word_table.h"
#include "core/text/vocabulary.h"

namespace attnscope {

std::string why_not_trained(Position position) {
    std::vector<std::string_view> others;
    for (const PositionRule& rule : k_position_rules)
        if (!rule.biases) others.push_back(name_of(rule.choice));
    const std::string_view last = others.back();
    others.pop_back();
    return fmt::format("position {} cannot be trained: use {} or {}", name_of(position),
                       fmt::join(others, ", "), last);
}

TransformerBuilder::TransformerBuilder(const Experiment& experiment, std::span<const TokenSentence> batch)
    : e_(experiment), is_of_batch_(true), batch_(static_cast<int>(batch.size())) {
    for (const TokenSentence& sentence : batch) {
        ids_.insert(ids_.end(), sentence.tokens.begin(), sentence.tokens.end());
        target_ids_.insert(target_ids_.end(), sentence.targets.begin(), sentence.targets.end());
    }
}

Graph TransformerBuilder::build() {
    if (ids_.empty()) read_tokens();
    size_table();
    embed();
    add_positions();
    open_mask();
    for (layer_ = 1; layer_ <= e_.transformer.layers; ++layer_) add_layer();
    layer_ = 0;
    predict();
    add_loss();
    return std::move(builder_.graph);
}

TransformerSizes TransformerBuilder::sizes() const { return transformer_sizes(e_, table_rows_); }

/// A parameter: custom, or drawn in the order in which one generator draws them all.
Value TransformerBuilder::parameter(CustomName name) {
    const TransformerParameter& known = *find_transformer_parameter(name.text());
    const StageKey at = key(known.stage);
    const int rows = known.rows(sizes()), columns = known.columns(sizes());
    const std::string given = name_in_layer(layer_, name.text());
    builder_.may_override(given, rows, columns);
    if (const CustomMatrix* found = e_.weights.find_custom(given)) {
        const Value value = builder_.custom(at, *found);
        builder_.require_shape(value, rows, columns);
        return value;
    }
    const bool stable = vocabulary_rule(e_.input.vocabulary).stable;
    switch (known.draw) {
        case TransformerParameter::Draw::ones: return builder_.add(at, op::Constant{rows, columns, 1});
        case TransformerParameter::Draw::zeros: return builder_.add(at, op::Constant{rows, columns, 0});
        case TransformerParameter::Draw::table:
            if (stable && !words_.empty()) return builder_.add(at, word_table(e_, words_));
            if (stable)
                return builder_.add(
                    at, op::Drawn{e_.weights.seed, {Draw::by(e_.weights.embedding, rows, columns)}});
            break;
        case TransformerParameter::Draw::positions:
        case TransformerParameter::Draw::linear:
        case TransformerParameter::Draw::bias: break;
    }
    const TransformerDraws draws{sizes(), e_.transformer.layers, e_.weights.embedding, stable};
    return builder_.add(at, op::Drawn{e_.weights.seed, draws.up_to(known, layer_)});
}

Value TransformerBuilder::normed(const NormNames& norm, Value x) {
    const Value gain = parameter(norm.gain), shift = parameter(norm.shift);
    return builder_.add(key(norm.stage), op::LayerNorm{e_.attention.layer_norm_epsilon}, {x, gain, shift});
}

/// Reads the rows of E: a custom `tokens`, or the words of the sentence.
void TransformerBuilder::read_tokens() {
    Graph& graph = builder_.graph;
    if (e_.is_custom("tokens")) return read_custom_tokens();
    const std::vector<std::string> tokens = sentence_tokens(e_, e_.input.text, "the sentence", "--text");
    std::vector<std::string> all = tokens;
    if (has_own_targets(e_.transformer.objective) && !e_.input.text2.empty()) {
        const std::vector<std::string> targets =
            sentence_tokens(e_, e_.input.text2, "the targets", "--text2");
        all.insert(all.end(), targets.begin(), targets.end());
    }
    const Vocabulary vocabulary = sentence_vocabulary(e_, e_.input.words, all);
    const auto split = vocabulary.ids.begin() + std::ssize(tokens);
    ids_.assign(vocabulary.ids.begin(), split);
    target_ids_.assign(split, vocabulary.ids.end());
    words_ = vocabulary.words;
    graph.rows = graph.columns = display_tokens(tokens);
    graph.table = graph.target_table = words_;
}

/// Sets the number of rows of E: as many as the words, the setting or a custom E need.
void TransformerBuilder::size_table() {
    const int needed = static_cast<int>(words_.size());
    const bool stable = vocabulary_rule(e_.input.vocabulary).stable;
    table_rows_ = stable && needed > 0 ? needed : std::max(e_.input.table_size, needed);
    if (const CustomMatrix* table = e_.weights.find_custom("E"))
        table_rows_ = std::max(static_cast<int>(table->values().rows()), needed);
    const auto largest = std::ranges::max_element(ids_);
    if (*largest >= table_rows_)
        throw Error(ErrorKind::bad_input,
                    fmt::format("tokens: {} is not a row of E: use 0 to {}", *largest, table_rows_ - 1));
    builder_.may_override("tokens", 1, length());
}

void TransformerBuilder::read_custom_tokens() {
    const Matrix& rows = e_.weights.find_custom("tokens")->values();
    if (rows.rows() != 1 || rows.cols() < 1 || rows.cols() > k_max_tokens)
        refuse_shape("tokens", rows.rows(), rows.cols(),
                     fmt::format("needs one row of 1 to {} tokens", k_max_tokens));
    for (Eigen::Index i = 0; i < rows.cols(); ++i) {
        const float id = rows(0, i);
        if (!(id >= 0 && id < static_cast<float>(k_max_table_size)) || id != std::floor(id))
            throw Error(
                ErrorKind::bad_input,
                fmt::format("tokens: column {} is {}: use rows of E, whole numbers from 0", i + 1, id));
        ids_.push_back(static_cast<int>(id));
    }
}

void TransformerBuilder::embed() {
    const Value tokens = builder_.add("tokens"_stage, op::TokenRows{ids_});
    table_ = parameter("E");
    stream_ = builder_.add("embedding"_stage, op::Lookup{}, {tokens, table_});
}

void TransformerBuilder::add_positions() {
    const int N = length();
    Value positions;
    switch (e_.attention.position) {
        case Position::none:
        case Position::rope: return;
        case Position::alibi: {
            if (batch_ > 1) throw Error(ErrorKind::bad_input, why_not_trained(e_.attention.position));
            alibi_ = add_alibi(builder_, e_, N, N);
            return;
        }
        case Position::sinusoidal:
            positions = builder_.add("position"_stage, op::SinusoidalPositions{N, e_.input.dim});
            break;
        case Position::learned:
            require_context_length(N, e_.attention.context_length);
            positions = parameter("P");
            break;
    }
    stream_ = builder_.add("positioned"_stage, op::Add{batch_}, {stream_, positions});
}

/// Adds the mask that all layers share.
void TransformerBuilder::open_mask() {
    const int N = length();
    Value centers;
    switch (normalizer_of(e_.weighting.normalizer).window) {
        case Normalizer::Window::none: break;
        case Normalizer::Window::at_query: centers = builder_.add("center"_stage, op::QueryPlaces{N}); break;
        case Normalizer::Window::predicted:
            throw Error(ErrorKind::bad_input,
                        "normalizer local-p does not work in a transformer: use another one");
    }
    mask_ = add_mask(builder_, e_, N, N, centers);
}

void TransformerBuilder::add_layer() {
    add_part(&TransformerBuilder::attend, "residual_1"_stage, k_first_norm);
    if (e_.attention.feed_forward_size > 0)
        add_part(&TransformerBuilder::feed_forward, "residual_2"_stage, k_second_norm);
}

void TransformerBuilder::add_part(Value (TransformerBuilder::*part)(Value x), const StageInfo* residual,
                                  const NormNames& norm) {
    const auto add = [&](Value fed) { return builder_.add(key(residual), op::Add{}, {stream_, fed}); };
    switch (e_.transformer.norm) {
        case Norm::none: stream_ = add((this->*part)(stream_)); break;
        case Norm::before: stream_ = add((this->*part)(normed(norm, stream_))); break;
        case Norm::after: stream_ = normed(norm, add((this->*part)(stream_))); break;
    }
}

Value TransformerBuilder::split(const StageInfo* stage, Value x, bool rotate) {
    op::SplitHeads split{.heads = e_.attention.heads, .batch = batch_};
    if (rotate) split.rotary = e_.attention.rope_layout;
    return builder_.add(key(stage), split, {x});
}

Value TransformerBuilder::attend(Value x) {
    const int heads = e_.attention.heads, d_k = e_.key_width();
    const bool rotate = position_rule(e_.attention.position).rotates;
    if (const std::string why = rotate ? why_rope_does_not_fit(d_k) : ""; !why.empty())
        throw Error(ErrorKind::bad_input, why);
    Value Q = builder_.linear(key("query"_stage), x, parameter("W_q"), {});
    Value K = builder_.linear(key("key"_stage), x, parameter("W_k"), {});
    Value V = builder_.linear(key("value"_stage), x, parameter("W_v"), {});
    if (heads > 1 || rotate || batch_ > 1) {
        Q = split("query_heads"_stage, Q, rotate);
        K = split("key_heads"_stage, K, rotate);
        V = split("value_heads"_stage, V, false);
    }
    const Value scores = builder_.add(key("scores"_stage), op::DotProduct{}, {Q, K});
    Value scaled = builder_.add(key("scaled"_stage),
                                op::Scale{e_.attention.scale, d_k, e_.weighting.temperature}, {scores});
    if (alibi_) scaled = builder_.add(key("biased"_stage), op::AddBias{}, {scaled, alibi_});
    const Value masked = builder_.add(key("masked"_stage), op::MaskedFill{}, {scaled, mask_});
    const Op normalize = normalizer_of(e_.weighting.normalizer).op(SoftmaxAxis::keys);
    const Value weights = builder_.add(key("weights"_stage), normalize, {masked});
    Value context = builder_.add(key("context"_stage), op::WeightedSum{}, {weights, masked, V});
    if (const std::vector<int> ablated = ablated_heads(e_, layer_); !ablated.empty())
        context =
            builder_.add(key("ablated"_stage), op::Ablate{ablated, heads, e_.attention.ablation}, {context});
    if (heads > 1 || batch_ > 1)
        context = builder_.add(key("concat"_stage), op::JoinHeads{batch_}, {context});
    return builder_.linear(key("output"_stage), context, parameter("W_o"), {});
}

Value TransformerBuilder::feed_forward(Value x) {
    const Value W_1 = parameter("W_1"), b_1 = parameter("b_1"), W_2 = parameter("W_2"),
                b_2 = parameter("b_2");
    return add_feed_forward(builder_, e_, layer_, x, {W_1, b_1, W_2, b_2});
}

void TransformerBuilder::predict() {
    if (ends_normed(e_.transformer.norm)) stream_ = normed({"norm_final"_stage, "ln_f_g", "ln_f_b"}, stream_);
    const Value W = e_.transformer.tied ? table_ : parameter("W_out");
    const Value logits = builder_.linear("logits"_stage, stream_, W, {});
    log_probs_ = builder_.add("log_probs"_stage, op::LogSoftmax{}, {logits});
    builder_.add("probabilities"_stage, op::Exponential{}, {log_probs_});
    builder_.add("picked_tokens"_stage, op::ArgMax{}, {logits});
}

/// Each position's target, a row of E, −1 where there is none; empty if there are no targets.
std::vector<int> TransformerBuilder::targets() const {
    if (is_of_batch_) return target_ids_;
    if (const CustomMatrix* custom = e_.weights.find_custom("targets")) {
        const Matrix& given = custom->values();
        if (given.rows() != 1 || given.cols() != std::ssize(ids_))
            refuse_shape("targets", given.rows(), given.cols(), must_be(1, std::ssize(ids_)));
        std::vector<int> targets;
        for (Eigen::Index i = 0; i < given.cols(); ++i) {
            const float id = given(0, i);
            if (!(id >= -1 && id < static_cast<float>(table_rows_)) || id != std::floor(id))
                throw Error(ErrorKind::bad_input,
                            fmt::format("target {} is not a row of E: use 0 to {}, or -1 for none", i + 1,
                                        table_rows_ - 1));
            targets.push_back(static_cast<int>(id));
        }
        return targets;
    }
    if (has_own_targets(e_.transformer.objective)) {
        if (target_ids_.empty() || target_ids_.size() == ids_.size()) return target_ids_;
        throw Error(ErrorKind::bad_input,
                    fmt::format("the sentence has {} tokens, but text2 has {} targets: give each token one",
                                ids_.size(), target_ids_.size()));
    }
    std::vector<int> next(ids_.begin() + 1, ids_.end());
    next.push_back(-1);
    return next;
}

/// Adds the loss: the mean of −log p over the positions that have a target.
void TransformerBuilder::add_loss() {
    builder_.graph.loss_advice =
        has_own_targets(e_.transformer.objective) ? "type the targets (text2)" : "type a longer sentence";
    builder_.may_override("targets", 1, length());
    const std::vector<int> rows = targets();
    if (std::ranges::all_of(rows, [](int row) { return row < 0; })) return;
    const bool skips = std::ranges::find(rows, -1) != rows.end();
    const Value wanted = builder_.add("target_tokens"_stage, op::TokenRows{rows});
    builder_.add("loss"_stage, op::CrossEntropy{.skips = skips}, {log_probs_, wanted});
}

}  // namespace attnscope
