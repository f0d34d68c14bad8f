// Vectors as wide as the instructions that the program is compiled for: GCC splits wider ones number by
// number.
#pragma once

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

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

// The last cells of a row, fewer than k_lanes. Where an instruction reads and writes some lanes of a vector
// it takes a tenth of the time.
#ifdef __AVX512F__

inline __mmask16 mask_of_first(Eigen::Index count) { return static_cast<__mmask16>((1U << count) - 1); }

/// `count` numbers, and −∞ in the lanes after them.
inline void load_few(const float* x, Eigen::Index count, Lanes& cells) {
    const Vector closed = Vector{} - std::numeric_limits<float>::infinity();
    cells.parts[0] = _mm512_mask_loadu_ps(closed, mask_of_first(count), x);
}
/// Stores the first `count` lanes.
inline void store_few(const Lanes& cells, Eigen::Index count, float* out) {
    _mm512_mask_storeu_ps(out, mask_of_first(count), cells.parts[0]);
}
inline bool has_nan(const Lanes& cells) {
    return _mm512_cmp_ps_mask(cells.parts[0], cells.parts[0], _CMP_UNORD_Q) != 0;
}

#else

inline void load_few(const float* x, Eigen::Index count, Lanes& cells) {
    cells = filled(-std::numeric_limits<float>::infinity());
    std::memcpy(&cells, x, static_cast<std::size_t>(count) * sizeof(float));
}
inline void store_few(const Lanes& cells, Eigen::Index count, float* out) {
    std::memcpy(out, &cells, static_cast<std::size_t>(count) * sizeof(float));
}
inline bool has_nan(const Lanes& cells) {
    BitVector nan{};
    for (const Vector& part : cells.parts) nan |= reinterpret_cast<BitVector>(part != part);
    std::uint32_t any = 0;
    for (Eigen::Index lane = 0; lane < k_width; ++lane) any |= nan[lane];
    return any != 0;
}

#endif

/// The numbers of a row of n from the j-th on; −∞ after the last.
inline void load(const float* x, Eigen::Index j, Eigen::Index n, Lanes& cells) {
    if (n - j >= k_lanes)
        for (Eigen::Index part = 0; part < k_parts; ++part) cells.parts[part] = read(x + j + part * k_width);
    else
        load_few(x + j, n - j, cells);
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
