#include "core/mechanism/attention/scores.h"

#include <array>
#include <utility>

#include "core/graph/stage_table.h"

namespace attnscope {
namespace {

int hidden(const ScoreSizes& sizes) { return sizes.hidden; }
int query_width(const ScoreSizes& sizes) { return sizes.query; }
int key_width(const ScoreSizes& sizes) { return sizes.key; }
int both_widths(const ScoreSizes& sizes) { return sizes.query + sizes.key; }
int keys(const ScoreSizes& sizes) { return sizes.keys; }
int one(const ScoreSizes&) { return 1; }

constexpr std::array k_general = {ScoreParameter{"W_score", query_width, key_width}};
constexpr std::array k_additive = {
    ScoreParameter{"W_aq", hidden, query_width}, ScoreParameter{"W_ak", hidden, key_width},
    ScoreParameter{"b_a", one, hidden, false}, ScoreParameter{"v_a", one, hidden}};
constexpr std::array k_concat = {ScoreParameter{"W_c", hidden, both_widths},
                                 ScoreParameter{"v_c", one, hidden}};
constexpr std::array k_location = {ScoreParameter{"W_loc", keys, query_width}};

Value of_queries_and_keys(GraphBuilder& graph, Op op, const ScoreOperands& in) {
    return graph.add("scores"_stage, std::move(op), {in.Q, in.K});
}

/// A hidden layer over query and key, `hidden`, which reads all parameters but the last; the last weighs its
/// units.
Value of_hidden_layer(GraphBuilder& graph, Op hidden, const ScoreOperands& in) {
    std::vector<Value> inputs{in.Q, in.K};
    inputs.insert(inputs.end(), in.parameters.begin(), in.parameters.end() - 1);
    const Value units = graph.add("score_hidden"_stage, std::move(hidden), inputs);
    return graph.add("scores"_stage, op::HiddenScore{}, {units, in.parameters.back()});
}

constexpr std::array k_functions = {
    ScoreFunction{Score::dot,
                  "Dot-product attention",
                  "the dot product of query and key",
                  true,
                  {},
                  {},
                  [](GraphBuilder& graph, const ScoreOperands& in) {
                      return of_queries_and_keys(graph, op::DotProduct{}, in);
                  }},
    ScoreFunction{Score::general,
                  "General attention",
                  "the dot product through a learned matrix (Luong)",
                  false,
                  {},
                  k_general,
                  [](GraphBuilder& graph, const ScoreOperands& in) {
                      return graph.add("scores"_stage, op::GeneralScore{}, {in.Q, in.K, in.parameters[0]});
                  }},
    ScoreFunction{Score::additive, "Additive attention", "a hidden layer over query and key (Bahdanau)",
                  false, OptionName("hidden"), k_additive,
                  [](GraphBuilder& graph, const ScoreOperands& in) {
                      return of_hidden_layer(graph, op::AdditiveHidden{}, in);
                  }},
    ScoreFunction{Score::concat, "Concat attention", "a hidden layer over query and key concatenated (Luong)",
                  false, OptionName("hidden"), k_concat,
                  [](GraphBuilder& graph, const ScoreOperands& in) {
                      return of_hidden_layer(graph, op::ConcatHidden{}, in);
                  }},
    ScoreFunction{Score::cosine,
                  "Cosine attention",
                  "the cosine of query and key, times β (Graves)",
                  true,
                  OptionName("sharpening"),
                  {},
                  [](GraphBuilder& graph, const ScoreOperands& in) {
                      const Value cosine = graph.add("cosine"_stage, op::Cosine{}, {in.Q, in.K});
                      return graph.add("scores"_stage,
                                       op::Sharpen{static_cast<float>(in.settings.sharpening)}, {cosine});
                  }},
    ScoreFunction{Score::location,
                  "Location attention",
                  "computed from the query alone (Luong)",
                  false,
                  {},
                  k_location,
                  [](GraphBuilder& graph, const ScoreOperands& in) {
                      return graph.add("scores"_stage, op::LocationScore{}, {in.Q, in.parameters[0]});
                  }},
    ScoreFunction{Score::rbf,
                  "Attention with an RBF kernel score",
                  "the logarithm of a Gaussian kernel (Nadaraya, Watson)",
                  true,
                  OptionName("bandwidth"),
                  {},
                  [](GraphBuilder& graph, const ScoreOperands& in) {
                      return of_queries_and_keys(graph,
                                                 op::RbfScore{static_cast<float>(in.settings.bandwidth)}, in);
                  }},
};

}  // namespace

std::span<const ScoreFunction> score_functions() { return k_functions; }

const ScoreFunction& score_function(Score choice) {
    static_assert(is_table_of<Score>(k_functions));
    return k_functions[static_cast<std::size_t>(choice)];
}

}  // namespace attnscope
