#include "core/attention/positions.h"

#include <cmath>
#include <cstdlib>

namespace attnscope {
namespace {

/// How far one position turns pair k.
double frequency(Eigen::Index k, Eigen::Index d) {
    return std::pow(10000.0, -2.0 * static_cast<double>(k) / static_cast<double>(d));
}

}  // namespace

Matrix sinusoidal_positions(int positions, int d) {
    Matrix PE(positions, d);
    for (int column = 0; column < d; ++column) {
        const double step = frequency(column / 2, d);
        for (int p = 0; p < positions; ++p)
            PE(p, column) = static_cast<float>(column % 2 == 0 ? std::sin(p * step) : std::cos(p * step));
    }
    return PE;
}

void rotate_positions(ConstMatrixView x, RopeLayout layout, MatrixView out) {
    const Eigen::Index d = x.cols();
    const bool half = layout == RopeLayout::half;
    for (Eigen::Index k = 0; k < d / 2; ++k) {
        const Eigen::Index first = half ? k : 2 * k, second = half ? k + d / 2 : 2 * k + 1;
        const double step = frequency(k, d);
        for (Eigen::Index p = 0; p < x.rows(); ++p) {
            const double cosine = std::cos(static_cast<double>(p) * step),
                         sine = std::sin(static_cast<double>(p) * step);
            const double a = x(p, first), b = x(p, second);
            out(p, first) = static_cast<float>(a * cosine - b * sine);
            out(p, second) = static_cast<float>(a * sine + b * cosine);
        }
    }
}

double alibi_slope(int h, int heads) { return std::exp2(-8.0 * (h + 1) / heads); }

void alibi_bias(double slope, MatrixView bias) {
    for (Eigen::Index i = 0; i < bias.rows(); ++i)
        for (Eigen::Index j = 0; j < bias.cols(); ++j)
            bias(i, j) = static_cast<float>(-slope * static_cast<double>(std::abs(i - j)));
}

}  // namespace attnscope
