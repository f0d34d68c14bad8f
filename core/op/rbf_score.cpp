#include "core/op/rbf_score.h"

#include "core/op/gradient_proof.h"

namespace attnscope::op {

namespace {

void gaussian_scores(ConstMatrixView Q, ConstMatrixView K, float divisor, MatrixView out) {
    for (Eigen::Index i = 0; i < out.rows(); ++i)
        for (Eigen::Index j = 0; j < out.cols(); ++j)
            out(i, j) = -(Q.row(i) - K.row(j)).squaredNorm() / divisor;
}

}  // namespace

void RbfScore::rows(const RowWork& in, MatrixView out) const {
    gaussian_scores(in.rows(0), in.head(1), divisor(), out);
}

void RbfScore::cells(const RegionWork& in, MatrixView out) const {
    gaussian_scores(in.whole_rows(0, in.region.row, in.region.rows),
                    in.whole_rows(1, in.region.column, in.region.columns), divisor(), out);
}

void RbfScore::backward(const Backward& at) const {
    const float variance = divisor() / 2;
    for (int h = 0; h < at.heads(); ++h) {
        const ConstMatrixView Q = at.input(0, h), K = at.input(1, h), dS = at.gradient(h);
        for (Eigen::Index i = 0; i < dS.rows(); ++i)
            for (Eigen::Index j = 0; j < dS.cols(); ++j) {
                const Eigen::RowVectorXf step = dS(i, j) / variance * (K.row(j) - Q.row(i));
                if (at.wants(0)) at.sum(0, h).row(i) += step;
                if (at.wants(1)) at.sum(1, h).row(j) -= step;
            }
    }
}

void RbfScore::explain_gradient(Proof& proof, const GradientCell& cell) const {
    const bool of_query = cell.input == 0;
    const float variance = divisor() / 2;
    proof.terms_title = {
        fmt::format("{} · {} ÷ σ²", cell.words.gradient(0), of_query ? "(k − q)" : "(q − k)"),
        of_query ? "key by key" : "query by query"};
    for (int h = cell.first_head(); h <= cell.last_head(); ++h) {
        const float own = cell.in(cell.input, h, cell.row, cell.column);
        const Eigen::RowVectorXf others = cell.in_column(1 - cell.input, h, cell.column);
        add_products(proof, cell, of_query ? SumOver::columns : SumOver::rows, h,
                     of_query ? cell.d_row(h, cell.row) : cell.d_column(h, cell.row),
                     (others.array() - own) / variance);
    }
}

void RbfScore::explain(Proof& proof, const Cell& cell) const {
    const Eigen::RowVectorXf difference = cell.row_of(0, cell.row) - cell.row_of(1, cell.column);
    proof.terms_title = {"(q − k)²", "term by term"};
    proof.add_terms("", difference, difference);
    proof.terms_result = proof.terms_sum;
    proof.sum_name = "|q − k|²";
    proof.add_step("|q − k|²", proof.terms_sum, "The squared distance between query and key");
    proof.add_step(
        "÷ −2σ² " + number_text(-divisor()), cell.value,
        "The Gaussian's exponent: the bandwidth σ sets how fast the score falls with the distance");
}

void RbfScore::torch(TorchLines& py) const {
    py.section = "Scores: minus the squared distance of query and key, divided by 2σ².";
    py.line("{} = -({}.unsqueeze(-2) - {}.unsqueeze(-3)).square().sum(dim=-1) / (2 * {}**2)", py.out(),
            py.in(0), py.in(1), bandwidth);
}

}  // namespace attnscope::op
