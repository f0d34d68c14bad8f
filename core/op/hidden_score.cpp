#include "core/op/hidden_score.h"

#include <fmt/format.h>

#include <stdexcept>

#include "core/cpu/kernels.h"
#include "core/op/gradient_proof.h"
#include "core/tensor/scratch.h"

namespace attnscope::op {
namespace {

Shape hidden_shape(const Shape& Q, const Shape& K, int hidden) {
    Shape shape = per_head(Q.heads, Q.rows, K.rows * hidden);
    shape.depth = hidden;
    return shape;
}

/// x Wᵀ, n × W's rows.
class Projected : public Scratch {
public:
    Projected(ConstMatrixView x, const ConstStrided& W) : Scratch(x.rows(), W.rows()) {
        view().setZero();
        add_product_transposed(x, W, view());
    }
};

/// tanh of each query's part plus each key's part, side by side for each key; n × (M · hidden).
void tanh_of_sums(MatrixView of_queries, MatrixView of_keys, MatrixView out) {
    const Eigen::Index width = of_keys.cols();
    for (Eigen::Index i = 0; i < of_queries.rows(); ++i)
        for (Eigen::Index j = 0; j < of_keys.rows(); ++j)
            out.row(i).segment(j * width, width) = (of_queries.row(i) + of_keys.row(j)).array().tanh();
}

}  // namespace

Shape AdditiveHidden::shape(Shapes in) const { return hidden_shape(in[0], in[1], in[2].rows); }

void AdditiveHidden::rows(const RowWork& in, MatrixView out) const {
    Projected of_queries(in.rows(0), in.head(2)), of_keys(in.head(1), in.head(3));
    if (in.count() > 4) of_queries.view().rowwise() += in.head(4).row(0);
    tanh_of_sums(of_queries.view(), of_keys.view(), out);
}

Shape ConcatHidden::shape(Shapes in) const { return hidden_shape(in[0], in[1], in[2].rows); }

void ConcatHidden::rows(const RowWork& in, MatrixView out) const {
    const ConstMatrixView Q = in.rows(0), K = in.head(1), W = in.head(2);
    Projected of_queries(Q, W.leftCols(Q.cols())), of_keys(K, W.rightCols(K.cols()));
    tanh_of_sums(of_queries.view(), of_keys.view(), out);
}

void HiddenScore::rows(const RowWork& in, MatrixView out) const {
    const ConstMatrixView v = in.head(1);
    const Eigen::Map<const Eigen::VectorXf> weights(v.data(), v.size());
    const ConstMatrixView hidden = in.rows(0);
    for (Eigen::Index i = 0; i < out.rows(); ++i) {
        const ConstMatrixView units(hidden.data() + i * hidden.cols(), out.cols(), v.size());
        out.row(i).transpose().noalias() = units * weights;
    }
}

namespace {

/// dU = dH ∘ (1 − H²), summed over the keys for each query, and over the queries for each key.
struct HiddenGradients {
    Matrix of_queries, of_keys;  ///< N × hidden, M × hidden

    HiddenGradients(ConstMatrixView H, ConstMatrixView dH, int hidden)
        : of_queries(Matrix::Zero(H.rows(), hidden)), of_keys(Matrix::Zero(H.cols() / hidden, hidden)) {
        for (Eigen::Index i = 0; i < H.rows(); ++i)
            for (Eigen::Index j = 0; j < of_keys.rows(); ++j) {
                const auto units = H.row(i).segment(j * hidden, hidden).array();
                const Eigen::Array<float, 1, Eigen::Dynamic> dU =
                    dH.row(i).segment(j * hidden, hidden).array() * (1 - units.square());
                of_queries.row(i).array() += dU;
                of_keys.row(j).array() += dU;
            }
    }
};

}  // namespace

void AdditiveHidden::backward(const Backward& at) const {
    for (int h = 0; h < at.heads(); ++h) {
        const HiddenGradients d(at.result(h), at.gradient(h), at.shape(2).rows);
        if (at.wants(0)) add_product(d.of_queries, at.input(2), at.sum(0, h));
        if (at.wants(1)) add_product(d.of_keys, at.input(3), at.sum(1, h));
        if (at.wants(2)) add_transposed_product(d.of_queries, at.input(0, h), at.sum(2));
        if (at.wants(3)) add_transposed_product(d.of_keys, at.input(1, h), at.sum(3));
        if (at.wants(4)) at.sum(4).row(0) += d.of_queries.colwise().sum();
    }
}

void ConcatHidden::backward(const Backward& at) const {
    for (int h = 0; h < at.heads(); ++h) {
        const ConstMatrixView Q = at.input(0, h), K = at.input(1, h), W = at.input(2);
        const HiddenGradients d(at.result(h), at.gradient(h), at.shape(2).rows);
        if (at.wants(0)) add_product(d.of_queries, W.leftCols(Q.cols()), at.sum(0, h));
        if (at.wants(1)) add_product(d.of_keys, W.rightCols(K.cols()), at.sum(1, h));
        if (at.wants(2)) {
            add_transposed_product(d.of_queries, Q, at.sum(2).leftCols(Q.cols()));
            add_transposed_product(d.of_keys, K, at.sum(2).rightCols(K.cols()));
        }
    }
}

void HiddenScore::backward(const Backward& at) const {
    const Eigen::RowVectorXf v = at.input(1).row(0);
    for (int h = 0; h < at.heads(); ++h) {
        const ConstMatrixView H = at.input(0, h), dS = at.gradient(h);
        for (Eigen::Index i = 0; i < dS.rows(); ++i)
            for (Eigen::Index j = 0; j < dS.cols(); ++j) {
                const Eigen::Index first = j * v.size();
                if (at.wants(0)) at.sum(0, h).row(i).segment(first, v.size()) += dS(i, j) * v;
                if (at.wants(1)) at.sum(1).row(0) += dS(i, j) * H.row(i).segment(first, v.size());
            }
    }
}

namespace {

/// dU = dH ∘ (1 − H²) of one hidden unit of each key (one column each), in one row.
double hidden_gradient(const GradientCell& cell, int h, int row, int column) {
    const double unit = cell.out(h, row, column);
    return cell.d(h, row, column) * (1 - unit * unit);
}

/// The sum over the keys, for a query; or over the queries, for a key.
float of_query(const GradientCell& cell, int h, int query, int unit) {
    const Shape& shape = cell.result_shape();
    double sum = 0;
    for (int column = unit; column < shape.columns; column += shape.depth)
        sum += hidden_gradient(cell, h, query, column);
    return static_cast<float>(sum);
}
float of_key(const GradientCell& cell, int h, int key, int unit) {
    double sum = 0;
    for (int i = 0; i < cell.result_shape().rows; ++i)
        sum += hidden_gradient(cell, h, i, key * cell.result_shape().depth + unit);
    return static_cast<float>(sum);
}

/// A query's or a key's part of dU, unit by unit, or that of one unit, token by token.
using PartOfUnits = float (*)(const GradientCell&, int h, int token, int unit);
Eigen::RowVectorXf units_of(const GradientCell& cell, PartOfUnits part, int h, int token) {
    Eigen::RowVectorXf units(cell.result_shape().depth);
    for (int u = 0; u < units.size(); ++u) units(u) = part(cell, h, token, u);
    return units;
}
Eigen::RowVectorXf tokens_of(const GradientCell& cell, PartOfUnits part, int h, int unit, int tokens) {
    Eigen::RowVectorXf all(tokens);
    for (int t = 0; t < tokens; ++t) all(t) = part(cell, h, t, unit);
    return all;
}

/// Explains the gradient of a cell of Q or K: input W holds its weights, in column `column`.
void explain_token(Proof& proof, const GradientCell& cell, PartOfUnits part, std::size_t W, int column) {
    proof.terms_title = {
        "before tanh: " + cell.words.gradient(0) + " ∘ (1 − H²), times " + cell.words.symbol(W),
        "unit by unit"};
    for (int h = cell.first_head(); h <= cell.last_head(); ++h)
        add_products(proof, cell, SumOver::numbers, h, units_of(cell, part, h, cell.row),
                     cell.in_column(W, h, column));
}

/// Explains the gradient of a cell of the weights of Q or K, which is input x, at its column `column`.
void explain_weight(Proof& proof, const GradientCell& cell, PartOfUnits part, std::size_t x, int column) {
    proof.terms_title = {
        "before tanh: " + cell.words.gradient(0) + " ∘ (1 − H²), times " + cell.words.symbol(x),
        "token by token"};
    for (int h = cell.first_head(); h <= cell.last_head(); ++h)
        add_products(proof, cell, x == 0 ? SumOver::rows : SumOver::numbers, h,
                     tokens_of(cell, part, h, cell.row, cell.shape(x).rows), cell.in_column(x, h, column));
}

}  // namespace

void AdditiveHidden::explain_gradient(Proof& proof, const GradientCell& cell) const {
    switch (cell.input) {
        case 0: return explain_token(proof, cell, of_query, 2, cell.column);
        case 1: return explain_token(proof, cell, of_key, 3, cell.column);
        case 2: return explain_weight(proof, cell, of_query, 0, cell.column);
        case 3: return explain_weight(proof, cell, of_key, 1, cell.column);
        case 4: break;
        default: throw std::logic_error("an additive score has no other input");
    }
    proof.terms_title = {"before tanh: " + cell.words.gradient(0) + " ∘ (1 − H²)", "query by query"};
    for (int h = cell.first_head(); h <= cell.last_head(); ++h)
        add_numbers(proof, cell, SumOver::rows, h,
                    tokens_of(cell, of_query, h, cell.column, cell.shape(0).rows));
}

void ConcatHidden::explain_gradient(Proof& proof, const GradientCell& cell) const {
    const int of_q = cell.shape(0).columns;
    switch (cell.input) {
        case 0: return explain_token(proof, cell, of_query, 2, cell.column);
        case 1: return explain_token(proof, cell, of_key, 2, of_q + cell.column);
        case 2: break;
        default: throw std::logic_error("a concat score has no other input");
    }
    cell.column < of_q ? explain_weight(proof, cell, of_query, 0, cell.column)
                       : explain_weight(proof, cell, of_key, 1, cell.column - of_q);
}

void AdditiveHidden::explain(Proof& proof, const Cell& cell) const {
    const int depth = cell.shape(2).rows, unit = cell.column % depth, key = cell.column / depth;
    const auto part = [&](std::size_t x, int row, std::size_t W) {
        return cell.row_of(x, row).cast<double>().dot(cell.row_of(W, unit).cast<double>());
    };
    const double of_query = part(0, cell.row, 2), of_key = part(1, key, 3);
    proof.remark = fmt::format("unit {} of {}", unit + 1, depth);
    proof.add_step("W_aq q", of_query);
    proof.add_step(fmt::format("+ W_ak k {}", number_text(of_key)), of_query + of_key);
    if (cell.inputs.size() > 4) {
        const float b = cell.at(4, 0, unit);
        proof.add_step("+ b_a " + number_text(b), of_query + of_key + b, k_bias_help);
    }
    proof.add_step("tanh", cell.value, k_tanh_help);
}

void ConcatHidden::explain(Proof& proof, const Cell& cell) const {
    const int depth = cell.shape(2).rows, unit = cell.column % depth, key = cell.column / depth;
    const Eigen::RowVectorXd q = cell.row_of(0, cell.row).cast<double>(),
                             k = cell.row_of(1, key).cast<double>(), w = cell.row_of(2, unit).cast<double>();
    const double of_query = q.dot(w.head(q.size())), of_key = k.dot(w.tail(k.size()));
    proof.remark = fmt::format("unit {} of {}", unit + 1, depth);
    proof.add_step("W_c q", of_query);
    proof.add_step(fmt::format("+ W_c k {}", number_text(of_key)), of_query + of_key);
    proof.add_step("tanh", cell.value, k_tanh_help);
}

void HiddenScore::explain_gradient(Proof& proof, const GradientCell& cell) const {
    const int depth = cell.shape(1).columns;
    if (cell.input == 0) {
        const int unit = cell.column % depth;
        pass_on(proof, cell, cell.head, cell.row, cell.column / depth);
        const float v = cell.in(1, 0, 0, unit);
        proof.add_step(fmt::format("× {} {}", cell.words.symbol(1), number_text(v)),
                       proof.steps.back().value * v);
        return;
    }
    proof.terms_title = {cell.words.gradient(0) + " · H, summed over the keys", "query by query"};
    for (int h = cell.first_head(); h <= cell.last_head(); ++h) {
        Eigen::RowVectorXf sums(cell.result_shape().rows);
        for (int i = 0; i < sums.size(); ++i) {
            const Eigen::RowVectorXd dS = cell.d_row(h, i).cast<double>(),
                                     H = cell.in_row(0, h, i).cast<double>();
            double sum = 0;
            for (Eigen::Index j = 0; j < dS.size(); ++j) sum += dS(j) * H(j * depth + cell.column);
            sums(i) = static_cast<float>(sum);
        }
        add_numbers(proof, cell, SumOver::rows, h, sums);
    }
}

void HiddenScore::explain(Proof& proof, const Cell& cell) const {
    proof.terms_title = {
        cell.words.symbol(1) + " · tanh(…)", "unit by unit",
        "A small network's hidden units, each between −1 and 1, weighted by " + cell.words.symbol(1)};
    const int depth = cell.shape(1).columns;
    for (int k = 0; k < depth; ++k)
        proof.add_term(std::to_string(k + 1), cell.at(1, 0, k),
                       cell.at(0, cell.row, cell.column * depth + k));
    proof.terms_result = cell.value;
}

namespace {

constexpr const char* k_hidden_heading = "Scores: every query is compared with every key, by a hidden layer.";

/// score_hidden, from Q and K times their weights.
void write_hidden(TorchLines& py, const std::string& W_q, const std::string& W_k, const std::string& bias) {
    py.section = k_hidden_heading;
    py.line("of_queries = {} @ {}.T{}", py.in(0), W_q, bias);
    py.line("of_keys = {} @ {}.T", py.in(1), W_k);
    py.line("{} = torch.tanh(of_queries.unsqueeze(-2) + of_keys.unsqueeze(-3))  # every pair", py.out());
}

}  // namespace

void AdditiveHidden::torch(TorchLines& py) const {
    write_hidden(py, py.in(2), py.in(3), py.inputs.size() > 4 ? " + " + py.in(4) : "");
}

void ConcatHidden::torch(TorchLines& py) const {
    py.line("W_cq, W_ck = {0}[:, :{1}], {0}[:, {1}:]  # W_c [q; k] is W_cq q + W_ck k", py.in(2),
            py.shape(0).columns);
    write_hidden(py, "W_cq", "W_ck", "");
}

void HiddenScore::torch(TorchLines& py) const {
    py.section = k_hidden_heading;
    py.line("{} = {} @ {}", py.out(), py.in(0), py.in(1));
}

}  // namespace attnscope::op
