#include "core/op/hardmax.h"

#include <cmath>

namespace attnscope::op {

void hardmax_rows(ConstMatrixView x, MatrixView out) {
    out.setZero();
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
        Eigen::Index first = 0;
        const float largest = x.row(i).maxCoeff<Eigen::PropagateNaN>(&first);
        if (std::isnan(largest)) {
            for (Eigen::Index j = 0; j < x.cols(); ++j)
                if (x(i, j) != -INFINITY) out(i, j) = largest;
        } else if (largest != -INFINITY) {
            for (first = 0; x(i, first) != largest;) ++first;
            out(i, first) = 1;
        }
    }
}

void Hardmax::rows(const RowWork& in, MatrixView out) const { hardmax_rows(in.rows(0), out); }

void Hardmax::explain(Proof& proof, const Cell& cell) const {
    proof = cell.words.prove(0);
    const Eigen::RowVectorXf x = cell.row_of(0, cell.row);
    const float largest = x.maxCoeff<Eigen::PropagateNaN>();
    if (largest == -INFINITY) proof.remark = fully_masked_remark();
    if (cell.at(0) == -INFINITY) {
        proof.add_step("weight", cell.value, k_closed_weight_help);
        return;
    }
    proof.add_step("row max", largest, "The largest score of the row");
    proof.add_step(
        cell.value == 1 ? "1: the first at the row's maximum" : "0: not the first at the row's maximum",
        cell.value,
        "Hard attention gives the whole weight of a row to its largest score, the first of a tie");
}

void Hardmax::torch(TorchLines& py) const {
    const std::string &x = py.in(0), &out = py.out();
    py.section = "Weights: 1 at the row's maximum, the first if several tie.";
    py.line("{} = torch.nn.functional.one_hot({}.argmax(dim=-1), {}).float()", out, x, py.shape(0).columns);
    if (!py.finite) py.line("{0} = {0}.masked_fill({1}.isnan().any(dim=-1, keepdim=True), nan)", out, x);
    if (!py.finite || !py.nothing_dead)
        py.line("{0} = {0}.masked_fill({1} == -inf, 0)  # no weight where nothing is open", out, x);
}

}  // namespace attnscope::op
