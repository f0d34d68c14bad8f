#include "core/op/general_score.h"

#include "core/cpu/kernels.h"
#include "core/op/gradient_proof.h"
#include "core/tensor/scratch.h"

namespace attnscope::op {
namespace {

/// Q W, in the scratch's memory.
MatrixView multiplied(ConstMatrixView Q, ConstMatrixView W, Scratch& scratch) {
    MatrixView QW = scratch.view();
    QW.setZero();
    add_product(Q, W, QW);
    return QW;
}

}  // namespace

void GeneralScore::rows(const RowWork& in, MatrixView out) const {
    const ConstMatrixView Q = in.rows(0);
    Scratch scratch(Q.rows(), in.head(2).cols());
    const MatrixView QW = multiplied(Q, in.head(2), scratch);
    in.multiply_transposed(QW, 1, out);
}

void GeneralScore::cells(const RegionWork& in, MatrixView out) const {
    const ConstMatrixView Q = in.whole_rows(0, in.region.row, in.region.rows);
    Scratch scratch(Q.rows(), in.whole(2).cols());
    const MatrixView QW = multiplied(Q, in.whole(2), scratch);
    product_transposed(QW, in.whole_rows(1, in.region.column, in.region.columns), out);
}

void GeneralScore::backward(const Backward& at) const {
    for (int h = 0; h < at.heads(); ++h) {
        const ConstMatrixView Q = at.input(0, h), K = at.input(1, h), W = at.input(2);
        Matrix QW = Matrix::Zero(Q.rows(), W.cols()), dQW = QW;
        add_product(Q, W, QW);
        add_product(at.gradient(h), K, dQW);
        if (at.wants(0)) add_product_transposed(dQW, W, at.sum(0, h));
        if (at.wants(1)) add_transposed_product(at.gradient(h), QW, at.sum(1, h));
        if (at.wants(2)) add_transposed_product(Q, dQW, at.sum(2));
    }
}

void GeneralScore::explain_gradient(Proof& proof, const GradientCell& cell) const {
    constexpr const char* k_factors[] = {" · (W k)", " · (q W)", " k · q"};
    proof.terms_title = {cell.words.gradient(0) + k_factors[cell.input],
                         cell.input == 0 ? "key by key" : "query by query"};
    const auto head_of = [&](std::size_t i, int h) {
        return cell.inputs[i]->head(std::min(h, cell.shape(i).heads - 1));
    };
    for (int h = cell.first_head(); h <= cell.last_head(); ++h) {
        const ConstMatrixView Q = head_of(0, h), K = head_of(1, h), W = head_of(2, h);
        if (cell.input == 0)
            add_products(proof, cell, SumOver::columns, h, cell.d_row(h, cell.row),
                         K * W.row(cell.column).transpose());
        else if (cell.input == 1)
            add_products(proof, cell, SumOver::rows, h, cell.d_column(h, cell.row), Q * W.col(cell.column));
        else if (cell.gradients[0])
            add_products(proof, cell, SumOver::rows, h, cell.gradients[0]->head(h) * K.col(cell.column),
                         Q.col(cell.row));
    }
}

/// Each (q W)_c is rounded to float32.
void GeneralScore::explain(Proof& proof, const Cell& cell) const {
    proof.terms_title = {"(q W) · k", "term by term",
                         "The query, the matrix of the score and the key multiplied: Σ q_i W_ij k_j"};
    const Eigen::RowVectorXf qW = cell.row_of(0, cell.row) * cell.inputs[2]->head(0);
    proof.add_terms("", qW, cell.row_of(1, cell.column));
    proof.terms_result = cell.value;
}

void GeneralScore::torch(TorchLines& py) const {
    py.section = "Scores: every query is compared with every key.";
    py.line("{} = {} @ {} @ {}", py.out(), py.in(0), py.in(2), py.transposed(1));
}

}  // namespace attnscope::op
