#include "core/op/sparsemax.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/op/gradient_proof.h"

namespace attnscope::op {
namespace {

/// The threshold τ of a row, and how many cells lie above it; NaN and 0 if there is none.
struct Threshold {
    double tau = NAN;
    int above = 0;
};

Threshold threshold_of(const Eigen::Ref<const Eigen::RowVectorXf>& x) {
    thread_local std::vector<double> open;  // so that a row allocates nothing
    open.clear();
    for (const float each : x)
        if (each != -INFINITY) open.push_back(each);
    if (std::ranges::any_of(open, [](double each) { return !std::isfinite(each); })) return {};
    std::ranges::sort(open, std::greater());
    Threshold threshold;
    double sum = 0;
    for (std::size_t k = 0; k < open.size(); ++k) {
        const auto count = static_cast<double>(k + 1);
        sum += open[k] - open.front();
        if (1 + count * (open[k] - open.front()) <= sum) break;
        threshold = {open.front() + (sum - 1) / count, static_cast<int>(k + 1)};
    }
    return threshold;
}

}  // namespace

void sparsemax_rows(ConstMatrixView x, MatrixView out) {
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
        const double tau = threshold_of(x.row(i)).tau;
        for (Eigen::Index j = 0; j < x.cols(); ++j)
            out(i, j) = x(i, j) == -INFINITY ? 0
                        : std::isnan(tau)    ? NAN
                                             : static_cast<float>(std::max(double{x(i, j)} - tau, 0.0));
    }
}

void Sparsemax::rows(const RowWork& in, MatrixView out) const { sparsemax_rows(in.rows(0), out); }

void Sparsemax::backward(const Backward& at) const {
    if (!at.wants(0)) return;
    for (int h = 0; h < at.heads(); ++h)
        for (Eigen::Index i = 0; i < at.result(h).rows(); ++i) {
            const auto above = (at.result(h).row(i).array() != 0).eval();
            const Eigen::Array<double, 1, Eigen::Dynamic> dA =
                above.select(at.gradient(h).row(i).array(), 0.0f).cast<double>();
            const double mean = dA.sum() / std::max<double>(1, static_cast<double>(above.count()));
            at.sum(0, h).row(i).array() += above.select((dA - mean).cast<float>(), 0.0f);
        }
}

void Sparsemax::explain_gradient(Proof& proof, const GradientCell& cell) const {
    const Eigen::ArrayXf A = cell.out_row(cell.head, cell.row).transpose().array(),
                         dA = cell.d_row(cell.head, cell.row).transpose().array();
    if (A(cell.column) == 0) {
        proof.remark = "its weight is 0: nothing is passed back";
        return;
    }
    const double above = static_cast<double>((A != 0).count());
    const double mean = (A != 0).select(dA, 0.0f).cast<double>().sum() / above;
    pass_on(proof, cell, cell.head, cell.row, cell.column);
    proof.add_step(fmt::format("− mean {} of the {} weights above 0", number_text(mean, 4), above),
                   proof.steps.back().value - mean,
                   "The mean of the gradients where sparsemax has a weight is subtracted");
}

void Sparsemax::explain(Proof& proof, const Cell& cell) const {
    proof = cell.words.prove(0);
    const Eigen::RowVectorXf x = cell.row_of(0, cell.row);
    if (x.maxCoeff<Eigen::PropagateNaN>() == -INFINITY) proof.remark = fully_masked_remark();
    if (cell.at(0) == -INFINITY) return proof.add_step("weight", cell.value, k_closed_weight_help);
    const Threshold threshold = threshold_of(x);
    proof.add_step(fmt::format("− τ {}, which {} of {} keys exceed", number_text(threshold.tau, 4),
                               threshold.above, (x.array() != -INFINITY).count()),
                   double{cell.at(0)} - threshold.tau,
                   "Sparsemax's threshold is subtracted, so that the weights above 0 sum to 1");
    proof.add_step("at least 0", cell.value, "Below the threshold the weight is exactly 0");
}

void Sparsemax::torch(TorchLines& py) const {
    py.section = "Weights: the sparsemax over the keys, each row sums to 1.";
    py.functions.emplace_back(
        "sparsemax",
        "def sparsemax(x):  # Martins and Astudillo 2016, algorithm 1\n"
        "    z = x.double().sort(dim=-1, descending=True).values\n"
        "    z = z.masked_fill(z == -inf, -1e300)  # closed: never above the threshold\n"
        "    k = torch.arange(1, x.shape[-1] + 1)\n"
        "    shifted = z - z[..., :1]\n"
        "    sums = shifted.cumsum(dim=-1)\n"
        "    above = (1 + k * shifted > sums).sum(dim=-1, keepdim=True).clamp(min=1)\n"
        "    tau = z[..., :1] + (sums.gather(-1, above - 1) - 1) / above\n"
        "    return (x - tau).clamp(min=0).float()\n");
    py.line("{} = sparsemax({})", py.out(), py.in(0));
    if (!py.finite)
        py.line("{0} = {0}.masked_fill(({1}.isnan() | ({1} == inf)).any(dim=-1, keepdim=True), nan)",
                py.out(), py.in(0));
    if (!py.finite || !py.nothing_dead)
        py.line("{0} = {0}.masked_fill({1} == -inf, 0)  # no weight where nothing is open", py.out(),
                py.in(0));
}

}  // namespace attnscope::op
