#include "core/attention/scores.h"

#include <array>
#include <cmath>

#include "core/cpu/kernels.h"

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

void dot(const ScoreInputs& in, ConstMatrixView, MatrixView scores) {
    product_transposed(in.Q, in.K, scores);
}

void general(const ScoreInputs& in, ConstMatrixView, MatrixView scores) {
    const Matrix QW = in.Q * in["W_score"];
    product_transposed(QW, in.K, scores);
}

/// tanh of each query's part plus each key's part, side by side for each key; n × (M · hidden).
void tanh_of_sums(const Matrix& of_queries, const Matrix& of_keys, MatrixView out) {
    const Eigen::Index width = of_keys.cols();
    for (Eigen::Index i = 0; i < of_queries.rows(); ++i)
        for (Eigen::Index j = 0; j < of_keys.rows(); ++j)
            out.row(i).segment(j * width, width) = (of_queries.row(i) + of_keys.row(j)).array().tanh();
}

void additive_hidden(const ScoreInputs& in, MatrixView out) {
    Matrix of_queries = in.Q * in["W_aq"].transpose();
    const Matrix of_keys = in.K * in["W_ak"].transpose();
    if (in.parameters.contains("b_a")) of_queries.rowwise() += in["b_a"].row(0);
    tanh_of_sums(of_queries, of_keys, out);
}

void concat_hidden(const ScoreInputs& in, MatrixView out) {
    const ConstMatrixView W = in["W_c"];
    const Matrix of_queries = in.Q * W.leftCols(in.Q.cols()).transpose();
    const Matrix of_keys = in.K * W.rightCols(in.K.cols()).transpose();
    tanh_of_sums(of_queries, of_keys, out);
}

/// Each key's hidden units times v.
void sum_hidden(ConstMatrixView before, ConstMatrixView v, MatrixView scores) {
    const Eigen::Index width = v.size();
    const Eigen::Map<const Eigen::VectorXf> weights(v.data(), width);
    for (Eigen::Index i = 0; i < scores.rows(); ++i) {
        const ConstMatrixView units(before.data() + i * before.cols(), scores.cols(), width);
        scores.row(i).transpose().noalias() = units * weights;
    }
}

void cosine(const ScoreInputs& in, MatrixView out) {
    const Eigen::VectorXf query_norms = in.Q.rowwise().norm(), key_norms = in.K.rowwise().norm();
    product_transposed(in.Q, in.K, out);
    for (Eigen::Index i = 0; i < out.rows(); ++i)
        for (Eigen::Index j = 0; j < out.cols(); ++j)
            out(i, j) /= std::max(query_norms(i) * key_norms(j), 1e-8f);
}

constexpr std::array k_functions = {
    ScoreFunction{Score::dot, "q · k", "the dot product of query and key", true, {}, "", nullptr, dot},
    ScoreFunction{Score::general, "q W k", "the dot product with a matrix in between (Luong)", false,
                  k_general, "", nullptr, general},
    ScoreFunction{Score::additive, "v · tanh(W_q q + W_k k)", "a hidden layer over both (Bahdanau)", false,
                  k_additive, "score_hidden", additive_hidden,
                  [](const ScoreInputs& in, ConstMatrixView before, MatrixView scores) {
                      sum_hidden(before, in["v_a"], scores);
                  }},
    ScoreFunction{Score::concat, "v · tanh(W [q; k])", "a hidden layer over the two side by side (Luong)",
                  false, k_concat, "score_hidden", concat_hidden,
                  [](const ScoreInputs& in, ConstMatrixView before, MatrixView scores) {
                      sum_hidden(before, in["v_c"], scores);
                  }},
    ScoreFunction{Score::cosine,
                  "β q · k ÷ |q| |k|",
                  "the cosine of the angle between them, sharpened",
                  true,
                  {},
                  "cosine",
                  cosine,
                  [](const ScoreInputs& in, ConstMatrixView before, MatrixView scores) {
                      scores = before * static_cast<float>(in.sharpening);
                  }},
    ScoreFunction{Score::location, "(W q)_j", "the query alone says where to look (Luong)", false, k_location,
                  "", nullptr,
                  [](const ScoreInputs& in, ConstMatrixView, MatrixView scores) {
                      product_transposed(in.Q, in["W_loc"], scores);
                  }},
};
static_assert(is_table_of<Score>(k_functions));

}  // namespace

std::span<const ScoreFunction> score_functions() { return k_functions; }

const ScoreFunction& score_function(Score choice) { return k_functions[static_cast<std::size_t>(choice)]; }

}  // namespace attnscope
