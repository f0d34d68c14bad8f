#include "core/op/loss.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/op/gradient_proof.h"

namespace attnscope::op {
namespace {

constexpr int k_listed_rows = 64;  ///< limit of the listed rows; longer lists are not read

}  // namespace

void CrossEntropy::forward(const Work& in, Tensor& out) const {
    const ConstMatrixView log_probs = in.head(0);
    const float* targets = in.head(1).data();
    double sum = 0;
    int count = 0;
    for (Eigen::Index i = 0; i < log_probs.rows(); ++i) {
        if (targets[i] < 0) continue;
        sum -= log_probs(i, static_cast<Eigen::Index>(targets[i]));
        ++count;
    }
    out.head(0)(0, 0) = static_cast<float>(sum / count);
}

void WeightedTotal::forward(const Work& in, Tensor& out) const {
    out.head(0)(0, 0) =
        static_cast<float>((in.head(1).cast<double>().array() * in.head(0).cast<double>().array()).sum());
}

void ArgMax::forward(const Work& in, Tensor& out) const {
    const ConstMatrixView x = in.head(0);
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
        const float* row = x.row(i).data();
        out.head(0)(i, 0) = static_cast<float>(std::max_element(row, row + x.cols()) - row);
    }
}

void CrossEntropy::backward(const Backward& at) const {
    if (!at.wants(0)) return;
    const Eigen::Index n = at.input(0).rows();
    const float* targets = at.input(1).data();
    const auto count =
        static_cast<float>(std::count_if(targets, targets + n, [](float t) { return t >= 0; }));
    for (Eigen::Index i = 0; i < n; ++i)
        if (targets[i] >= 0)
            at.sum(0)(i, static_cast<Eigen::Index>(targets[i])) -= at.gradient()(0, 0) / count;
}

void WeightedTotal::backward(const Backward& at) const {
    if (at.wants(0)) at.sum(0) += at.gradient()(0, 0) * at.input(1);
    if (at.wants(1)) at.sum(1) += at.gradient()(0, 0) * at.input(0);
}

void CrossEntropy::explain_gradient(Proof& proof, const GradientCell& cell) const {
    const auto targets = cell.inputs[1]->host().values();
    const auto count = std::ranges::count_if(targets, [](float target) { return target >= 0; });
    const bool is_target = targets[static_cast<std::size_t>(cell.row)] == static_cast<float>(cell.column);
    if (!is_target) {
        proof.remark = "not the row's target: the loss does not read it";
        return;
    }
    pass_on(proof, cell, 0, 0, 0);
    proof.add_step(fmt::format("the target: ÷ −{}, the number of targets", count),
                   -proof.steps.back().value / static_cast<double>(count));
}

void CrossEntropy::explain(Proof& proof, const Cell& cell) const {
    const int rows = cell.shape(0).rows;
    if (rows > k_listed_rows) {
        proof.remark = fmt::format("the mean of −log p of the target in each of {} rows", rows);
        return;
    }
    const auto targets = cell.inputs[1]->host().values();
    for (int i = 0; i < rows; ++i)
        if (const float target = targets[static_cast<std::size_t>(i)]; target >= 0)
            proof.add_step("−log p " + cell.words.row_label(0, i), -cell.at(0, i, static_cast<int>(target)));
    proof.add_step("their mean", cell.value, "The mean of the lines above");
}

void WeightedTotal::explain_gradient(Proof& proof, const GradientCell& cell) const {
    const std::size_t other = 1 - cell.input;
    const float factor = cell.in(other, 0, cell.row, cell.column);
    pass_on(proof, cell, 0, 0, 0);
    proof.add_step(fmt::format("× {} {}", cell.words.symbol(other), number_text(factor)),
                   proof.steps.back().value * factor);
}

void WeightedTotal::explain(Proof& proof, const Cell&) const {
    proof.remark = "the output's cells times the loss weights, summed";
}

void ArgMax::explain(Proof& proof, const Cell& cell) const {
    proof.remark = cell.words.table_row(static_cast<int>(cell.value));
}

void CrossEntropy::torch(TorchLines& py) const {
    py.section = k_heading;
    py.line("{} = torch.nn.functional.nll_loss({}, {}{})", py.out(), py.in(0), py.in(1),
            skips ? ", ignore_index=-1" : "");
}

void WeightedTotal::torch(TorchLines& py) const {
    py.section = "The loss: the weighted sum of the output.";
    py.line("{} = ({} * {}).sum()", py.out(), py.in(1), py.in(0));
}

void ArgMax::torch(TorchLines& py) const {
    if (py.finite) return py.line("{} = {}.argmax(dim=-1)", py.out(), py.in(0));
    py.functions.emplace_back("largest",
                              "def largest(x):  # the first if several tie; NaN only if it comes first\n"
                              "    first = x.masked_fill(x.isnan(), -inf).argmax(dim=-1)\n"
                              "    return first.masked_fill(x[..., 0].isnan(), 0)\n");
    py.line("{} = largest({})", py.out(), py.in(0));
}

}  // namespace attnscope::op
