#include "core/attention/normalizers.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/cpu/kernels.h"

namespace attnscope {
namespace {

constexpr float k_infinity = std::numeric_limits<float>::infinity();

void hard_rows(ConstMatrixView masked, MatrixView weights) {
    weights.setZero();
    for (Eigen::Index i = 0; i < masked.rows(); ++i) {
        Eigen::Index first = 0;
        const float largest = masked.row(i).maxCoeff<Eigen::PropagateNaN>(&first);
        if (std::isnan(largest)) {
            for (Eigen::Index j = 0; j < masked.cols(); ++j)
                if (masked(i, j) != -k_infinity) weights(i, j) = largest;
        } else if (largest != -k_infinity) {
            for (first = 0; masked(i, first) != largest;) ++first;
            weights(i, first) = 1;
        }
    }
}

using Window = Normalizer::Window;
constexpr std::array k_normalizers = {
    Normalizer{Normalization::softmax, "exp(x − max) ÷ Σ exp(x − max)",
               "each row becomes positive weights that sum to 1", Window::none, softmax_rows},
    Normalizer{Normalization::hard, "1 at the largest", "all the weight on one key, the first of equals",
               Window::none, hard_rows},
    Normalizer{Normalization::local_m, "softmax within D of i",
               "a window around the query's own place (Luong)", Window::at_query, softmax_rows},
    Normalizer{Normalization::local_p, "softmax within D of p · exp(−(j − p)² ÷ 2(D/2)²)",
               "a window around a place that the query predicts (Luong)", Window::predicted, softmax_rows},
};
static_assert(is_table_of<Normalization>(k_normalizers));

}  // namespace

std::span<const Normalizer> normalizers() { return k_normalizers; }

const Normalizer& normalizer_of(Normalization choice) {
    return k_normalizers[static_cast<std::size_t>(choice)];
}

void softmax_over_queries(ConstMatrixView masked, MatrixView weights) {
    Matrix columns = masked.transpose();
    const MatrixView view(columns.data(), columns.rows(), columns.cols());
    softmax_rows(ConstMatrixView(columns.data(), columns.rows(), columns.cols()), view);
    weights = columns.transpose();
}

void predicted_centers(ConstMatrixView Q, ConstMatrixView W_p, ConstMatrixView v_p, int keys,
                       MatrixView out) {
    for (Eigen::Index i = 0; i < Q.rows(); ++i) {
        const Eigen::VectorXd units =
            (W_p.cast<double>() * Q.row(i).transpose().cast<double>()).array().tanh();
        const double x = v_p.row(0).cast<double>().dot(units);
        out(i, 0) = static_cast<float>(keys / (1 + std::exp(-x)));
    }
}

std::string window_text(double D) {
    std::array<char, 32> text;
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), D).ptr};
}

double window_gauss(double p, int j, double D) {
    const double distance = j - p, deviation = D / 2;
    return std::exp(-distance * distance / (2 * deviation * deviation));
}

}  // namespace attnscope
