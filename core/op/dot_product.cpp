#include "core/op/dot_product.h"

#include <algorithm>
#include <cmath>

#include "core/cpu/kernels.h"
#include "core/op/gradient_proof.h"

namespace attnscope::op {

void DotProduct::rows(const RowWork& in, MatrixView out) const { in.multiply_transposed(in.rows(0), 1, out); }

void DotProduct::cells(const RegionWork& in, MatrixView out) const {
    product_transposed(in.whole_rows(0, in.region.row, in.region.rows),
                       in.whole_rows(1, in.region.column, in.region.columns), out);
}

void DotProduct::backward(const Backward& at) const {
    for (int h = 0; h < at.heads(); ++h) {
        if (at.wants(0)) add_product(at.gradient(h), at.input(1, h), at.sum(0, h));
        if (at.wants(1)) add_transposed_product(at.gradient(h), at.input(0, h), at.sum(1, h));
    }
}

void DotProduct::explain_gradient(Proof& proof, const GradientCell& cell) const {
    add_score_products(proof, cell, "k");
}

void DotProduct::explain(Proof& proof, const Cell& cell) const {
    proof.terms_title = {"q · k", "term by term", std::string(k_dot_product_help)};
    const Eigen::RowVectorXf q = cell.row_of(0, cell.row), k = cell.row_of(1, cell.column);
    for (int i = 0; i < q.size(); ++i) proof.add_term(cell.words.column_label(1, i), q(i), k(i));
    proof.terms_result = cell.value;
    proof.sum_name = "q · k";
}

// Every query meets every key, so for each feature E[q k] = E[q] E[k] and E[(q k)²] = E[q²] E[k²].
double DotProduct::deviation_of_terms(std::span<const Buffer* const> inputs, int head) const {
    const auto values = [&](std::size_t input) -> Eigen::ArrayXXd {
        const Shape& shape = inputs[input]->shape();
        return inputs[input]->rows(std::min(head, shape.heads - 1), 0, shape.rows).cast<double>().array();
    };
    const Eigen::ArrayXXd q = values(0), k = values(1);
    const double mean = (q.colwise().mean() * k.colwise().mean()).mean(),
                 mean_square = (q.square().colwise().mean() * k.square().colwise().mean()).mean();
    const double variance = mean_square - mean * mean;
    return std::isnan(variance) ? variance : std::sqrt(std::max(0.0, variance));
}

void DotProduct::torch(TorchLines& py) const {
    py.section = "Scores: every query is compared with every key.";
    py.line("{} = {} @ {}", py.out(), py.in(0), py.transposed(1));
}

}  // namespace attnscope::op
