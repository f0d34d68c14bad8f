#include "core/cpu/kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace attnscope {
namespace {

constexpr float k_infinity = std::numeric_limits<float>::infinity();
constexpr float k_nan = std::numeric_limits<float>::quiet_NaN();

/// Cells that are processed together, on any instruction set: the compiler splits them to the machine's
/// width. Sums along a row therefore group the same way on every machine and at every address. Passed by
/// reference, because how such vectors are passed by value depends on the instruction set.
using Lanes [[gnu::vector_size(64)]] = float;
using BitLanes [[gnu::vector_size(64)]] = std::uint32_t;
constexpr Eigen::Index k_lanes = 16;

/// Replaces x ≤ 0, not NaN, by eˣ: 2ⁿ eʳ with n = round(x / ln 2) and a polynomial for eʳ (Cephes' expf, S.
/// Moshier). −∞, and everything below −104, gives exactly 0.
inline void exp_of_nonpositive(Lanes& x) {
    // 1.5 · 2²³: adding it rounds to a whole number, held in the lowest bits; 64 keeps 2ⁿ⁺⁶⁴ a normal number.
    constexpr float k_to_integer = 12582912 + 64;
    x = x > -104.0f ? x : Lanes{} - 104.0f;
    const Lanes shifted = x * 1.44269504f + k_to_integer;
    const Lanes n = shifted - k_to_integer;
    const Lanes r = (x - n * 0.693359375f) + n * 2.12194440e-4f;  // ln 2 in two parts
    Lanes p = r * 1.9875691500e-4f + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * (r * r) + r + 1.0f;
    const BitLanes scaled = reinterpret_cast<BitLanes>(p) + (reinterpret_cast<BitLanes>(shifted) << 23);
    x = reinterpret_cast<Lanes>(scaled) * 0x1p-64f;
}

/// out = e^(x − largest); returns its sum.
float exp_row(const float* x, float largest, Eigen::Index n, float* out) {
    Lanes sums{};
    for (Eigen::Index j = 0; j < n; j += k_lanes) {
        Lanes cells;
        if (n - j >= k_lanes) {
            std::memcpy(&cells, x + j, sizeof cells);
            cells -= largest;
            exp_of_nonpositive(cells);
            std::memcpy(out + j, &cells, sizeof cells);
        } else {
            const auto bytes = static_cast<std::size_t>(n - j) * sizeof(float);
            cells = Lanes{} - k_infinity;
            std::memcpy(&cells, x + j, bytes);
            cells -= largest;
            exp_of_nonpositive(cells);
            std::memcpy(out + j, &cells, bytes);
        }
        sums += cells;
    }
    for (Eigen::Index half = k_lanes / 2; half > 0; half /= 2)
        for (Eigen::Index lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
    return sums[0];
}

void softmax_row(const float* x, Eigen::Index n, float* out) {
    const float largest = Eigen::Map<const Eigen::ArrayXf>(x, n).maxCoeff<Eigen::PropagateNaN>();
    if (!std::isfinite(largest)) {  // −∞: nothing is open
        std::transform(x, x + n, out, [](float v) { return v == -k_infinity ? 0.0f : k_nan; });
    } else {
        const float sum = exp_row(x, largest, n, out);
        for (Eigen::Index j = 0; j < n; ++j) out[j] /= sum;
    }
}

}  // namespace

namespace {

/// Whether B is so small that accumulating in double costs no noticeable time.
bool is_small(const ConstStrided& B) {
    constexpr Eigen::Index k_numbers = 16 * 32;
    return B.size() <= k_numbers;
}

}  // namespace

void product(const ConstStrided& A, const ConstStrided& B, Strided out) {
    if (is_small(B))
        out.noalias() = (A.cast<double>() * B.cast<double>()).cast<float>();
    else
        out.noalias() = A * B;
}

void product_transposed(const ConstStrided& A, const ConstStrided& B, Strided out) {
    if (is_small(B))
        out.noalias() = (A.cast<double>() * B.cast<double>().transpose()).cast<float>();
    else
        out.noalias() = A * B.transpose();
}

void add_product(const ConstStrided& A, const ConstStrided& B, Strided sum) { sum.noalias() += A * B; }

void add_product_transposed(const ConstStrided& A, const ConstStrided& B, Strided sum) {
    sum.noalias() += A * B.transpose();
}

void add_transposed_product(const ConstStrided& A, const ConstStrided& B, Strided sum) {
    sum.noalias() += A.transpose() * B;
}

void scale_rows(ConstMatrixView x, float factor, float divisor, MatrixView out) {
    out = x * factor;
    if (divisor != 1) out /= divisor;
}

void mask_rows(ConstMatrixView x, ConstMatrixView open, MatrixView out) {
    std::transform(x.data(), x.data() + x.size(), open.data(), out.data(),
                   [](float value, float may_attend) { return may_attend != 0 ? value : -k_infinity; });
}

void softmax_rows(ConstMatrixView x, MatrixView out) {
    for (Eigen::Index i = 0; i < x.rows(); ++i) softmax_row(x.row(i).data(), x.cols(), out.row(i).data());
}

void sum_open(ConstMatrixView A, ConstMatrixView closed, const ConstStrided& V, MatrixView out) {
    out.setZero();
    for (Eigen::Index i = 0; i < A.rows(); ++i)
        for (Eigen::Index j = 0; j < A.cols(); ++j)
            if (closed(i, j) != -k_infinity) out.row(i) += A(i, j) * V.row(j);
}

bool all_finite(std::span<const float> values) {
    constexpr std::uint32_t k_exponent = 0x7f800000;
    std::uint32_t others = 0;
    for (const float v : values) others |= (std::bit_cast<std::uint32_t>(v) & k_exponent) == k_exponent;
    return others == 0;
}

}  // namespace attnscope
