#include "tests/core/op/in_double.h"

#include <cmath>
#include <stdexcept>

namespace attnscope::test {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;

struct InDouble {
    const std::vector<Values>& in;

    const MatrixXd& head(std::size_t i, std::size_t h = 0) const {
        return in[i][std::min(h, in[i].size() - 1)];
    }
    std::size_t heads() const { return in[0].size(); }

    /// One matrix for each head of the first input.
    template <typename Formula>
    Values each_head(const Formula& formula) const {
        Values out;
        for (std::size_t h = 0; h < heads(); ++h) out.push_back(formula(h));
        return out;
    }
    /// A score for each query and key of each head.
    template <typename Formula>
    Values each_pair(const Formula& formula) const {
        return each_head([&](std::size_t h) {
            const MatrixXd &Q = head(0, h), &K = head(1, h);
            MatrixXd scores(Q.rows(), K.rows());
            for (Index i = 0; i < Q.rows(); ++i)
                for (Index j = 0; j < K.rows(); ++j)
                    scores(i, j) = formula(ArrayXd(Q.row(i)), ArrayXd(K.row(j)));
            return scores;
        });
    }

    Values operator()(const op::Lookup&) const {
        MatrixXd rows(head(0).rows(), head(1).cols());
        for (Index i = 0; i < rows.rows(); ++i) rows.row(i) = head(1).row(static_cast<Index>(head(0)(i, 0)));
        return {rows};
    }
    Values operator()(const op::Identity&) const { return in[0]; }
    Values operator()(const op::Add&) const { return {head(0) + head(1).topRows(head(0).rows())}; }
    Values operator()(const op::AddBias&) const {
        return each_head([&](std::size_t h) {
            MatrixXd sum = head(0, h) + head(1, h);
            if (in.size() > 2) sum += head(2, h);
            return sum;
        });
    }
    Values operator()(const op::Linear&) const {
        MatrixXd y = head(0) * head(1).transpose();
        if (in.size() > 2) y.rowwise() += head(2).row(0);
        return {y};
    }
    Values operator()(const op::SplitHeads& split) const {
        Values heads;
        const Index width = head(0).cols() / split.heads;
        for (int h = 0; h < split.heads; ++h) {
            MatrixXd x = head(0).middleCols(h * width, width), y = x;
            for (Index k = 0; split.rotary && k < width / 2; ++k)
                for (Index p = 0; p < x.rows(); ++p) {
                    const bool half = *split.rotary == RopeLayout::half;
                    const Index a = half ? k : 2 * k, b = half ? k + width / 2 : 2 * k + 1;
                    const double angle =
                        static_cast<double>(p) *
                        std::pow(10000.0, -2.0 * static_cast<double>(k) / static_cast<double>(width));
                    y(p, a) = x(p, a) * std::cos(angle) - x(p, b) * std::sin(angle);
                    y(p, b) = x(p, a) * std::sin(angle) + x(p, b) * std::cos(angle);
                }
            heads.push_back(y);
        }
        return heads;
    }
    Values operator()(const op::JoinHeads&) const {
        MatrixXd joined(head(0).rows(), 0);
        for (const MatrixXd& each : in[0]) {
            joined.conservativeResize(Eigen::NoChange, joined.cols() + each.cols());
            joined.rightCols(each.cols()) = each;
        }
        return {joined};
    }
    Values operator()(const op::DotProduct&) const {
        return each_pair([](const ArrayXd& q, const ArrayXd& k) { return (q * k).sum(); });
    }
    Values operator()(const op::GeneralScore&) const {
        return each_pair(
            [&](const ArrayXd& q, const ArrayXd& k) { return q.matrix().dot(head(2) * k.matrix()); });
    }
    Values operator()(const op::Cosine&) const {
        return each_pair([](const ArrayXd& q, const ArrayXd& k) {
            return (q * k).sum() / std::max(q.matrix().norm() * k.matrix().norm(), 1e-8);
        });
    }
    Values operator()(const op::RbfScore& rbf) const {
        const double sigma = rbf.bandwidth;
        return each_pair([&](const ArrayXd& q, const ArrayXd& k) {
            return -(q - k).square().sum() / (2 * sigma * sigma);
        });
    }
    Values operator()(const op::LocationScore&) const {
        return each_pair([](const ArrayXd& q, const ArrayXd& w) { return (q * w).sum(); });
    }
    Values operator()(const op::Sharpen& sharpen) const {
        return each_head([&](std::size_t h) -> MatrixXd { return head(0, h) * double{sharpen.factor}; });
    }
    /// tanh of W_q q + W_k k + b for every query, key and unit.
    Values hidden(const MatrixXd& W_q, const MatrixXd& W_k, const ArrayXd& b) const {
        return each_head([&](std::size_t h) {
            const MatrixXd &Q = head(0, h), &K = head(1, h);
            MatrixXd units(Q.rows(), K.rows() * W_q.rows());
            for (Index i = 0; i < Q.rows(); ++i)
                for (Index j = 0; j < K.rows(); ++j)
                    for (Index u = 0; u < W_q.rows(); ++u)
                        units(i, j * W_q.rows() + u) =
                            std::tanh(W_q.row(u).dot(Q.row(i)) + W_k.row(u).dot(K.row(j)) + b(u));
            return units;
        });
    }
    Values operator()(const op::AdditiveHidden&) const {
        const ArrayXd b = in.size() > 4 ? ArrayXd(head(4).row(0)) : ArrayXd(ArrayXd::Zero(head(2).rows()));
        return hidden(head(2), head(3), b);
    }
    Values operator()(const op::ConcatHidden&) const {
        const MatrixXd& W = head(2);
        return hidden(W.leftCols(head(0).cols()), W.rightCols(head(1).cols()), ArrayXd::Zero(W.rows()));
    }
    Values operator()(const op::HiddenScore&) const {
        return each_head([&](std::size_t h) {
            const Index units = head(1).cols();
            MatrixXd scores(head(0, h).rows(), head(0, h).cols() / units);
            for (Index i = 0; i < scores.rows(); ++i)
                for (Index j = 0; j < scores.cols(); ++j)
                    scores(i, j) = head(0, h).row(i).segment(j * units, units).dot(head(1).row(0));
            return scores;
        });
    }
    Values operator()(const op::Scale& scale) const {
        return each_head([&](std::size_t h) -> MatrixXd {
            return head(0, h) * scale.by.factor(scale.d_k) / scale.temperature;
        });
    }
    Values operator()(const op::MaskedFill&) const {
        return each_head([&](std::size_t h) -> MatrixXd {
            return (head(1, h).array() != 0).select(head(0, h), -INFINITY);
        });
    }
    /// Each row by `formula`, the open cells alone; closed ones are 0.
    template <typename Formula>
    Values each_open_row(const Formula& formula) const {
        return each_head([&](std::size_t h) {
            MatrixXd out = MatrixXd::Zero(head(0, h).rows(), head(0, h).cols());
            for (Index i = 0; i < out.rows(); ++i) {
                const ArrayXd row = head(0, h).row(i);
                if ((row > -INFINITY).any()) out.row(i) = formula(row).matrix().transpose();
            }
            return out;
        });
    }
    static ArrayXd softmax(const ArrayXd& row) {
        const ArrayXd e = (row - row.maxCoeff()).exp();
        return (row > -INFINITY).select(e / e.sum(), 0);
    }
    Values operator()(const op::Softmax& op) const {
        if (op.axis == SoftmaxAxis::keys) return each_open_row(softmax);
        return each_head([&](std::size_t h) {
            MatrixXd out = MatrixXd::Zero(head(0, h).rows(), head(0, h).cols());
            for (Index j = 0; j < out.cols(); ++j) {
                const ArrayXd column = head(0, h).col(j);
                if ((column > -INFINITY).any()) out.col(j) = softmax(column).matrix();
            }
            return out;
        });
    }
    Values operator()(const op::Sparsemax&) const {
        return each_open_row([](const ArrayXd& row) {
            double low = row.maxCoeff() - 1, high = row.maxCoeff();  // τ is between them
            for (int step = 0; step < 200; ++step) {
                const double tau = (low + high) / 2;
                ((row - tau).max(0).sum() > 1 ? low : high) = tau;
            }
            const Index above = (row > high).count();
            double sum = 0;
            for (Index j = 0; j < row.size(); ++j) sum += row(j) > high ? row(j) : 0;
            return ArrayXd((row - (sum - 1) / static_cast<double>(above)).max(0));
        });
    }
    Values operator()(const op::PredictedCenters& centers) const {
        return each_head([&](std::size_t h) {
            MatrixXd p(head(0, h).rows(), 1);
            for (Index i = 0; i < p.rows(); ++i) {
                const ArrayXd t = (head(1) * head(0, h).row(i).transpose()).array().tanh();
                p(i, 0) = centers.keys / (1 + std::exp(-head(2).row(0).dot(t.matrix())));
            }
            return p;
        });
    }
    Values operator()(const op::GaussianWindow& gauss) const {
        return each_head([&](std::size_t h) {
            MatrixXd out(head(0, h).rows(), gauss.keys);
            for (Index i = 0; i < out.rows(); ++i)
                for (int j = 0; j < gauss.keys; ++j) {
                    const double apart = j - head(0, h)(i, 0), deviation = gauss.window / 2;
                    out(i, j) = std::exp(-apart * apart / (2 * deviation * deviation));
                }
            return out;
        });
    }
    Values operator()(const op::ApplyWindow&) const {
        return each_head([&](std::size_t h) -> MatrixXd { return head(0, h).cwiseProduct(head(1, h)); });
    }
    Values operator()(const op::Dropout& dropout) const {
        return each_head([&](std::size_t h) -> MatrixXd {
            return head(0, h).cwiseProduct(head(1, h)) / double{dropout.keep_probability};
        });
    }
    Values operator()(const op::WeightedSum&) const {
        return each_head([&](std::size_t h) -> MatrixXd {
            const MatrixXd open = (head(1, h).array() > -INFINITY).cast<double>();
            return head(0, h).cwiseProduct(open) * head(2, h);
        });
    }
    Values operator()(const op::Ablate& ablate) const {
        return each_head([&](std::size_t h) -> MatrixXd {
            if (!ablate.is_ablated(static_cast<int>(h))) return head(0, h);
            const MatrixXd& C = head(0, h);
            if (ablate.to == Ablation::zero) return MatrixXd::Zero(C.rows(), C.cols());
            return C.colwise().mean().replicate(C.rows(), 1);
        });
    }
    Values operator()(const op::LayerNorm& norm) const {
        MatrixXd out(head(0).rows(), head(0).cols());
        for (Index i = 0; i < out.rows(); ++i) {
            const ArrayXd x = head(0).row(i);
            const double deviation = std::sqrt((x - x.mean()).square().mean() + norm.epsilon);
            out.row(i) = (x - x.mean()).matrix().transpose() / deviation;
        }
        return {(out.array().rowwise() * head(1).row(0).array()).rowwise() + head(2).row(0).array()};
    }
    Values operator()(const op::Activate& activate) const {
        return {head(0).unaryExpr([&](double x) {
            return activate.activation == Activation::relu ? std::max(x, 0.0)
                                                           : x * (1 + std::erf(x / std::sqrt(2.0))) / 2;
        })};
    }
    Values operator()(const op::LogSoftmax&) const {
        MatrixXd out = head(0);
        for (Index i = 0; i < out.rows(); ++i) out.row(i).array() -= std::log(out.row(i).array().exp().sum());
        return {out};
    }
    Values operator()(const op::Exponential&) const { return {head(0).array().exp()}; }
    Values operator()(const op::CrossEntropy&) const {
        double sum = 0;
        int count = 0;
        for (Index i = 0; i < head(0).rows(); ++i) {
            const double target = head(1).data()[i];
            if (target < 0) continue;
            sum -= head(0)(i, static_cast<Index>(target));
            ++count;
        }
        return {MatrixXd::Constant(1, 1, sum / count)};
    }
    Values operator()(const op::WeightedTotal&) const {
        return {MatrixXd::Constant(1, 1, head(0).cwiseProduct(head(1)).sum())};
    }
    Values operator()(const op::JoinColumns&) const {
        MatrixXd joined(head(0).rows(), head(0).cols() + (in.size() > 1 ? head(1).cols() : 0));
        joined.leftCols(head(0).cols()) = head(0);
        if (in.size() > 1) joined.rightCols(head(1).cols()) = head(1);
        return {joined};
    }
    Values operator()(const op::LinearInDouble&) const { return {head(0) * head(1).transpose()}; }
    Values operator()(const op::InitialState& initial) const {
        const Index row = initial.word == op::InitialState::Of::first ? 0 : head(0).rows() - 1;
        return {(head(0).row(row) * head(1).transpose() + head(2)).array().tanh()};
    }
    Values operator()(const op::OutputLogits&) const {
        MatrixXd joined(head(0).rows(), head(0).cols() + head(1).cols() + head(2).cols());
        joined << head(0), head(1), head(2);
        return {(joined * head(3).transpose()).rowwise() + head(4).row(0)};
    }
    template <typename Other>
    Values operator()(const Other&) const {
        throw std::logic_error("an operation without a formula in double");
    }
};

}  // namespace

Values in_double(const Op& op, const std::vector<Values>& inputs) { return std::visit(InDouble{inputs}, op); }

}  // namespace attnscope::test
