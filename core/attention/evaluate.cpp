#include "core/attention/evaluate.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <optional>
#include <sstream>

#include "core/attention/masks.h"
#include "core/attention/memory.h"
#include "core/attention/normalizers.h"
#include "core/attention/scores.h"
#include "core/attention/stages.h"
#include "core/cpu/kernels.h"
#include "core/cpu/row_blocks.h"
#include "core/error.h"
#include "core/random/initializers.h"
#include "core/text/tokenizer.h"
#include "core/text/vocabulary.h"

namespace attnscope {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// The experiment's fields that a stage reads, as one comparable text.
template <typename... Values>
std::string settings(const Values&... values) {
    std::ostringstream text;
    text << std::hexfloat;
    ((text << values << '\x1f'), ...);
    return text.str();
}

[[noreturn]] void refuse_shapes(const std::string& what, Eigen::Index rows, Eigen::Index columns,
                                const std::string& expected) {
    throw Error(ErrorKind::bad_input, what + " is " + std::to_string(rows) + " × " + std::to_string(columns) +
                                          ", but " + expected + " is needed here");
}

/// Puts stages into a trace, each computed only if the previous trace does not have it.
class Builder {
public:
    Builder(const Trace& previous, Trace& trace, const EvaluateOptions& options)
        : previous_(previous), trace_(trace), options_(options) {}

    /// `compute` may read only the inputs and what `text` spells out.
    template <typename Compute>
    StagePtr stage(std::string_view name, std::vector<StagePtr> inputs, std::string text,
                   const Compute& compute) {
        if (options_.cancel.stop_requested()) throw Cancelled{};
        const StageRecord* old = find_previous(name);
        if (old && old->settings == text && old->inputs == inputs) {
            trace_.records.push_back({old->stage, std::move(inputs), std::move(text)});
            return old->stage;
        }
        const Clock::time_point start = Clock::now();
        Tensor values = compute();
        const double milliseconds = milliseconds_since(start);
        StagePtr result = old && same(old->stage->buffer.host(), values)
                              ? old->stage
                              : StagePtr(new Stage{find_stage_info(name), Buffer(std::move(values))});
        trace_.records.push_back({result, std::move(inputs), std::move(text), milliseconds, true});
        return result;
    }

private:
    const StageRecord* find_previous(std::string_view name) const {
        for (const StageRecord& record : previous_.records)
            if (record.stage->name() == name) return &record;
        return nullptr;
    }

    static bool same(const Tensor& a, const Tensor& b) {
        return a.shape() == b.shape() &&
               std::memcmp(a.values().data(), b.values().data(), a.values().size_bytes()) == 0;
    }

    const Trace& previous_;
    Trace& trace_;
    const EvaluateOptions& options_;
};

Tensor as_tensor(const Matrix& matrix, bool per_head = false) {
    Tensor tensor({1, static_cast<int>(matrix.rows()), static_cast<int>(matrix.cols()), per_head});
    tensor.head(0) = matrix;
    return tensor;
}

/// Over all rows of all heads of a stage whose every cell takes so many multiply-adds.
RowLoop row_loop(const Shape& shape, double work_per_cell) {
    return {shape.heads, shape.rows, work_per_cell * shape.columns};
}

ConstMatrixView values(const StagePtr& stage, int head = 0) { return stage->buffer.host().head(head); }

/// The evaluation of one experiment, step by step in the order of the computation.
class Evaluation {
public:
    Evaluation(const Experiment& experiment, const Trace& previous, const EvaluateOptions& options)
        : e_(experiment), build_(previous, trace_, options), options_(options) {}

    Trace run();

private:
    bool is_given(const std::string& name) const { return e_.given.contains(name); }
    const Matrix& given(const std::string& name) const { return e_.given.at(name).values(); }
    std::string given_settings(const std::string& name) const {
        return settings("given", e_.given.at(name).identity());
    }
    StagePtr given_stage(const std::string& name, bool per_head = false) {
        return build_.stage(name, {}, given_settings(name), [&] { return as_tensor(given(name), per_head); });
    }

    void read_tokens();
    void count_tokens();
    void embed();
    void project();
    void split_heads();
    void score();
    void weigh();
    void sum_values();
    void project_output();

    std::string table_settings() const;
    Generator projection_generator() const;
    const ProjectionWeights& drawn_weights();
    StagePtr weight(const std::string& name, Matrix ProjectionWeights::*member);
    StagePtr projected(const std::string& name, const std::string& letter, const StagePtr& x);
    StagePtr linear(const std::string& name, const StagePtr& x, const StagePtr& W, const std::string& bias);
    StagePtr split(const std::string& name, const StagePtr& x);

    const Experiment& e_;
    Trace trace_;
    Builder build_;
    const EvaluateOptions& options_;

    Vocabulary vocabulary_;
    int table_rows_ = 0;
    int N_ = 0, M_ = 0;
    std::optional<ProjectionWeights> drawn_;
    StagePtr tokens_, table_, X_, Y_, Q_, K_, V_, scores_, scaled_, mask_, masked_, weights_, context_;
};

bool needs_embedding(const Experiment& e) {
    if (e.given.contains("scores")) return false;
    return !e.given.contains("query") || !e.given.contains("key") || !e.given.contains("value");
}

void Evaluation::read_tokens() {
    if (!needs_embedding(e_) || is_given("embedding")) return;
    std::vector<std::string> tokens = tokenize(e_.text, *find_tokenizer(e_.tokenizer));
    if (tokens.empty())
        throw Error(ErrorKind::bad_input,
                    "the sentence has no tokens: type at least one word (--text \"…\")");
    if (tokens.size() > static_cast<std::size_t>(k_max_tokens))
        throw Error(ErrorKind::too_large, "the sentence has " + std::to_string(tokens.size()) +
                                              " tokens and the limit is " + std::to_string(k_max_tokens) +
                                              ": shorten it");
    const VocabularyRule& rule = *find_vocabulary_rule(e_.vocabulary);
    vocabulary_ = make_vocabulary(tokens, rule);
    const int needed = static_cast<int>(vocabulary_.words.size());
    table_rows_ = rule.stable ? needed : std::max(e_.table_size, needed);
    trace_.table = vocabulary_.words;
    for (std::string& token : tokens) token = display_token(token);
    trace_.rows = trace_.columns = std::move(tokens);
}

void Evaluation::count_tokens() {
    const auto rows_of = [&](std::initializer_list<const char*> names) {
        for (const char* name : names)
            if (is_given(name)) return static_cast<int>(given(name).rows());
        return static_cast<int>(trace_.rows.size());
    };
    N_ = rows_of({"scores", "query", "embedding"});
    M_ = is_given("scores") ? static_cast<int>(given("scores").cols())
                            : rows_of({"key", "embedding_kv", "embedding"});
    // What is given in another number than the sentence's tokens is not of them.
    if (trace_.rows.size() != static_cast<std::size_t>(N_)) trace_.rows.clear();
    if (trace_.columns.size() != static_cast<std::size_t>(M_)) trace_.columns.clear();
    if (N_ > k_max_tokens || M_ > k_max_tokens || N_ < 1 || M_ < 1)
        throw Error(ErrorKind::too_large, std::to_string(N_) + " queries and " + std::to_string(M_) +
                                              " keys: each may be 1 to " + std::to_string(k_max_tokens));
    // A tenth is left to what else grows meanwhile.
    const std::size_t limit = options_.memory_limit ? options_.memory_limit : available_memory() / 10 * 9;
    // The old trace stays on screen until the new one is whole.
    const std::size_t needed = trace_bytes(e_, N_, M_);
    if (needed > limit)
        throw Error(ErrorKind::too_large, std::to_string(N_) + " × " + std::to_string(M_) + " tokens with " +
                                              std::to_string(e_.heads) + " heads need " +
                                              std::to_string(needed >> 20) + " MiB and " +
                                              std::to_string(limit >> 20) +
                                              " MiB are free: shorten the sentence or use fewer heads");
}

std::string Evaluation::table_settings() const {
    std::string text = settings(e_.seed.text(), e_.dim, e_.embedding, table_rows_);
    if (find_vocabulary_rule(e_.vocabulary)->stable)
        for (const std::string& word : vocabulary_.words) text += settings(word);
    return text;
}

void Evaluation::embed() {
    if (!needs_embedding(e_)) return;
    if (is_given("embedding")) {
        X_ = given_stage("embedding");
    } else {
        const int count = static_cast<int>(vocabulary_.ids.size());
        tokens_ = build_.stage("tokens", {}, settings(e_.text, e_.tokenizer, e_.vocabulary), [&] {
            Tensor ids({.heads = 1, .rows = count, .columns = 1});
            for (int i = 0; i < count; ++i)
                ids.head(0)(i, 0) = static_cast<float>(vocabulary_.ids[std::size_t(i)]);
            return ids;
        });
        table_ = build_.stage("table", {}, table_settings(), [&] {
            const Initializer& initializer = *find_initializer(e_.embedding);
            if (find_vocabulary_rule(e_.vocabulary)->stable)
                return as_tensor(draw_stable_table(e_.seed, vocabulary_.words, e_.dim, initializer));
            Generator generator(e_.seed);
            return as_tensor(draw_table(generator, table_rows_, e_.dim, initializer));
        });
        X_ = build_.stage("embedding", {tokens_, table_}, {}, [&] {
            Tensor X({.heads = 1, .rows = count, .columns = e_.dim});
            for (int i = 0; i < count; ++i)
                X.head(0).row(i) = values(table_).row(static_cast<int>(values(tokens_)(i, 0)));
            return X;
        });
    }
    Y_ = is_given("embedding_kv") ? given_stage("embedding_kv") : X_;
}

/// Where the projections' draws start.
Generator Evaluation::projection_generator() const {
    Generator generator(e_.projection_seed.kind == ProjectionSeed::Kind::own ? e_.projection_seed.seed
                                                                             : e_.seed);
    const bool after_table = e_.projection_seed.kind == ProjectionSeed::Kind::proceed &&
                             !find_vocabulary_rule(e_.vocabulary)->stable && table_rows_ > 0;
    if (after_table) draw_table(generator, table_rows_, e_.dim, *find_initializer(e_.embedding));
    return generator;
}

const ProjectionWeights& Evaluation::drawn_weights() {
    if (!drawn_) {
        Generator generator = projection_generator();
        if (e_.projection == "none") {
            drawn_.emplace();
            drawn_->W_o.resize(e_.dim, e_.dim);
            find_initializer("linear")->fill(generator, MatrixView(drawn_->W_o.data(), e_.dim, e_.dim));
        } else {
            drawn_ = find_projection_rule(e_.projection)->draw(generator, e_.dim, true);
        }
    }
    return *drawn_;
}

/// A parameter: given, or drawn together with its sisters.
StagePtr Evaluation::weight(const std::string& name, Matrix ProjectionWeights::*member) {
    if (is_given(name)) return given_stage(name);
    std::string text = settings(e_.projection, e_.dim);
    switch (e_.projection_seed.kind) {
        case ProjectionSeed::Kind::same: text += settings("seed", e_.seed.text()); break;
        case ProjectionSeed::Kind::own: text += settings("seed", e_.projection_seed.seed.text()); break;
        case ProjectionSeed::Kind::proceed: text += settings("after", table_settings()); break;
    }
    return build_.stage(name, {}, std::move(text), [&] { return as_tensor(drawn_weights().*member); });
}

/// x Wᵀ + b (torch.nn.Linear); x n × in, W out × in, b 1 × out or absent.
StagePtr Evaluation::linear(const std::string& name, const StagePtr& x, const StagePtr& W,
                            const std::string& bias) {
    const int in = x->shape().columns;
    const int out = W->shape().rows;
    if (W->shape().columns != in)
        refuse_shapes(std::string(W->name()), out, W->shape().columns, "out × " + std::to_string(in));
    if (is_given(bias) && given(bias).size() != out)
        refuse_shapes(bias, given(bias).rows(), given(bias).cols(), "1 × " + std::to_string(out));
    return build_.stage(name, {x, W}, is_given(bias) ? given_settings(bias) : "", [&] {
        Tensor y({.heads = 1, .rows = x->shape().rows, .columns = out});
        for_row_blocks(row_loop(y.shape(), in), [&](RowBlock block) {
            MatrixView rows = block.of(y.head(0));
            product_transposed(block.of(values(x)), values(W), rows);
            if (is_given(bias))
                rows.rowwise() += Eigen::Map<const Eigen::RowVectorXf>(given(bias).data(), out);
        });
        return y;
    });
}

StagePtr Evaluation::projected(const std::string& name, const std::string& letter, const StagePtr& x) {
    if (is_given(name)) return given_stage(name);
    const std::string W = "W_" + letter;
    if (e_.projection == "none" && !is_given(W))
        return build_.stage(name, {x}, {}, [&] { return as_tensor(values(x)); });
    Matrix ProjectionWeights::*const member = letter == "q"   ? &ProjectionWeights::W_q
                                              : letter == "k" ? &ProjectionWeights::W_k
                                                              : &ProjectionWeights::W_v;
    return linear(name, x, weight(W, member), "b_" + letter);
}

void Evaluation::project() {
    if (is_given("scores")) {
        if (is_given("value")) V_ = given_stage("value");
        return;
    }
    Q_ = projected("query", "q", X_);
    K_ = projected("key", "k", Y_);
    V_ = projected("value", "v", Y_);
    const Shape q = Q_->shape(), k = K_->shape();
    if (q.columns != k.columns)
        refuse_shapes("key", k.rows, k.columns, "rows × " + std::to_string(q.columns));
}

/// x N × d → h × N × d/h: head h takes columns h·d/h … (h+1)·d/h − 1 (Vaswani et al. 2017, §3.2.2).
StagePtr Evaluation::split(const std::string& name, const StagePtr& x) {
    const int columns = x->shape().columns;
    if (columns % e_.heads != 0)
        throw Error(ErrorKind::bad_input, "heads " + std::to_string(e_.heads) + " does not divide the " +
                                              std::to_string(columns) + " columns of " +
                                              std::string(x->name()) + ": use a divisor");
    return build_.stage(name, {x}, settings(e_.heads), [&] {
        const int width = columns / e_.heads;
        Tensor heads({.heads = e_.heads, .rows = x->shape().rows, .columns = width, .per_head = true});
        for (int h = 0; h < e_.heads; ++h) heads.head(h) = values(x).middleCols(h * width, width);
        return heads;
    });
}

void Evaluation::split_heads() {
    if (e_.heads == 1 || is_given("scores")) return;
    Q_ = split("query_heads", Q_);
    K_ = split("key_heads", K_);
    V_ = split("value_heads", V_);
}

void Evaluation::score() {
    if (is_given("scores")) {
        if (e_.heads > 1)
            throw Error(ErrorKind::bad_input, "scores are given for one head and heads is " +
                                                  std::to_string(e_.heads) + ": use heads 1");
        if (e_.scale.kind == Scale::Kind::sqrt)
            throw Error(ErrorKind::bad_input,
                        "scale sqrt needs keys and the scores are given: use none or a number");
        scores_ = given_stage("scores", true);
    } else {
        scores_ = build_.stage("scores", {Q_, K_}, settings(e_.score), [&] {
            Tensor scores({.heads = e_.heads, .rows = N_, .columns = M_, .per_head = true});
            const ScoreFunction& function = *find_score_function(e_.score);
            for_row_blocks(row_loop(scores.shape(), K_->shape().columns), [&](RowBlock block) {
                function.compute({block.of(values(Q_, block.head)), values(K_, block.head)},
                                 block.of(scores.head(block.head)));
            });
            return scores;
        });
    }
    const auto factor = static_cast<float>(e_.scale.factor(K_ ? K_->shape().columns : 1));
    const auto temperature = static_cast<float>(e_.temperature);
    scaled_ = build_.stage("scaled", {scores_}, settings(factor, temperature), [&] {
        Tensor scaled(scores_->shape());
        for_row_blocks(row_loop(scaled.shape(), 1), [&](RowBlock block) {
            scale_rows(block.of(values(scores_, block.head)), factor, temperature,
                       block.of(scaled.head(block.head)));
        });
        return scaled;
    });
}

void Evaluation::weigh() {
    std::string rules;
    for (const MaskRule& rule : e_.mask) rules += settings(mask_rule_text(rule));
    mask_ = build_.stage("mask", {}, settings(N_, M_) + rules, [&] { return mask_matrix(e_.mask, N_, M_); });
    masked_ = build_.stage("masked", {scaled_, mask_}, {}, [&] {
        Tensor masked(scaled_->shape());
        for_row_blocks(row_loop(masked.shape(), 1), [&](RowBlock block) {
            mask_rows(block.of(values(scaled_, block.head)), block.of(values(mask_)),
                      block.of(masked.head(block.head)));
        });
        return masked;
    });
    weights_ = build_.stage("weights", {masked_}, settings(e_.normalizer), [&] {
        Tensor weights(masked_->shape());
        const Normalizer& normalizer = *find_normalizer(e_.normalizer);
        for_row_blocks(row_loop(weights.shape(), k_softmax_work), [&](RowBlock block) {
            normalizer.compute(block.of(values(masked_, block.head)), block.of(weights.head(block.head)));
        });
        return weights;
    });
}

void Evaluation::sum_values() {
    if (!V_) return;
    const Shape v = V_->shape();
    if (v.rows != M_)
        refuse_shapes("value", v.rows, v.columns, std::to_string(M_) + " rows, one for each key,");
    context_ = build_.stage("context", {weights_, masked_, V_}, {}, [&] {
        Tensor context({.heads = e_.heads, .rows = N_, .columns = v.columns, .per_head = true});
        std::vector<bool> finite;
        for (int h = 0; h < e_.heads; ++h)
            finite.push_back(all_finite({values(V_, h).data(), v.head_size()}));
        for_row_blocks(row_loop(context.shape(), M_), [&](RowBlock block) {
            const int h = block.head;
            const ConstMatrixView weights = block.of(values(weights_, h));
            MatrixView sums = block.of(context.head(h));
            if (finite[std::size_t(h)])
                product(weights, values(V_, h), sums);
            else
                sum_open(weights, block.of(values(masked_, h)), values(V_, h), sums);
        });
        return context;
    });
}

void Evaluation::project_output() {
    if (!context_) return;
    StagePtr x = context_;
    if (e_.heads > 1) {
        x = build_.stage("concat", {context_}, {}, [&] {
            const int width = context_->shape().columns;
            Tensor concat({.heads = 1, .rows = N_, .columns = width * e_.heads});
            for (int h = 0; h < e_.heads; ++h)
                concat.head(0).middleCols(h * width, width) = values(context_, h);
            return concat;
        });
    }
    if (e_.output_projection || is_given("W_o"))
        linear("output", x, weight("W_o", &ProjectionWeights::W_o), "b_o");
}

Trace Evaluation::run() {
    const Clock::time_point start = Clock::now();
    trace_.experiment = e_;
    read_tokens();
    count_tokens();
    embed();
    project();
    split_heads();
    score();
    weigh();
    sum_values();
    project_output();
    std::stable_partition(trace_.records.begin(), trace_.records.end(),
                          [](const StageRecord& record) { return !is_parameter(*record.stage->info); });
    trace_.milliseconds = milliseconds_since(start);
    return std::move(trace_);
}

}  // namespace

Trace evaluate(const Experiment& experiment, const Trace& previous, const EvaluateOptions& options) {
    check(experiment);
    Trace trace;
    with_threads(options.threads, [&] { trace = Evaluation(experiment, previous, options).run(); });
    return trace;
}

std::size_t trace_bytes(const Experiment& e, int queries, int keys) {
    const auto N = static_cast<std::size_t>(queries), M = static_cast<std::size_t>(keys);
    const auto d = static_cast<std::size_t>(e.dim), h = static_cast<std::size_t>(e.heads);
    const std::size_t rows = std::max(static_cast<std::size_t>(e.table_size), N);
    const std::size_t square = 4 * h * N * M + N * M;  // scores, scaled, masked, weights; mask
    const std::size_t narrow = rows * d + 4 * d * d + 10 * (N + M) * d;
    // 1/3 more for pooled levels, 1/h for the mean of the heads
    return (square + square / 3 + 4 * N * M + narrow) * sizeof(float);
}

}  // namespace attnscope
