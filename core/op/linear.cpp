#include "core/op/linear.h"

#include <fmt/format.h>

#include "core/cpu/kernels.h"
#include "core/op/gradient_proof.h"
#include "core/tensor/scratch.h"

namespace attnscope::op {

void Linear::rows(const RowWork& in, MatrixView out) const {
    in.multiply_transposed(in.rows(0), 1, out);
    if (in.count() > 2) out.rowwise() += in.head(2).row(0);
}

void Linear::cells(const RegionWork& in, MatrixView out) const {
    Scratch rows(in.region.rows, in.shape(0).columns);
    in.read(0, {in.region.row, 0, in.region.rows, in.shape(0).columns}, rows.view());
    product_transposed(rows.view(), in.whole_rows(1, in.region.column, in.region.columns), out);
    if (in.count() > 2) out.rowwise() += in.whole(2).row(0).segment(in.region.column, in.region.columns);
}

void Linear::backward(const Backward& at) const {
    const ConstMatrixView dY = at.gradient();
    if (at.wants(0)) add_product(dY, at.input(1), at.sum(0));
    if (at.wants(1)) add_transposed_product(dY, at.input(0), at.sum(1));
    if (at.wants(2)) at.sum(2).row(0) += dY.colwise().sum();
}

void explain_linear_gradient(Proof& proof, const GradientCell& cell) {
    const std::string dY = cell.words.gradient(0);
    if (cell.input == 0) {
        proof.terms_title = {fmt::format("{} · {}", dY, cell.words.symbol(1)), "column by column"};
        return add_products(proof, cell, SumOver::columns, 0, cell.d_row(0, cell.row),
                            cell.in_column(1, 0, cell.column));
    }
    if (cell.input == 1) {
        proof.terms_title = {fmt::format("{} · {}", dY, cell.words.symbol(0)), "row by row"};
        return add_products(proof, cell, SumOver::rows, 0, cell.d_column(0, cell.row),
                            cell.in_column(0, 0, cell.column));
    }
    proof.terms_title = {dY, "row by row"};
    add_numbers(proof, cell, SumOver::rows, 0, cell.d_column(0, cell.column));
}

void Linear::explain_gradient(Proof& proof, const GradientCell& cell) const {
    explain_linear_gradient(proof, cell);
}

void Linear::explain(Proof& proof, const Cell& cell) const {
    const std::string name = cell.words.symbol(0) + " · " + cell.words.symbol(1);
    const Eigen::RowVectorXf x = cell.row_of(0, cell.row), w = cell.row_of(1, cell.column);
    proof.terms_title = {name, "term by term"};
    for (Eigen::Index k = 0; k < x.size(); ++k)
        proof.add_term(cell.words.column_label(0, static_cast<int>(k)), x(k), w(k));
    proof.terms_result = cell.value;
    if (cell.inputs.size() < 3) return;
    const float b = cell.at(2, 0, cell.column);
    proof.add_step(name, cell.value - b);
    proof.add_step(fmt::format("+ {} {}", cell.words.symbol(2), number_text(b)), cell.value, k_bias_help);
}

void Linear::torch(TorchLines& py) const {
    const std::string bias = py.inputs.size() > 2 ? " + " + py.in(2) : "";
    py.line("{} = {} @ {}.T{}", py.out(), py.in(0), py.in(1), bias);
}

}  // namespace attnscope::op
