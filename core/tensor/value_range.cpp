#include "core/tensor/value_range.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>

namespace attnscope {
namespace {

/// Counts and ends of what several lanes have seen, side by side, so that the compiler takes them at once.
struct RangeLanes {
    static constexpr std::size_t k_lanes = 16;
    static constexpr float k_infinity = std::numeric_limits<float>::infinity();

    std::array<float, k_lanes> min, max;
    std::array<std::uint32_t, k_lanes> zero{}, nan{}, plus{}, minus{};

    RangeLanes() {
        min.fill(k_infinity);
        max.fill(-k_infinity);
    }
    void add(std::size_t lane, float v) {
        const bool finite = std::abs(v) < k_infinity;
        const float low = finite ? v : k_infinity, high = finite ? v : -k_infinity;
        min[lane] = low < min[lane] ? low : min[lane];
        max[lane] = high > max[lane] ? high : max[lane];
        zero[lane] += v == 0 ? 1 : 0;
        nan[lane] += v != v ? 1 : 0;
        plus[lane] += v == k_infinity ? 1 : 0;
        minus[lane] += v == -k_infinity ? 1 : 0;
    }
    /// What is known of the `count` values that were added.
    ValueRange range(std::size_t count) const {
        const auto sum = [](const auto& counts) {
            return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
        };
        ValueRange range{
            .zero = sum(zero), .nan = sum(nan), .plus_infinity = sum(plus), .minus_infinity = sum(minus)};
        range.finite = count - range.nan - range.plus_infinity - range.minus_infinity;
        if (range.finite == 0) return range;
        range.min = std::ranges::min(min);
        range.max = std::ranges::max(max);
        return range;
    }
};

/// The range of values that may be NaN or infinite.
ValueRange range_of_any(std::span<const float> values) {
    constexpr std::size_t k_lanes = RangeLanes::k_lanes;
    RangeLanes lanes;
    std::size_t i = 0;
    for (; i + k_lanes <= values.size(); i += k_lanes)
        for (std::size_t lane = 0; lane < k_lanes; ++lane) lanes.add(lane, values[i + lane]);
    for (; i < values.size(); ++i) lanes.add(0, values[i]);
    return lanes.range(values.size());
}

/// Maps the bits of a float to a number in the order of the values, a NaN beyond both infinities; its own
/// inverse.
std::int32_t ordered(std::int32_t bits) { return bits ^ (bits >> 31 & 0x7FFFFFFF); }

/// nullopt if a value is not finite.
std::optional<ValueRange> range_of_finite(std::span<const float> values) {
    constexpr std::int32_t k_infinity = 0x7F800000;
    std::int32_t least = k_infinity, most = -k_infinity, zero = 0;
    for (const float value : values) {
        const std::int32_t place = ordered(std::bit_cast<std::int32_t>(value));
        least = std::min(least, place);
        most = std::max(most, place);
        zero += value == 0 ? 1 : 0;
    }
    if (least <= ordered(std::bit_cast<std::int32_t>(-RangeLanes::k_infinity)) || most >= k_infinity)
        return std::nullopt;
    const auto value_at = [](std::int32_t place) { return std::bit_cast<float>(ordered(place)) + 0.0f; };
    return ValueRange{.min = value_at(least),
                      .max = value_at(most),
                      .finite = values.size(),
                      .zero = static_cast<std::size_t>(zero)};
}

}  // namespace

ValueRange range_of(std::span<const float> values) {
    constexpr std::size_t k_few = 4096;  // which stay in the cache if they are read twice
    ValueRange range;
    for (std::size_t i = 0; i < values.size(); i += k_few) {
        const std::span<const float> few = values.subspan(i, std::min(k_few, values.size() - i));
        const std::optional<ValueRange> finite = range_of_finite(few);
        range = united(range, finite ? *finite : range_of_any(few));
    }
    return range;
}

ValueRange united(ValueRange a, const ValueRange& b) {
    if (b.finite > 0) {
        a.min = a.finite > 0 ? std::min(a.min, b.min) : b.min;
        a.max = a.finite > 0 ? std::max(a.max, b.max) : b.max;
    }
    a.finite += b.finite;
    a.zero += b.zero;
    a.nan += b.nan;
    a.plus_infinity += b.plus_infinity;
    a.minus_infinity += b.minus_infinity;
    return a;
}

float largest_of_row(ConstMatrixView values, Eigen::Index row) {
    return values.row(row).maxCoeff<Eigen::PropagateNaN>();
}

}  // namespace attnscope
