// From text to the embeddings that attention reads.
#include "core/attention/backend.h"
#include "core/attention/evaluate.h"
#include "core/attention/evaluation.h"
#include "core/attention/memory.h"
#include "core/attention/patches.h"
#include "core/attention/positions.h"
#include "core/attention/sentence.h"
#include "core/error.h"

namespace attnscope {
namespace {

bool needs_embedding(const Experiment& e) {
    if (e.is_given("scores")) return false;
    return !e.is_given("query") || !e.is_given("key") || !e.is_given("value");
}

}  // namespace

void AttentionEvaluation::read_tokens() {
    if (!needs_embedding(e_)) return;
    std::vector<std::string> tokens, tokens_kv;
    if (!is_given("embedding")) tokens = sentence_tokens(e_, e_.text, "the sentence", "--text");
    if (!e_.text2.empty() && !is_given("embedding_kv"))
        tokens_kv = sentence_tokens(e_, e_.text2, "the second sentence", "--text2");
    trace_.rows = display_tokens(tokens);
    trace_.columns = tokens_kv.empty() && !is_given("embedding_kv") ? trace_.rows : display_tokens(tokens_kv);
    pictured_ = e_.image && !is_given("embedding_kv");
    if (pictured_) {
        trace_.columns.clear();
        for (int patch = 0; patch < e_.grid * e_.grid; ++patch)
            trace_.columns.push_back(patch_label(patch, e_.grid));
    }

    const VocabularyRule& rule = vocabulary_rule(e_.vocabulary);
    std::vector<std::string> all = tokens;
    all.insert(all.end(), tokens_kv.begin(), tokens_kv.end());
    vocabulary_ = make_vocabulary(all, rule);
    const auto split = vocabulary_.ids.begin() + std::ssize(tokens);
    ids_.assign(vocabulary_.ids.begin(), split);
    ids_kv_.assign(split, vocabulary_.ids.end());
    const int needed = static_cast<int>(vocabulary_.words.size());
    table_rows_ = rule.stable ? needed : std::max(e_.table_size, needed);
    trace_.table = vocabulary_.words;
}

void AttentionEvaluation::count_tokens() {
    const auto rows_of = [&](std::initializer_list<const char*> names, std::size_t otherwise) {
        for (const char* name : names)
            if (is_given(name)) return static_cast<int>(e_.given.at(name).values().rows());
        return static_cast<int>(otherwise);
    };
    N_ = rows_of({"scores", "query", "embedding"}, ids_.size());
    if (is_given("scores"))
        M_ = static_cast<int>(e_.given.at("scores").values().cols());
    else if (!ids_kv_.empty() && !is_given("key"))
        M_ = static_cast<int>(ids_kv_.size());
    else if (pictured_ && !is_given("key"))
        M_ = e_.grid * e_.grid;
    else
        M_ = rows_of({"key", "embedding_kv", "embedding"}, ids_.size());
    // What is given in another number than the sentence's tokens is not of them.
    if (trace_.rows.size() != static_cast<std::size_t>(N_)) trace_.rows.clear();
    if (trace_.columns.size() != static_cast<std::size_t>(M_)) trace_.columns.clear();
    if (N_ > k_max_tokens || M_ > k_max_tokens || N_ < 1 || M_ < 1)
        throw Error(ErrorKind::too_large, std::to_string(N_) + " queries and " + std::to_string(M_) +
                                              " keys: each may be 1 to " + std::to_string(k_max_tokens));
    require_memory();
}

/// The old trace stays on screen until the new one is whole, so only what is free now counts; on a card,
/// which is asked again for each stage, also what may be taken over.
void AttentionEvaluation::require_memory() const {
    // A tenth is left to what else grows meanwhile.
    const auto most_of = [](std::size_t bytes) { return bytes / 10 * 9; };
    const TraceBytes bytes = attention_trace_bytes(e_, N_, M_);
    const std::size_t here = options_.memory_limit ? options_.memory_limit : most_of(available_memory());
    const std::size_t there = options_.backend ? options_.backend->memory() : 0;
    if (there > 0)
        require_bytes(bytes.whole - std::min(bytes.whole, build_.previous_bytes_on_device()), most_of(there),
                      "the graphics card's memory");
    require_bytes(there > 0 ? bytes.made_here : bytes.whole, here, "this machine's memory");
}

void AttentionEvaluation::require_bytes(std::size_t needed, std::size_t limit,
                                        const std::string& memory) const {
    if (needed <= limit) return;
    throw Error(ErrorKind::too_large,
                std::to_string(N_) + " × " + std::to_string(M_) + " tokens with " + std::to_string(e_.heads) +
                    " heads need " + std::to_string(needed >> 20) + " MiB of " + memory + " and " +
                    std::to_string(limit >> 20) + " MiB are free: shorten the sentence or use fewer heads");
}

std::string AttentionEvaluation::table_settings() const {
    std::string text = settings(e_.seed.text(), e_.dim, e_.embedding, table_rows_);
    if (vocabulary_rule(e_.vocabulary).stable)
        for (const std::string& word : vocabulary_.words) text += settings(word);
    return text;
}

StagePtr AttentionEvaluation::token_rows(const char* name, const std::vector<int>& ids) {
    // The rows follow from the vocabulary, which what is given may have made smaller.
    std::string text;
    for (const int id : ids) text += settings(id);
    return build_.stage(name, {}, text, [&] {
        Tensor rows({.heads = 1, .rows = static_cast<int>(ids.size()), .columns = 1});
        for (std::size_t i = 0; i < ids.size(); ++i) rows.values()[i] = static_cast<float>(ids[i]);
        return rows;
    });
}

StagePtr AttentionEvaluation::rows_of_table(const char* name, const StagePtr& tokens) {
    return build_.stage(name, {tokens, table_}, {}, [&] {
        Tensor rows({.heads = 1, .rows = tokens->shape().rows, .columns = e_.dim});
        for (int i = 0; i < tokens->shape().rows; ++i)
            rows.head(0).row(i) = values(table_).row(static_cast<int>(values(tokens)(i, 0)));
        return rows;
    });
}

/// Of an image: the patches, projected (the annotation vectors of Xu et al. 2015, §3.1.1).
StagePtr AttentionEvaluation::annotations() {
    const StagePtr patches =
        build_.stage("patches", {}, settings(e_.image->identity(), e_.grid, e_.patch_size),
                     [&] { return image_patches(e_.image->image(), e_.grid, e_.patch_size); });
    return linear("embedding_kv", patches, patch_weight(), nullptr);
}

void AttentionEvaluation::embed() {
    if (!needs_embedding(e_)) return;
    StagePtr tokens, tokens_kv;
    if (!ids_.empty()) tokens = token_rows("tokens", ids_);
    if (!ids_kv_.empty()) tokens_kv = token_rows("tokens_kv", ids_kv_);
    if (tokens || tokens_kv)
        table_ = build_.stage("table", {}, table_settings(), [&] {
            const Initializer& initializer = initializer_of(e_.embedding);
            if (vocabulary_rule(e_.vocabulary).stable)
                return as_tensor(draw_stable_table(e_.seed, vocabulary_.words, e_.dim, initializer));
            Generator generator(e_.seed);
            return as_tensor(draw_table(generator, table_rows_, e_.dim, initializer));
        });
    X_ = tokens ? rows_of_table("embedding", tokens) : given("embedding");
    Y_ = pictured_                  ? annotations()
         : tokens_kv                ? rows_of_table("embedding_kv", tokens_kv)
         : is_given("embedding_kv") ? given("embedding_kv")
                                    : X_;
    Y_v_ = is_given("embedding_v") ? given("embedding_v") : Y_;
    x_ = X_;
}

void AttentionEvaluation::add_positions() {
    if (e_.position != Position::sinusoidal || !X_) return;
    const int d = X_->shape().columns;
    if (Y_->shape().columns != d)
        refuse_shape("embedding_kv", Y_->shape().rows, Y_->shape().columns,
                     "rows × " + std::to_string(d) + " for the positions of both sides");
    const int rows = std::max(X_->shape().rows, Y_->shape().rows);
    const StagePtr PE = build_.stage("position", {}, settings(rows, d),
                                     [&] { return as_tensor(sinusoidal_positions(rows, d)); });
    const auto positioned = [&](const char* name, const StagePtr& x) {
        return build_.stage(name, {x, PE}, {}, x->shape(), step::Sum{}, [&](Tensor& sum) {
            sum.head(0) = values(x) + values(PE).topRows(x->shape().rows);
        });
    };
    const bool one_side = Y_ == X_, one_value_side = Y_v_ == Y_;
    X_ = positioned("positioned", X_);
    Y_ = one_side ? X_ : positioned("positioned_kv", Y_);
    if (one_value_side) Y_v_ = Y_;
    x_ = X_;
}

}  // namespace attnscope
