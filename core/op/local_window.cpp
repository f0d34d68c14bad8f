#include "core/op/local_window.h"

#include <fmt/format.h>

#include <cmath>

#include "core/op/gradient_proof.h"
#include "core/op/sigmoid.h"

namespace attnscope::op {

void predicted_centers(ConstMatrixView Q, ConstMatrixView W_p, ConstMatrixView v_p, int keys,
                       MatrixView out) {
    const Eigen::MatrixXd W = W_p.cast<double>();
    const Eigen::VectorXd v = v_p.row(0).transpose().cast<double>();
    Eigen::VectorXd q(W.cols()), units(W.rows());
    for (Eigen::Index i = 0; i < Q.rows(); ++i) {
        q = Q.row(i).transpose().cast<double>();
        units.noalias() = W * q;
        units = units.array().tanh();
        const double x = v.dot(units);
        out(i, 0) = static_cast<float>(keys / (1 + std::exp(-x)));
    }
}

void gaussian_windows(ConstMatrixView centers, double D, MatrixView out) {
    const double deviation = D / 2;
    for (Eigen::Index i = 0; i < out.rows(); ++i)
        for (Eigen::Index j = 0; j < out.cols(); ++j) {
            const double distance = static_cast<double>(j) - static_cast<double>(centers(i, 0));
            out(i, j) = static_cast<float>(std::exp(-distance * distance / (2 * deviation * deviation)));
        }
}

void apply_window(ConstMatrixView weights, ConstMatrixView window, MatrixView out) {
    out = (weights.array() == 0).select(0.0f, weights.cwiseProduct(window));
}

void QueryPlaces::forward(const Work&, Tensor& out) const {
    for (int i = 0; i < queries; ++i) out.head(0)(i, 0) = static_cast<float>(i);
}

void PredictedCenters::forward(const Work& in, Tensor& out) const {
    for (int h = 0; h < out.shape().heads; ++h)
        predicted_centers(in.head(0, h), in.head(1), in.head(2), keys, out.head(h));
}

void GaussianWindow::rows(const RowWork& in, MatrixView out) const {
    gaussian_windows(in.rows(0), window, out);
}

void ApplyWindow::rows(const RowWork& in, MatrixView out) const { apply_window(in.rows(0), in.rows(1), out); }

void PredictedCenters::backward(const Backward& at) const {
    const Eigen::MatrixXd W = at.input(1).cast<double>();
    const Eigen::VectorXd v = at.input(2).row(0).transpose().cast<double>();
    for (int h = 0; h < at.heads(); ++h)
        for (Eigen::Index i = 0; i < at.gradient(h).rows(); ++i) {
            const Eigen::VectorXd q = at.input(0, h).row(i).transpose().cast<double>();
            const Eigen::VectorXd t = (W * q).array().tanh();
            const double s = sigmoid(v.dot(t));
            const double du = double{at.gradient(h)(i, 0)} * keys * s * (1 - s);
            const Eigen::VectorXd dt = du * v.array() * (1 - t.array().square());
            if (at.wants(0)) at.sum(0, h).row(i) += (W.transpose() * dt).cast<float>().transpose();
            if (at.wants(1)) at.sum(1) += (dt * q.transpose()).cast<float>();
            if (at.wants(2)) at.sum(2).row(0) += (du * t).cast<float>().transpose();
        }
}

void GaussianWindow::backward(const Backward& at) const {
    if (!at.wants(0)) return;
    const double deviation = window / 2;
    for (int h = 0; h < at.heads(); ++h)
        for (Eigen::Index i = 0; i < at.gradient(h).rows(); ++i) {
            const double p = double{at.input(0, h)(i, 0)};
            double sum = 0;
            for (int j = 0; j < keys; ++j)
                sum += double{at.gradient(h)(i, j)} * double{at.result(h)(i, j)} * (j - p);
            at.sum(0, h)(i, 0) += static_cast<float>(sum / (deviation * deviation));
        }
}

void ApplyWindow::backward(const Backward& at) const {
    for (int h = 0; h < at.heads(); ++h) {
        const auto A = at.input(0, h).array(), G = at.input(1, h).array(), dY = at.gradient(h).array();
        if (at.wants(0)) at.sum(0, h).array() += (A == 0 && G.isNaN()).select(0.0f, dY * G);
        if (at.wants(1)) at.sum(1, h).array() += (A == 0).select(0.0f, dY * A);
    }
}

void PredictedCenters::explain_gradient(Proof& proof, const GradientCell& cell) const {
    const Eigen::MatrixXd W = cell.inputs[1]->head(0).cast<double>();
    const Eigen::VectorXd v = cell.in_row(2, 0, 0).transpose().cast<double>();
    /// du and t of one query, as in backward().
    const auto hidden = [&](int h, int i) -> std::pair<double, Eigen::VectorXd> {
        const Eigen::VectorXd t = (W * cell.in_row(0, h, i).transpose().cast<double>()).array().tanh();
        const double s = sigmoid(v.dot(t));
        return {double{cell.d(h, i, 0)} * keys * s * (1 - s), t};
    };
    if (cell.input == 0) {
        const auto [du, t] = hidden(cell.head, cell.row);
        const Eigen::VectorXd dt = du * v.array() * (1 - t.array().square());
        proof.terms_title = {"before tanh, times W_p", "unit by unit"};
        return add_products(proof, cell, SumOver::numbers, cell.head, dt.transpose().cast<float>(),
                            cell.in_column(1, 0, cell.column));
    }
    const bool of_W = cell.input == 1;
    proof.terms_title = {of_W ? "before tanh, times q" : "before the sigmoid, times tanh( W_p q )",
                         "query by query"};
    for (int h = cell.first_head(); h <= cell.last_head(); ++h) {
        Eigen::RowVectorXf left(cell.result_shape().rows), right(left.size());
        for (int i = 0; i < left.size(); ++i) {
            const auto [du, t] = hidden(h, i);
            const double unit = t(of_W ? cell.row : cell.column);
            left(i) = static_cast<float>(of_W ? du * v(cell.row) * (1 - unit * unit) : du);
            right(i) = of_W ? cell.in(0, h, i, cell.column) : static_cast<float>(unit);
        }
        add_products(proof, cell, SumOver::rows, h, left, right);
    }
}

void GaussianWindow::explain_gradient(Proof& proof, const GradientCell& cell) const {
    const double p = cell.in(0, cell.head, cell.row, 0), deviation = window / 2;
    const Eigen::RowVectorXf G = cell.out_row(cell.head, cell.row);
    Eigen::RowVectorXf slopes(keys);
    for (int j = 0; j < keys; ++j) slopes(j) = static_cast<float>(G(j) * (j - p) / (deviation * deviation));
    proof.terms_title = {cell.words.gradient(0) + " · G (j − p) ÷ (D ÷ 2)²", "key by key"};
    add_products(proof, cell, SumOver::columns, cell.head, cell.d_row(cell.head, cell.row), slopes);
}

void ApplyWindow::explain_gradient(Proof& proof, const GradientCell& cell) const {
    const auto at = [&](std::size_t i) { return cell.in(i, cell.head, cell.row, cell.column); };
    const std::size_t other = 1 - cell.input;
    pass_on(proof, cell, cell.head, cell.row, cell.column);
    const bool none = at(0) == 0 && (cell.input == 1 || std::isnan(at(1)));
    proof.add_step(fmt::format("× {} {}", cell.words.symbol(other), number_text(at(other), 4)),
                   none ? 0 : proof.steps.back().value * at(other));
}

void QueryPlaces::explain(Proof& proof, const Cell&, const CenterWords& words) const {
    proof.remark = fmt::format("the {}'s own position, counted from 0", words.query);
}

void PredictedCenters::explain(Proof& proof, const Cell& cell, const CenterWords& words) const {
    const Eigen::VectorXd units =
        (cell.inputs[1]->head(0).cast<double>() * cell.row_of(0, cell.row).transpose().cast<double>())
            .array()
            .tanh();
    double x = 0;
    for (Eigen::Index k = 0; k < units.size(); ++k) x += cell.at(2, 0, static_cast<int>(k)) * units(k);
    proof.add_step(fmt::format("v_p · tanh(W_p {})", words.letter), x);
    proof.add_step("sigmoid", sigmoid(x), k_sigmoid_help);
    proof.add_step(fmt::format("× {} = {}", words.keys, keys), cell.value);
}

void GaussianWindow::explain(Proof& proof, const Cell& cell) const {
    const double p = cell.at(0, cell.row, 0), deviation = window / 2, distance = cell.column - p;
    proof.add_step("j − p, p = " + number_text(p, 3), distance,
                   "The distance of the key from the window's center");
    proof.add_step("x = (j − p)² ÷ 2 (D ÷ 2)²", distance * distance / (2 * deviation * deviation),
                   "The Gaussian's exponent; its standard deviation is D ÷ 2");
    proof.add_step("exp(−x)", cell.value,
                   "The Gaussian around the window's center: 1 there, smaller further away");
}

void ApplyWindow::explain(Proof& proof, const Cell& cell) const {
    proof = cell.words.prove(0);
    if (cell.at(0) != 0)
        proof.add_step("× gauss " + number_text(cell.at(1), 4), cell.value,
                       "Multiplied by the Gaussian around the window's center");
}

void QueryPlaces::torch(TorchLines& py) const {
    py.section = "The center of each query's window: its own position.";
    py.line("{} = torch.arange({}).float()", py.out(), queries);
}

void PredictedCenters::torch(TorchLines& py) const {
    py.section = "The center of each query's window: a position predicted from it.";
    py.line("{} = {} * torch.sigmoid(torch.tanh({} @ {}.T) @ {})", py.out(), keys, py.in(0), py.in(1),
            py.in(2));
}

void GaussianWindow::torch(TorchLines& py) const {
    py.line("{} = torch.exp(-((torch.arange({}) - {}.unsqueeze(-1)) ** 2) / (2 * ({} / 2) ** 2))", py.out(),
            keys, py.in(0), window);
}

void ApplyWindow::torch(TorchLines& py) const {
    py.line("{} = {} * {}  # a Gaussian over the window", py.out(), py.in(0), py.in(1));
    if (!py.finite)
        py.line("{0} = {0}.masked_fill({1} == 0, 0)  # 0 times NaN would be NaN", py.out(), py.in(0));
}

}  // namespace attnscope::op
