#include "core/tensor/dominant.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace attnscope {
namespace {

constexpr std::uint32_t k_minus_infinity = 0xFF800000, k_nan = 0x7FC00000;  // bits

/// The bits with the sign last, 0 for a negative value: in the order of the magnitudes, NaN above +∞.
std::uint32_t turned(std::uint32_t bits) { return std::rotl(bits, 1) ^ 1; }
std::uint32_t turned_back(std::uint32_t turned) { return std::rotr(turned ^ 1, 1); }

/// In the order of dominant(): the larger number is that of the value that represents both.
std::uint32_t priority(float value) {
    const std::uint32_t by_magnitude = turned(std::bit_cast<std::uint32_t>(value));
    const std::uint32_t above_lowest = std::min(by_magnitude, ~std::uint32_t{1}) + 1;
    return by_magnitude == turned(k_minus_infinity) ? 0 : above_lowest;
}

/// The value of that priority().
float value_of(std::uint32_t priority) {
    constexpr std::uint32_t k_plus_infinity = 0xFF000002;  // its priority
    const std::uint32_t bits = priority == 0 ? k_minus_infinity : turned_back(priority - 1);
    return std::bit_cast<float>(priority > k_plus_infinity ? k_nan : bits);
}

}  // namespace

float dominant(float a, float b) { return value_of(std::max(priority(a), priority(b))); }

// Each loop below is one that the compiler takes for eight cells and more at once.

std::vector<float> dominant_of_columns(ConstMatrixView x) {
    const auto columns = static_cast<std::size_t>(x.cols());
    std::vector<std::uint32_t> strongest(columns);  // 0 is that of −∞
    std::uint32_t* const to = strongest.data();
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
        const float* const row = x.row(i).data();
        for (std::size_t j = 0; j < columns; ++j) to[j] = std::max(to[j], priority(row[j]));
    }
    std::vector<float> values(columns);
    std::ranges::transform(strongest, values.begin(), value_of);
    return values;
}

Tensor halved(ConstMatrixView from) {
    const int rows = static_cast<int>((from.rows() + 1) / 2);
    const int columns = static_cast<int>((from.cols() + 1) / 2);
    Tensor result(Shape{.heads = 1, .rows = rows, .columns = columns});
    std::vector<std::uint32_t> of_rows(static_cast<std::size_t>(columns) * 2);
    std::vector<std::uint32_t> of_blocks(static_cast<std::size_t>(columns));
    for (int r = 0; r < rows; ++r) {
        const float* upper = from.row(Eigen::Index{2} * r).data();
        const float* lower = from.row(std::min(Eigen::Index{2} * r + 1, from.rows() - 1)).data();
        std::transform(upper, upper + from.cols(), lower, of_rows.begin(),
                       [](float a, float b) { return std::max(priority(a), priority(b)); });
        if (from.cols() % 2 == 1) of_rows.back() = of_rows[of_rows.size() - 2];
        for (std::size_t c = 0; c < of_blocks.size(); ++c)
            of_blocks[c] = std::max(of_rows[2 * c], of_rows[2 * c + 1]);
        std::ranges::transform(of_blocks, result.head(0).row(r).data(), value_of);
    }
    return result;
}

}  // namespace attnscope
