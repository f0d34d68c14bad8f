#include "core/op/layer_norm.h"

#include <fmt/format.h>

#include <cmath>

#include "core/op/gradient_proof.h"

namespace attnscope::op {
namespace {

/// A row less its mean, and √(variance + ε), by which it is divided.
struct NormedRow {
    Eigen::ArrayXd centered;
    double deviation;

    NormedRow(const Eigen::ArrayXd& row, double epsilon)
        : centered(row - row.mean()), deviation(std::sqrt(centered.square().mean() + epsilon)) {}
    Eigen::ArrayXd values() const { return centered / deviation; }
};

}  // namespace

void LayerNorm::forward(const Work& in, Tensor& out) const {
    const ConstMatrixView x = in.head(0), gain = in.head(1), shift = in.head(2);
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
        const NormedRow row(x.row(i).transpose().cast<double>(), epsilon);
        out.head(0).row(i) =
            row.values().cast<float>().transpose() * gain.row(0).array() + shift.row(0).array();
    }
}

void LayerNorm::backward(const Backward& at) const {
    const Eigen::ArrayXd gain = at.input_row(1, 0);
    for (Eigen::Index i = 0; i < at.gradient().rows(); ++i) {
        const NormedRow row(at.input_row(0, i), epsilon);
        const Eigen::ArrayXd dY = at.gradient_row(0, i), normed = row.values(), g = dY * gain;
        at.add_row(0, i, (g - g.mean() - normed * (g * normed).mean()) / row.deviation);
        at.add_row(1, 0, dY * normed);
        at.add_row(2, 0, dY);
    }
}

void LayerNorm::explain_gradient(Proof& proof, const GradientCell& cell) const {
    const auto normed = [&](int i) {
        return NormedRow(cell.in_row(0, 0, i).transpose().cast<double>().array(), epsilon);
    };
    if (cell.input > 0) {
        Eigen::RowVectorXf factors = Eigen::RowVectorXf::Ones(cell.result_shape().rows);
        for (int i = 0; cell.input == 1 && i < factors.size(); ++i)
            factors(i) = static_cast<float>(normed(i).values()(cell.column));
        proof.terms_title = {cell.words.gradient(0) + (cell.input == 1 ? " · (x − mean) ÷ σ" : ""),
                             "row by row"};
        return add_products(proof, cell, SumOver::rows, 0, cell.d_column(0, cell.column), factors);
    }
    const NormedRow row = normed(cell.row);
    const double deviation = row.deviation;
    const Eigen::ArrayXd x = row.values();
    const Eigen::ArrayXd g = cell.d_row(0, cell.row).transpose().cast<double>().array() *
                             cell.in_row(1, 0, 0).transpose().cast<double>().array();
    const double mean = g.mean(), slope = (g * x).mean(), own = g(cell.column);
    pass_on(proof, cell, 0, cell.row, cell.column);
    proof.add_step("× gain " + number_text(cell.in(1, 0, 0, cell.column)), own,
                   "Multiplied by the gain, a parameter");
    proof.add_step("− row mean " + number_text(mean, 4), own - mean, "The row's mean is subtracted");
    proof.add_step(
        fmt::format("− {} · row mean of both {}", number_text(x(cell.column), 4), number_text(slope, 4)),
        own - mean - x(cell.column) * slope);
    proof.add_step("÷ √(variance + ε) " + number_text(deviation, 4),
                   (own - mean - x(cell.column) * slope) / deviation);
}

void LayerNorm::explain(Proof& proof, const Cell& cell) const {
    const Eigen::ArrayXd x = cell.row_of(0, cell.row).transpose().cast<double>();
    const NormedRow row(x, epsilon);
    proof.add_step("x", x(cell.column), k_input_help);
    proof.add_step("− row mean " + number_text(x.mean(), 4), row.centered(cell.column),
                   "The row's mean is subtracted");
    proof.add_step("÷ √(variance + ε) " + number_text(row.deviation, 4), row.values()(cell.column),
                   "Divided by the row's standard deviation; ε keeps it above 0");
    proof.add_step(fmt::format("× gain {} + shift {}", number_text(cell.at(1, 0, cell.column)),
                               number_text(cell.at(2, 0, cell.column))),
                   cell.value, "Multiplied by the gain, and the shift is added: both are parameters");
}

void LayerNorm::torch(TorchLines& py) const {
    py.section = "Layer norm: each row with mean 0 and variance 1, times gain plus shift.";
    py.line("{} = torch.nn.functional.layer_norm({}, ({},), {}, {}, {})", py.out(), py.in(0),
            py.shape(0).columns, py.in(1), py.in(2), epsilon);
}

}  // namespace attnscope::op
