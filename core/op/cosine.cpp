#include "core/op/cosine.h"

#include "core/cpu/kernels.h"
#include "core/op/dot_product.h"
#include "core/op/gradient_proof.h"
#include "core/tensor/scratch.h"

namespace attnscope::op {

namespace {

void cosines(ConstMatrixView Q, ConstMatrixView K, MatrixView out) {
    Scratch of_queries(Q.rows(), 1), of_keys(K.rows(), 1);
    MatrixView query_norms = of_queries.view(), key_norms = of_keys.view();
    query_norms = Q.rowwise().norm();
    key_norms = K.rowwise().norm();
    product_transposed(Q, K, out);
    for (Eigen::Index i = 0; i < out.rows(); ++i)
        for (Eigen::Index j = 0; j < out.cols(); ++j)
            out(i, j) /= std::max(query_norms(i, 0) * key_norms(j, 0), 1e-8f);
}

}  // namespace

void Cosine::rows(const RowWork& in, MatrixView out) const { cosines(in.rows(0), in.head(1), out); }

void Cosine::cells(const RegionWork& in, MatrixView out) const {
    cosines(in.whole_rows(0, in.region.row, in.region.rows),
            in.whole_rows(1, in.region.column, in.region.columns), out);
}

void Sharpen::rows(const RowWork& in, MatrixView out) const { out = in.rows(0) * factor; }

void Sharpen::cells(const RegionWork& in, MatrixView out) const {
    in.read(0, out);
    out *= factor;
}

void Cosine::backward(const Backward& at) const {
    for (int h = 0; h < at.heads(); ++h) {
        const ConstMatrixView Q = at.input(0, h), K = at.input(1, h), c = at.result(h), dC = at.gradient(h);
        const Eigen::VectorXf q_norms = Q.rowwise().norm(), k_norms = K.rowwise().norm();
        for (Eigen::Index i = 0; i < dC.rows(); ++i)
            for (Eigen::Index j = 0; j < dC.cols(); ++j) {
                const float norms = q_norms(i) * k_norms(j), divisor = std::max(norms, 1e-8f);
                const auto toward = [&](const auto& own, const auto& other, float own_norm) {
                    const float back = norms > 1e-8f ? c(i, j) / (own_norm * own_norm) : 0;
                    return (dC(i, j) * (other / divisor - back * own)).eval();
                };
                if (at.wants(0)) at.sum(0, h).row(i) += toward(Q.row(i), K.row(j), q_norms(i));
                if (at.wants(1)) at.sum(1, h).row(j) += toward(K.row(j), Q.row(i), k_norms(j));
            }
    }
}

void Sharpen::backward(const Backward& at) const {
    for (int h = 0; h < at.heads(); ++h)
        if (at.wants(0)) at.sum(0, h) += factor * at.gradient(h);
}

void Cosine::explain_gradient(Proof& proof, const GradientCell& cell) const {
    const std::size_t other = 1 - cell.input;
    const bool of_query = cell.input == 0;
    proof.terms_title = {cell.words.gradient(0) + " · slope of the cosine",
                         of_query ? "key by key" : "query by query"};
    for (int h = cell.first_head(); h <= cell.last_head(); ++h) {
        const Eigen::RowVectorXd own = cell.in_row(cell.input, h, cell.row).cast<double>();
        const Eigen::RowVectorXf dC = of_query ? cell.d_row(h, cell.row) : cell.d_column(h, cell.row);
        const Eigen::RowVectorXf c = of_query ? cell.out_row(h, cell.row) : cell.out_column(h, cell.row);
        Eigen::RowVectorXf slopes(dC.size());
        for (Eigen::Index k = 0; k < dC.size(); ++k) {
            const Eigen::RowVectorXd there = cell.in_row(other, h, static_cast<int>(k)).cast<double>();
            const double norms = own.norm() * there.norm();
            const double back = norms > 1e-8 ? c(k) / own.squaredNorm() : 0;
            slopes(k) =
                static_cast<float>(there(cell.column) / std::max(norms, 1e-8) - back * own(cell.column));
        }
        add_products(proof, cell, of_query ? SumOver::columns : SumOver::rows, h, dC, slopes);
    }
}

void Cosine::explain(Proof& proof, const Cell& cell) const {
    const Eigen::RowVectorXf q = cell.row_of(0, cell.row), k = cell.row_of(1, cell.column);
    const double norms = q.cast<double>().norm() * k.cast<double>().norm();
    proof.terms_title = {"q · k", "term by term", std::string(k_dot_product_help)};
    proof.add_terms("", q, k);
    proof.terms_result = proof.terms_sum;
    proof.add_step("q · k", proof.terms_sum, k_dot_product_help);
    proof.add_step("÷ |q| |k| " + number_text(std::max(norms, 1e-8), 3), cell.value,
                   "Divided by the lengths of both, which leaves the cosine of the angle between them");
}

void Sharpen::explain_gradient(Proof& proof, const GradientCell& cell) const {
    pass_on(proof, cell, cell.head, cell.row, cell.column);
    proof.add_step("× β " + number_text(factor), proof.steps.back().value * factor,
                   "Multiplied by the sharpening of the cosine score");
}

void Sharpen::explain(Proof& proof, const Cell& cell) const {
    proof = cell.words.prove(0);
    proof.add_step("× β " + number_text(factor), cell.value,
                   "Multiplied by the sharpening of the cosine score");
}

namespace {

constexpr const char* k_cosine_heading = "Scores: the cosine of every query with every key.";

}  // namespace

void Cosine::torch(TorchLines& py) const {
    py.section = k_cosine_heading;
    py.line("norms = {}.norm(dim=-1).unsqueeze(-1) * {}.norm(dim=-1).unsqueeze(-2)", py.in(0), py.in(1));
    py.line("{} = {} @ {} / norms.clamp(min=1e-8)", py.out(), py.in(0), py.transposed(1));
}

void Sharpen::torch(TorchLines& py) const {
    py.section = k_cosine_heading;
    py.line("{} = {} * {}", py.out(), factor, py.in(0));
}

}  // namespace attnscope::op
