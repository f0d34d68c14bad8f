#include "core/op/ablate.h"

#include <algorithm>

#include "core/op/gradient_proof.h"

namespace attnscope::op {
namespace {

/// The mean of each column, in double.
Eigen::RowVectorXf mean_of(const ConstMatrixView& rows) {
    return rows.cast<double>().colwise().mean().cast<float>();
}

}  // namespace

bool Ablate::is_ablated(int head) const { return std::ranges::binary_search(ablated, head % heads); }

/// "head 2", "heads 1, 3".
std::string Ablate::name_of_heads() const {
    std::string names;
    for (const int head : ablated) names += fmt::format("{}{}", names.empty() ? "" : ", ", head + 1);
    return (ablated.size() == 1 ? "head " : "heads ") + names;
}

std::string Ablate::formula(const Symbols& in) const {
    return in.of(0) + ", " + name_of_heads() +
           (to == Ablation::zero ? " set to 0" : " set to the positions' mean");
}

void Ablate::forward(const Work& in, Tensor& out) const {
    for (int h = 0; h < out.shape().heads; ++h) {
        stop_if_cancelled(in.cancel);
        if (!is_ablated(h))
            out.head(h) = in.head(0, h);
        else if (to == Ablation::zero)
            out.head(h).setZero();
        else
            out.head(h).rowwise() = mean_of(in.head(0, h));
    }
}

void Ablate::backward(const Backward& at) const {
    if (!at.wants(0)) return;
    for (int h = 0; h < at.heads(); ++h) {
        if (!is_ablated(h))
            at.sum(0, h) += at.gradient(h);
        else if (to == Ablation::mean)
            at.sum(0, h).rowwise() += mean_of(at.gradient(h));
    }
}

void Ablate::explain_gradient(Proof& proof, const GradientCell& cell) const {
    if (!is_ablated(cell.head)) return pass_on(proof, cell, cell.head, cell.row, cell.column);
    if (to == Ablation::zero) return proof.add_step(fmt::format("head {} is ablated", cell.head + 1), 0);
    const Eigen::RowVectorXf d = cell.d_column(cell.head, cell.column);
    proof.terms_title = cell.words.gradient(0) + ", position by position";
    add_numbers(proof, cell, SumOver::rows, cell.head, d);
    proof.add_step(fmt::format("÷ {} positions", d.size()), d.cast<double>().mean());
}

void Ablate::explain(Proof& proof, const Cell& cell) const {
    proof = cell.words.prove(0);
    if (!is_ablated(cell.head)) return;
    const std::string head = fmt::format("head {} is ablated: ", cell.head + 1);
    proof.add_step(head + (to == Ablation::zero ? "0" : "the mean over the positions"), cell.value);
}

void Ablate::torch(TorchLines& py) const {
    py.section = to == Ablation::zero ? "Ablated heads: their contexts are 0."
                                      : "Ablated heads: their contexts are the means over the positions.";
    if (heads == 1 && py.shape(0).heads == 1) {
        if (to == Ablation::zero) return py.line("{} = torch.zeros_like({})", py.out(), py.in(0));
        return py.line("{} = {}.mean(-2, keepdim=True).expand_as({})", py.out(), py.in(0), py.in(0));
    }
    std::string list;
    for (const int head : ablated) list += fmt::format("{}{}", list.empty() ? "" : ", ", head);
    py.line("{} = {}.clone()", py.out(), py.in(0));
    if (to == Ablation::zero) return py.line("{}[[{}]] = 0.0", py.out(), list);
    py.line("{}[[{}]] = {}[[{}]].mean(-2, keepdim=True)", py.out(), list, py.in(0), list);
}

}  // namespace attnscope::op
