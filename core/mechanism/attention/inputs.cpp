// From text or a picture to the inputs of the projections.
#include "core/error.h"

#include <fmt/format.h>
#include "core/experiment/sentence.h"
#include "core/graph/stage_table.h"
#include "core/image/patches.h"
#include "core/mechanism/attention/build.h"
#include "core/op/word_table.h"

namespace attnscope {
namespace {

bool needs_embedding(const Experiment& e) {
    return !e.is_custom("scores") && !e.are_custom({"query", "key", "value"});
}

}  // namespace

bool uses_image(const Experiment& e) {
    return needs_embedding(e) && e.input.image && !e.is_custom("embedding_kv");
}

void AttentionBuilder::read_tokens() {
    if (!needs_embedding(e_)) return;
    Graph& graph = builder_.graph;
    std::vector<std::string> tokens, tokens_kv;
    if (!is_custom("embedding")) tokens = sentence_tokens(e_, e_.input.text, "the sentence", "--text");
    if (!e_.input.text2.empty() && !is_custom("embedding_kv"))
        tokens_kv = sentence_tokens(e_, e_.input.text2, "the second sentence", "--text2");
    graph.rows = display_tokens(tokens);
    graph.columns = tokens_kv.empty() && !is_custom("embedding_kv") ? graph.rows : display_tokens(tokens_kv);
    pictured_ = uses_image(e_);
    if (pictured_) {
        graph.columns.clear();
        for (int patch = 0; patch < e_.input.grid * e_.input.grid; ++patch)
            graph.columns.push_back(patch_label(patch, e_.input.grid));
    }

    const VocabularyRule& rule = vocabulary_rule(e_.input.vocabulary);
    std::vector<std::string> all = tokens;
    all.insert(all.end(), tokens_kv.begin(), tokens_kv.end());
    vocabulary_ = sentence_vocabulary(e_, e_.input.words, all);
    const auto split = vocabulary_.ids.begin() + std::ssize(tokens);
    ids_.assign(vocabulary_.ids.begin(), split);
    ids_kv_.assign(split, vocabulary_.ids.end());
    const int needed = static_cast<int>(vocabulary_.words.size());
    table_rows_ = rule.stable ? needed : std::max(e_.input.table_size, needed);
    graph.table = vocabulary_.words;
}

void AttentionBuilder::count_tokens() {
    const auto rows_of = [&](std::initializer_list<CustomName> names, std::size_t otherwise) {
        for (const CustomName& name : names)
            if (const CustomMatrix* given = e_.weights.find_custom(name))
                return static_cast<int>(given->values().rows());
        return static_cast<int>(otherwise);
    };
    N_ = rows_of({"scores", "query", "embedding"}, ids_.size());
    if (const CustomMatrix* scores = e_.weights.find_custom("scores"))
        M_ = static_cast<int>(scores->values().cols());
    else if (!ids_kv_.empty() && !is_custom("key"))
        M_ = static_cast<int>(ids_kv_.size());
    else if (pictured_ && !is_custom("key"))
        M_ = e_.input.grid * e_.input.grid;
    else
        M_ = rows_of({"key", "embedding_kv", "embedding"}, ids_.size());
    // A custom matrix with another number of rows than the sentence has tokens does not get their labels.
    Graph& graph = builder_.graph;
    if (graph.rows.size() != static_cast<std::size_t>(N_)) graph.rows.clear();
    if (graph.columns.size() != static_cast<std::size_t>(M_)) graph.columns.clear();
    const int most = mechanism_rule(e_.mechanism).most_tokens;
    if (N_ > most || M_ > most || N_ < 1 || M_ < 1)
        throw Error(ErrorKind::too_large,
                    fmt::format("{} queries and {} keys: each may be 1 to {}", N_, M_, most));
}

Op AttentionBuilder::table_op() const {
    if (vocabulary_rule(e_.input.vocabulary).stable) return word_table(e_, vocabulary_.words);
    return op::Drawn{e_.weights.seed, {Draw::by(e_.weights.embedding, table_rows_, e_.input.dim)}};
}

/// The patches of an image, projected (the annotation vectors of Xu et al. 2015, §3.1.1).
Value AttentionBuilder::annotations() {
    const Value patches = builder_.add(
        "patches"_stage, op::Patches{e_.input.image->shared(), e_.input.grid, e_.input.patch_size});
    const Value W = parameter("W_patch");
    builder_.may_override("W_patch", builder_.shape(W).rows, builder_.shape(W).columns);
    return builder_.linear("embedding_kv"_stage, patches, W, {});
}

void AttentionBuilder::embed() {
    if (!needs_embedding(e_)) return;
    Value tokens, tokens_kv;
    if (!ids_.empty()) tokens = builder_.add("tokens"_stage, op::TokenRows{ids_});
    if (!ids_kv_.empty()) tokens_kv = builder_.add("tokens_kv"_stage, op::TokenRows{ids_kv_});
    if (tokens || tokens_kv) table_ = builder_.add("table"_stage, table_op());
    X_ = tokens ? builder_.add("embedding"_stage, op::Lookup{}, {tokens, table_}) : custom("embedding");
    Y_ = pictured_                   ? annotations()
         : tokens_kv                 ? builder_.add("embedding_kv"_stage, op::Lookup{}, {tokens_kv, table_})
         : is_custom("embedding_kv") ? custom("embedding_kv")
                                     : X_;
    Y_v_ = is_custom("embedding_v") ? custom("embedding_v") : Y_;
    x_ = X_;
    const int d = builder_.shape(X_).columns;
    builder_.may_override("embedding", N_, d);
    builder_.may_override("embedding_kv", M_, d);
    builder_.may_override("embedding_v", M_, d);
}

/// P, drawn as the embedding table is, by a generator of its own with the same seed.
Value AttentionBuilder::learned_positions(int rows, int columns) {
    require_context_length(rows, e_.attention.context_length);
    builder_.may_override("P", e_.attention.context_length, columns);
    if (!is_custom("P"))
        return builder_.add(
            "P"_stage, op::Drawn{e_.weights.seed,
                                 {Draw::by(e_.weights.embedding, e_.attention.context_length, columns)}});
    const Value P = custom("P");
    builder_.require_shape(P, e_.attention.context_length, columns);
    return P;
}

/// The shape of the positions: as many as the longer side has tokens.
Shape AttentionBuilder::shape_of_positions() const {
    const Shape x = builder_.shape(X_), y = builder_.shape(Y_);
    if (y.columns != x.columns)
        refuse_shape("embedding_kv", y.rows, y.columns,
                     fmt::format("needs {} columns for both sides to have positions", x.columns));
    return op::matrix(std::max(x.rows, y.rows), x.columns);
}

void AttentionBuilder::add_positions() {
    if (!X_) return;
    switch (e_.attention.position) {
        case Position::none:
        case Position::rope:   // split_heads() rotates queries and keys
        case Position::alibi:  // add_biases() adds it to the scores
            return;
        case Position::sinusoidal: {
            const Shape shape = shape_of_positions();
            const op::SinusoidalPositions positions{shape.rows, shape.columns};
            return add_to_inputs(builder_.add("position"_stage, positions));
        }
        case Position::learned: {
            const Shape shape = shape_of_positions();
            return add_to_inputs(learned_positions(shape.rows, shape.columns));
        }
    }
}

void AttentionBuilder::add_to_inputs(Value PE) {
    const bool one_side = Y_ == X_, one_value_side = Y_v_ == Y_;
    X_ = builder_.add("positioned"_stage, op::Add{}, {X_, PE});
    Y_ = one_side ? X_ : builder_.add("positioned_kv"_stage, op::Add{}, {Y_, PE});
    if (one_value_side) Y_v_ = Y_;
    x_ = X_;
}

}  // namespace attnscope
