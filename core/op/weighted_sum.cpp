#include "core/op/weighted_sum.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/cpu/kernels.h"
#include "core/op/gradient_proof.h"
#include "core/tensor/scratch.h"

namespace attnscope::op {

void WeightedSum::rows(const RowWork& in, MatrixView out) const {
    const ConstMatrixView V = in.head(k_values);
    if (all_finite({V.data(), static_cast<std::size_t>(V.size())}))
        product(in.rows(k_weights), V, out);
    else
        sum_open(in.rows(k_weights), in.rows(k_masked_scores), V, out);
}

void WeightedSum::cells(const RegionWork& in, MatrixView out) const {
    out.setZero();
    for (int first = 0; first < in.shape(k_weights).columns; first += k_keys_at_once)
        add_keys(in, first, out);
}

void WeightedSum::add_keys(const RegionWork& in, int first, MatrixView out) const {
    const ConstMatrixView V = in.whole(k_values);
    const Region part{in.region.row, first, in.region.rows,
                      std::min(k_keys_at_once, in.shape(k_weights).columns - first)};
    if (in.inputs[k_weights]->coverage(in.head_of(k_weights), part) == Coverage::none) return;
    Scratch weights(part.rows, part.columns);
    in.read(k_weights, part, weights.view());
    const auto values = V.block(first, in.region.column, part.columns, in.region.columns);
    const ValueRange& range = in.inputs[k_values]->range(in.head_of(k_values));
    if (range.finite == static_cast<std::size_t>(V.size())) return add_product(weights.view(), values, out);
    Matrix masked(part.rows, part.columns), sum(part.rows, in.region.columns);
    in.read(k_masked_scores, part, {masked.data(), part.rows, part.columns});
    sum_open({weights.view().data(), part.rows, part.columns}, {masked.data(), part.rows, part.columns},
             values, {sum.data(), sum.rows(), sum.cols()});
    out += sum;
}

void WeightedSum::backward(const Backward& at) const {
    for (int h = 0; h < at.heads(); ++h) {
        const ConstMatrixView dC = at.gradient(h), A = at.input(0, h), V = at.input(2, h);
        Matrix dA = Matrix::Zero(A.rows(), A.cols());
        add_product_transposed(dC, V, dA);
        if (at.wants(0)) at.sum(0, h) += (at.input(1, h).array() == -INFINITY).select(0.0f, dA);
        if (at.wants(2)) add_transposed_product(A, dC, at.sum(2, h));
    }
}

void WeightedSum::explain_gradient(Proof& proof, const GradientCell& cell) const {
    const std::string dC = cell.words.gradient(0);
    if (cell.input == 0) {
        if (cell.in(1, cell.head, cell.row, cell.column) == -INFINITY) {
            proof.remark = std::string(k_closed_by_mask) + ": nothing is passed back";
            return;
        }
        proof.terms_title = {fmt::format("{} · {}", dC, cell.words.symbol(2)), "column by column"};
        return add_products(proof, cell, SumOver::columns, cell.head, cell.d_row(cell.head, cell.row),
                            cell.in_row(2, cell.head, cell.column));
    }
    proof.terms_title = {"weight × " + dC, "query by query"};
    for (int h = cell.first_head(); h <= cell.last_head(); ++h)
        add_products(proof, cell, SumOver::rows, h, cell.in_column(0, h, cell.row),
                     cell.d_column(h, cell.column));
}

void WeightedSum::explain(Proof& proof, const Cell& cell) const {
    proof.terms_title = {"weight × value", "token by token",
                         "Each key's value times its weight, all added up"};
    const Eigen::RowVectorXf weights = cell.row_of(0, cell.row), masked = cell.row_of(1, cell.row);
    const Eigen::VectorXf values = cell.column_of(2, cell.column);
    for (Eigen::Index j = 0; j < weights.size(); ++j)
        proof.add_term(cell.words.column_label(0, static_cast<int>(j)), weights(j), values(j),
                       masked(j) == -INFINITY);
    proof.terms_result = cell.value;
    if ((masked.array() == -INFINITY).all()) proof.remark = fully_masked_remark("its context is zero");
}

void WeightedSum::torch(TorchLines& py) const {
    const std::string& values = py.in(2);
    std::string weights = py.in(0);
    // The weight of a closed pair is a constant.
    if (py.gradients) weights += fmt::format(".masked_fill({} == -inf, 0)", py.in(1));
    py.section = "Context: the weighted sum of the values.";
    if (py.finite) return py.line("{} = {} @ {}", py.out(), weights, values);
    py.line("terms = {}.unsqueeze(-1) * {}{}", weights, values, py.inputs[0].vector ? "" : ".unsqueeze(-3)");
    py.line("terms = terms.masked_fill(({} == -inf).unsqueeze(-1), 0)  # 0 times NaN would be NaN", py.in(1));
    py.line("{} = terms.sum(dim=-2)", py.out());
}

}  // namespace attnscope::op
