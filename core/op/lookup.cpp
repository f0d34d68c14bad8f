#include "core/op/lookup.h"

#include <fmt/format.h>

#include "core/op/gradient_proof.h"

namespace attnscope::op {

void Lookup::forward(const Work& in, Tensor& out) const {
    for (int i = 0; i < out.shape().rows; ++i)
        out.head(0).row(i) = in.head(1).row(static_cast<Eigen::Index>(in.head(0)(i, 0)));
}

void Lookup::backward(const Backward& at) const {
    if (!at.wants(1)) return;
    for (Eigen::Index i = 0; i < at.gradient().rows(); ++i)
        at.sum(1).row(static_cast<Eigen::Index>(at.input(0)(i, 0))) += at.gradient().row(i);
}

void Lookup::explain_gradient(Proof& proof, const GradientCell& cell) const {
    proof.terms_title = {cell.words.gradient(0) + " of this word's tokens"};
    for (int i = 0; i < cell.result_shape().rows; ++i)
        if (static_cast<int>(cell.in(0, 0, i, 0)) == cell.row)
            proof.add_term(cell.words.row_label(0, i), 1, cell.d(0, i, cell.column));
    if (!proof.terms.empty()) return;
    proof.terms_title = {};
    proof.remark = "no token of the sentence looks up this row";
}

void Lookup::explain(Proof& proof, const Cell& cell) const {
    proof.remark =
        fmt::format("row {} of the table {}, dimension {}", static_cast<int>(cell.at(0, cell.row, 0)),
                    cell.words.symbol(1), cell.column + 1);
}

void Lookup::torch(TorchLines& py) const {
    py.section =
        fmt::format("The embeddings: each token's row of the table, {} numbers.", py.shape(1).columns);
    py.line("{} = {}[{}]", py.out(), py.in(1), py.in(0));
}

}  // namespace attnscope::op
