// Vectors as wide as the instructions that the program is compiled for: GCC splits wider ones number by
// number.
#pragma once

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace attnscope {
namespace {  // a program may have sources that are compiled for other processors

#if defined(__AVX512F__)
constexpr std::size_t k_vector_bytes = 64;
#elif defined(__AVX2__)
constexpr std::size_t k_vector_bytes = 32;
#else
constexpr std::size_t k_vector_bytes = 16;
#endif

using Vector [[gnu::vector_size(k_vector_bytes)]] = float;
using BitVector [[gnu::vector_size(k_vector_bytes)]] = std::uint32_t;
/// Half as many numbers, in double and in single precision.
using DoubleVector [[gnu::vector_size(k_vector_bytes)]] = double;
using HalfVector [[gnu::vector_size(k_vector_bytes / 2)]] = float;

constexpr Eigen::Index k_width = k_vector_bytes / sizeof(float);
constexpr Eigen::Index k_double_width = k_vector_bytes / sizeof(double);

/// A vector of numbers anywhere in memory. (GCC compiles a memcpy of several vectors to narrower moves.)
using VectorAnywhere [[gnu::vector_size(k_vector_bytes), gnu::aligned(alignof(float)), gnu::may_alias]] =
    float;
inline Vector read(const float* from) { return *reinterpret_cast<const VectorAnywhere*>(from); }
inline void write(const Vector& vector, float* to) { *reinterpret_cast<VectorAnywhere*>(to) = vector; }

/// Cells that are added to one another in the same order on every machine: 16, in as many vectors as it
/// takes.
constexpr Eigen::Index k_lanes = 16, k_parts = k_lanes / k_width;
struct Lanes {
    Vector parts[k_parts];
};

inline Lanes filled(float value) {
    Lanes lanes;
    for (Vector& part : lanes.parts) part = Vector{} + value;
    return lanes;
}

constexpr auto k_add = [](auto& a, const auto& b) { a += b; };
/// a = max(a, b), element by element; a stays where either is NaN.
constexpr auto k_enlarge = [](auto& a, const auto& b) {
#ifdef __AVX512F__
    if constexpr (sizeof a == sizeof(Vector))
        a = _mm512_max_ps(b, a);  // GCC compares and blends
    else
#endif
        a = b > a ? b : a;
};

inline bool has_nan(const Lanes& cells) {
#ifdef __AVX512F__
    return _mm512_cmp_ps_mask(cells.parts[0], cells.parts[0], _CMP_UNORD_Q) != 0;
#else
    BitVector nan{};
    for (const Vector& part : cells.parts) nan |= reinterpret_cast<BitVector>(part != part);
    std::uint32_t any = 0;
    for (Eigen::Index lane = 0; lane < k_width; ++lane) any |= nan[lane];
    return any != 0;
#endif
}

/// The first `count` numbers at x, at least one and fewer than a vector has, and `after` behind them.
inline Vector read_few(const float* x, Eigen::Index count, float after) {
#if defined(__AVX512F__)
    return _mm512_mask_loadu_ps(Vector{} + after, static_cast<__mmask16>((1U << count) - 1), x);
#elif defined(__AVX2__)
    const auto last = static_cast<std::uint32_t>(count);
    const auto is_read = BitVector{0, 1, 2, 3, 4, 5, 6, 7} < last;
    return is_read ? Vector(_mm256_maskload_ps(x, reinterpret_cast<__m256i>(is_read))) : Vector{} + after;
#else
    return Vector{x[0], count > 1 ? x[1] : after, count > 2 ? x[2] : after, after};
#endif
}

/// `count` numbers, fewer than k_lanes, and `after` in the lanes behind them.
inline void load_few(const float* x, Eigen::Index count, Lanes& cells, float after) {
    for (Eigen::Index part = 0; part < k_parts; ++part) {
        const Eigen::Index first = part * k_width, left = count - first;
        cells.parts[part] = left >= k_width ? read(x + first)
                            : left > 0      ? read_few(x + first, left, after)
                                            : Vector{} + after;
    }
}
/// Copies fewer than k_lanes numbers: eight, four, two and one, as a memcpy of unknown length is a call, and
/// a masked store takes up to 50 cycles.
inline void copy_few(const float* from, Eigen::Index count, float* to) {
    const auto copy = [&](auto length) {
        if ((count & length()) == 0) return;
        std::memcpy(to, from, length() * sizeof(float));
        from += length();
        to += length();
    };
    copy(std::integral_constant<Eigen::Index, 8>());
    copy(std::integral_constant<Eigen::Index, 4>());
    copy(std::integral_constant<Eigen::Index, 2>());
    copy(std::integral_constant<Eigen::Index, 1>());
}
/// Stores the first `count` lanes, fewer than k_lanes.
inline void store_few(const Lanes& cells, Eigen::Index count, float* out) {
    float numbers[k_lanes];
    std::memcpy(numbers, &cells, sizeof numbers);
    copy_few(numbers, count, out);
}

/// The numbers of a row of n from the j-th on; `after` in the lanes after the last.
inline void load(const float* x, Eigen::Index j, Eigen::Index n, Lanes& cells,
                 float after = -std::numeric_limits<float>::infinity()) {
    if (n - j >= k_lanes)
        for (Eigen::Index part = 0; part < k_parts; ++part) cells.parts[part] = read(x + j + part * k_width);
    else
        load_few(x + j, n - j, cells, after);
}
inline void store(const Lanes& cells, Eigen::Index j, Eigen::Index n, float* out) {
    if (n - j >= k_lanes)
        for (Eigen::Index part = 0; part < k_parts; ++part)
            write(cells.parts[part], out + j + part * k_width);
    else
        store_few(cells, n - j, out + j);
}

/// Folds the lanes in half, `join(a, b)` making a what both halves give, until one number is left.
template <typename Join>
float folded(const Lanes& lanes, const Join& join) {
    using Quarter [[gnu::vector_size(16)]] = float;
    Quarter quarters[4];
    std::memcpy(quarters, &lanes, sizeof lanes);
    join(quarters[0], quarters[2]);
    join(quarters[1], quarters[3]);
    join(quarters[0], quarters[1]);
    float numbers[4];
    std::memcpy(numbers, &quarters[0], sizeof numbers);
    join(numbers[0], numbers[2]);
    join(numbers[1], numbers[3]);
    join(numbers[0], numbers[1]);
    return numbers[0];
}

}  // namespace
}  // namespace attnscope
