#include "core/attention/block.h"

#include <cmath>

namespace attnscope {

void layer_norm(ConstMatrixView x, ConstMatrixView gain, ConstMatrixView shift, MatrixView out) {
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
        const Eigen::ArrayXd row = x.row(i).transpose().cast<double>();
        const Eigen::ArrayXd centered = row - row.mean();
        const double deviation = std::sqrt(centered.square().mean() + k_layer_norm_epsilon);
        out.row(i) =
            (centered / deviation).cast<float>().transpose() * gain.row(0).array() + shift.row(0).array();
    }
}

float relu(float x) { return x < 0 ? 0 : x; }

float gelu(float x) {
    const double v = x;
    return static_cast<float>(v * (1 + std::erf(v / std::sqrt(2.0))) / 2);
}

void log_softmax(ConstMatrixView x, MatrixView out) {
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
        const Eigen::ArrayXd row = x.row(i).transpose().cast<double>();
        const double largest = row.maxCoeff<Eigen::PropagateNaN>();
        const double log_sum = largest + std::log((row - largest).exp().sum());
        out.row(i) = (row - log_sum).cast<float>().transpose();
    }
}

}  // namespace attnscope
