#include "core/op/softmax.h"

#include <fmt/format.h>

#include <cmath>

#include "core/cpu/kernels.h"
#include "core/op/gradient_proof.h"

namespace attnscope::op {
namespace {

void softmax_columns(ConstMatrixView x, MatrixView out) {
    Matrix columns = x.transpose();
    const MatrixView view(columns.data(), columns.rows(), columns.cols());
    softmax_rows(ConstMatrixView(columns.data(), columns.rows(), columns.cols()), view);
    out = columns.transpose();
}

}  // namespace

void Softmax::forward(const Work& in, Tensor& out) const {
    for (int h = 0; h < out.shape().heads; ++h) {
        stop_if_canceled(in.cancel);
        softmax_columns(in.head(0, h), out.head(h));
    }
}

void Softmax::rows(const RowWork& in, MatrixView out) const { softmax_rows(in.rows(0), out); }

void Softmax::cells(const RegionWork& in, MatrixView out) const {
    if (in.coverage(0) == Coverage::none) {
        out.setZero();
        return;
    }
    in.read(0, out);
    softmax_cells(in.rows, out);
}

void LogSoftmax::forward(const Work& in, Tensor& out) const {
    const ConstMatrixView x = in.head(0);
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
        const Eigen::ArrayXd row = x.row(i).transpose().cast<double>();
        const double log_sum = log_sum_exp(row, row.maxCoeff<Eigen::PropagateNaN>());
        out.head(0).row(i) = (row - log_sum).cast<float>().transpose();
    }
}

namespace {

/// dX of one row or column of weights.
Eigen::VectorXf softmax_gradient(const Eigen::VectorXf& A, const Eigen::VectorXf& dA) {
    // A closed cell has no gradient, even where the value's is NaN.
    const Eigen::ArrayXd open = (A.array() == 0).select(0.0f, dA.array()).cast<double>();
    const Eigen::ArrayXd weights = A.array().cast<double>();
    return softmax_back(weights, open).cast<float>();
}

}  // namespace

void Softmax::backward(const Backward& at) const {
    if (!at.wants(0)) return;
    for (int h = 0; h < at.heads(); ++h) {
        const ConstMatrixView A = at.result(h), dA = at.gradient(h);
        if (!is_over_queries(axis))
            for (Eigen::Index i = 0; i < A.rows(); ++i)
                at.sum(0, h).row(i) += softmax_gradient(A.row(i), dA.row(i)).transpose();
        else
            for (Eigen::Index j = 0; j < A.cols(); ++j)
                at.sum(0, h).col(j) += softmax_gradient(A.col(j), dA.col(j));
    }
}

void LogSoftmax::backward(const Backward& at) const {
    for (Eigen::Index i = 0; i < at.result().rows(); ++i) {
        const Eigen::ArrayXd dY = at.gradient_row(0, i);
        at.add_row(0, i, log_softmax_back(at.result_row(0, i), dY));
    }
}

void Softmax::explain_gradient(Proof& proof, const GradientCell& cell) const {
    const bool over_keys = !is_over_queries(axis);
    const Eigen::RowVectorXf A = over_keys ? cell.out_row(cell.head, cell.row)
                                           : cell.out_column(cell.head, cell.column),
                             dA = over_keys ? cell.d_row(cell.head, cell.row)
                                            : cell.d_column(cell.head, cell.column);
    const float own = cell.out(cell.head, cell.row, cell.column);
    if (own == 0) {
        proof.remark = "its weight is 0: nothing is passed back";
        return;
    }
    proof.terms_title = {"A · " + cell.words.gradient(0), over_keys ? "key by key" : "query by query"};
    // A weight of 0 adds nothing, even where the gradient is NaN.
    for (Eigen::Index k = 0; k < A.size(); ++k)
        proof.add_term(over_keys ? cell.words.column_label(0, static_cast<int>(k))
                                 : cell.words.row_label(0, static_cast<int>(k)),
                       A(k), dA(k), A(k) == 0);
    pass_on(proof, cell, cell.head, cell.row, cell.column);
    const double difference = proof.steps.back().value - proof.terms_sum;
    proof.add_step(fmt::format("− {} sum {}", over_keys ? "row" : "column", number_text(proof.terms_sum, 4)),
                   difference);
    proof.add_step("× A " + number_text(own, 4), difference * own);
}

SoftmaxLine::SoftmaxLine(const Eigen::VectorXf& x) : largest(x.maxCoeff<Eigen::PropagateNaN>()), sum(0) {
    for (const float each : x)
        if (each != -INFINITY) sum += exponential(each);
}

void Softmax::explain(Proof& proof, const Cell& cell) const {
    proof = cell.words.prove(0);
    const bool over_queries = is_over_queries(axis);
    const Eigen::VectorXf x =
        over_queries ? cell.column_of(0, cell.column) : Eigen::VectorXf(cell.row_of(0, cell.row));
    const SoftmaxLine whole(x);
    const float own = cell.at(0);
    if (whole.largest == -INFINITY)
        proof.remark = over_queries ? "this key is masked for every query: its weights are zeros"
                                    : fully_masked_remark();
    if (own == -INFINITY) {
        proof.add_step("weight", cell.value, k_closed_weight_help);
        return;
    }
    const char* line = over_queries ? "column" : "row";
    proof.add_step(
        fmt::format("− {} max {}", line, number_text(whole.largest, 3)), whole.difference(own),
        fmt::format("The {}'s largest score is subtracted: no weight changes, and exp cannot overflow",
                    line));
    proof.add_step("exp", whole.exponential(own),
                   "e to this power: always positive; a difference of scores becomes a ratio");
    proof.add_step(
        fmt::format("÷ {} sum {}", line, number_text(whole.sum, 4)), cell.value,
        fmt::format("Divided by the sum of the {0}'s exponentials, so that the weights of a {0} sum to 1",
                    line));
}

void LogSoftmax::explain_gradient(Proof& proof, const GradientCell& cell) const {
    const double sum = cell.d_row(0, cell.row).cast<double>().sum(),
                 p = std::exp(double{cell.out(0, cell.row, cell.column)});
    pass_on(proof, cell, 0, cell.row, cell.column);
    proof.add_step(fmt::format("− p {} · row sum {}", number_text(p, 4), number_text(sum, 4)),
                   proof.steps.back().value - p * sum);
}

void LogSoftmax::explain(Proof& proof, const Cell& cell) const {
    const Eigen::ArrayXd row = cell.row_of(0, cell.row).transpose().cast<double>();
    const double log_sum = log_sum_exp(row, row.maxCoeff<Eigen::PropagateNaN>());
    proof.add_step("logit", row(cell.column), "The score of this word");
    proof.add_step("− log Σ exp " + number_text(log_sum, 4), cell.value,
                   "The logarithm of the sum of all words' exponentials is subtracted");
}

void Softmax::torch(TorchLines& py) const {
    const bool over_keys = !is_over_queries(axis);
    py.section = over_keys ? "Weights: the softmax over the keys, each row sums to 1."
                           : "Weights: the softmax over the queries, each column sums to 1.";
    std::string open = py.in(0);
    if (py.gradients && !py.nothing_dead) {
        open = "alive";
        py.line("alive = {0}.masked_fill(({0} == -inf).all(dim={1}, keepdim=True), 0)", py.in(0),
                over_keys ? -1 : -2);
    }
    py.line("{} = {}.softmax(dim={})", py.out(), open, over_keys ? -1 : -2);
    if (!py.finite || !py.nothing_dead)
        py.line("{0} = {0}.masked_fill({1} == -inf, 0)  # not NaN where nothing is open", py.out(), py.in(0));
}

void LogSoftmax::torch(TorchLines& py) const { py.line("{} = {}.log_softmax(dim=-1)", py.out(), py.in(0)); }

}  // namespace attnscope::op
