#include "core/op/layer_norm.h"

#include <fmt/format.h>

#include <cmath>

#include "core/op/gradient_proof.h"

namespace attnscope::op {

void LayerNorm::forward(const Work& in, Tensor& out) const {
    const ConstMatrixView x = in.head(0), gain = in.head(1), shift = in.head(2);
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
        const Eigen::ArrayXd row = x.row(i).transpose().cast<double>();
        const Eigen::ArrayXd centered = row - row.mean();
        const double deviation = std::sqrt(centered.square().mean() + epsilon);
        out.head(0).row(i) =
            (centered / deviation).cast<float>().transpose() * gain.row(0).array() + shift.row(0).array();
    }
}

void LayerNorm::backward(const Backward& at) const {
    const Eigen::ArrayXd gain = at.input_row(1, 0);
    for (Eigen::Index i = 0; i < at.gradient().rows(); ++i) {
        const Eigen::ArrayXd x = at.input_row(0, i), dY = at.gradient_row(0, i);
        const double deviation = std::sqrt((x - x.mean()).square().mean() + epsilon);
        const Eigen::ArrayXd normed = (x - x.mean()) / deviation, g = dY * gain;
        at.add_row(0, i, (g - g.mean() - normed * (g * normed).mean()) / deviation);
        at.add_row(1, 0, dY * normed);
        at.add_row(2, 0, dY);
    }
}

void LayerNorm::explain_gradient(Proof& proof, const GradientCell& cell) const {
    const auto normed = [&](int i, double* of_deviation) -> Eigen::ArrayXd {
        const Eigen::ArrayXd x = cell.in_row(0, 0, i).transpose().cast<double>().array();
        const double deviation = std::sqrt((x - x.mean()).square().mean() + epsilon);
        if (of_deviation) *of_deviation = deviation;
        return (x - x.mean()) / deviation;
    };
    if (cell.input > 0) {
        Eigen::RowVectorXf factors = Eigen::RowVectorXf::Ones(cell.result_shape().rows);
        for (int i = 0; cell.input == 1 && i < factors.size(); ++i)
            factors(i) = static_cast<float>(normed(i, nullptr)(cell.column));
        proof.terms_title = {cell.words.gradient(0) + (cell.input == 1 ? " · (x − mean) ÷ σ" : ""),
                             "row by row"};
        return add_products(proof, cell, SumOver::rows, 0, cell.d_column(0, cell.column), factors);
    }
    double deviation = 0;
    const Eigen::ArrayXd x = normed(cell.row, &deviation);
    const Eigen::ArrayXd g = cell.d_row(0, cell.row).transpose().cast<double>().array() *
                             cell.in_row(1, 0, 0).transpose().cast<double>().array();
    const double mean = g.mean(), slope = (g * x).mean(), own = g(cell.column);
    pass_on(proof, cell, 0, cell.row, cell.column);
    proof.add_step("× gain " + number_text(cell.in(1, 0, 0, cell.column)), own);
    proof.add_step("− row mean " + number_text(mean, 4), own - mean);
    proof.add_step(
        fmt::format("− {} · row mean of both {}", number_text(x(cell.column), 4), number_text(slope, 4)),
        own - mean - x(cell.column) * slope);
    proof.add_step("÷ √(variance + ε) " + number_text(deviation, 4),
                   (own - mean - x(cell.column) * slope) / deviation);
}

void LayerNorm::explain(Proof& proof, const Cell& cell) const {
    const Eigen::ArrayXd row = cell.row_of(0, cell.row).transpose().cast<double>();
    const double mean = row.mean();
    const double deviation = std::sqrt((row - mean).square().mean() + epsilon);
    const double centered = row(cell.column) - mean;
    proof.add_step("x", row(cell.column));
    proof.add_step("− row mean " + number_text(mean, 4), centered);
    proof.add_step("÷ √(variance + ε) " + number_text(deviation, 4), centered / deviation);
    proof.add_step(fmt::format("× gain {} + shift {}", number_text(cell.at(1, 0, cell.column)),
                               number_text(cell.at(2, 0, cell.column))),
                   cell.value);
}

void LayerNorm::torch(TorchLines& py) const {
    py.section = "Layer norm: each row with mean 0 and variance 1, times gain plus shift.";
    py.line("{} = torch.nn.functional.layer_norm({}, ({},), {}, {}, {})", py.out(), py.in(0),
            py.shape(0).columns, py.in(1), py.in(2), epsilon);
}

}  // namespace attnscope::op
