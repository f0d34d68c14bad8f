// Every rounding here equals PyTorch's: the file is built with -ffp-contract=off, and each fused multiply-add
// is written as std::fma.
#include "core/random/generator.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>

#include "core/error.h"

namespace attnscope {
namespace {

/// Normal draws of at least this many elements are made in blocks of this many.
constexpr std::size_t k_block = 16;
constexpr std::size_t k_half_block = k_block / 2;

// A block's eight pairs are computed side by side. Vectors are passed by reference, because how they are
// passed by value depends on the instruction set.
using Eight [[gnu::vector_size(32)]] = float;
using EightInts [[gnu::vector_size(32)]] = std::int32_t;

/// sum = sum · x + y, rounded once.
inline void fuse(Eight& sum, const Eight& x, const Eight& y) {
    for (std::size_t j = 0; j < k_half_block; ++j) sum[j] = std::fma(sum[j], x[j], y[j]);
}

/// Horner's scheme with fma, the coefficient of the highest power first.
template <std::size_t Count>
void polynomial(const Eight& x, const std::array<float, Count>& coefficients, Eight& sum) {
    sum = Eight{} + coefficients[0];
    for (std::size_t i = 1; i < Count; ++i) fuse(sum, x, Eight{} + coefficients[i]);
}

/// log(u) for 2⁻¹²⁶ ≤ u ≤ 1: the Cephes library's logf with PyTorch's fused operations.
void log_unit(const Eight& u, Eight& log) {
    static constexpr std::array<float, 9> k_log{7.0376836292e-2f,  -1.1514610310e-1f, 1.1676998740e-1f,
                                                -1.2420140846e-1f, 1.4249322787e-1f,  -1.6668057665e-1f,
                                                2.0000714765e-1f,  -2.4999993993e-1f, 3.3333331174e-1f};
    // ln 2 in two parts, the first short enough that its product with the exponent is exact.
    constexpr float k_ln2_high = 0.693359375f;
    constexpr float k_ln2_low = -2.12194440e-4f;
    constexpr float k_sqrt_half = 0.707106781186547524f;

    // u = mantissa · 2^exponent with ½ ≤ mantissa < 1, read off its bits.
    const auto bits = reinterpret_cast<EightInts>(u);
    const auto mantissa = reinterpret_cast<Eight>((bits & 0x007fffff) | 0x3f000000);
    const EightInts low = mantissa < k_sqrt_half;  // −1 where it is
    const Eight x = (low ? 2 * mantissa : mantissa) - 1;
    const Eight e = __builtin_convertvector((bits >> 23) - 126 + low, Eight);

    const Eight z = x * x;
    Eight y;
    polynomial(x, k_log, y);
    y *= x;
    fuse(y, z, e * k_ln2_low);
    Eight half = Eight{} - 0.5f;
    fuse(half, z, y);
    log = e;
    fuse(log, Eight{} + k_ln2_high, x + half);
}

/// sin and cos for 0 ≤ angle ≤ 2π: the Cephes library's sinf and cosf with PyTorch's fused operations.
void sin_cos(const Eight& angle, Eight& sin, Eight& cos) {
    static constexpr std::array<float, 3> k_cos{2.443315711809948e-5f, -1.388731625493765e-3f,
                                                4.166664568298827e-2f};
    static constexpr std::array<float, 3> k_sin{-1.9515295891e-4f, 8.3321608736e-3f, -1.6666654611e-1f};
    // π/4 in three parts: j times each of the first two is exact.
    static constexpr std::array<float, 3> k_minus_quarter_pi{-0.78515625f, -2.4187564849853515625e-4f,
                                                             -3.77489497744594108e-8f};
    constexpr float k_four_over_pi = 1.27323954473516f;

    const EightInts octant = (__builtin_convertvector(angle * k_four_over_pi, EightInts) + 1) & ~1;
    Eight x = angle;
    for (const float part : k_minus_quarter_pi) {
        Eight turned = __builtin_convertvector(octant, Eight);
        fuse(turned, Eight{} + part, x);
        x = turned;
    }

    const Eight z = x * x;
    Eight c, s;
    polynomial(z, k_cos, c);
    c *= z;
    fuse(c, z, -(0.5f * z));
    c += 1;
    polynomial(z, k_sin, s);
    s *= z;
    fuse(s, x, x);

    // Quadrant by quadrant: (s, c), (c, −s), (−s, −c), (−c, s).
    const EightInts odd = (octant & 2) != 0;
    sin = odd ? c : s;
    cos = odd ? s : c;
    sin = (octant & 4) != 0 ? -sin : sin;
    cos = ((octant + 2) & 4) != 0 ? -cos : cos;
}

/// Box–Muller on 16 uniforms: element j < 8 is the radius draw, j + 8 the angle draw.
void box_muller(std::span<float, k_block> block, float mean, float deviation) {
    constexpr float k_two_pi = 2 * std::numbers::pi_v<float>;
    Eight first, second, radius, sin, cos;
    std::memcpy(&first, block.data(), sizeof first);
    std::memcpy(&second, block.data() + k_half_block, sizeof second);
    log_unit(1 - first, radius);
    for (std::size_t j = 0; j < k_half_block; ++j) radius[j] = std::sqrt(-2 * radius[j]);
    sin_cos(k_two_pi * second, sin, cos);
    first = radius * cos;
    second = radius * sin;
    fuse(first, Eight{} + deviation, Eight{} + mean);
    fuse(second, Eight{} + deviation, Eight{} + mean);
    std::memcpy(block.data(), &first, sizeof first);
    std::memcpy(block.data() + k_half_block, &second, sizeof second);
}

void box_muller(std::span<double, k_block> block, double mean, double deviation) {
    for (std::size_t j = 0; j < k_half_block; ++j) {
        const double radius = std::sqrt(-2 * std::log(1 - block[j]));
        const double angle = 2 * std::numbers::pi * block[j + k_half_block];
        block[j] = std::fma(radius * std::cos(angle), deviation, mean);
        block[j + k_half_block] = std::fma(radius * std::sin(angle), deviation, mean);
    }
}

template <typename Real, typename Draw>
void fill(std::span<Real> out, Draw&& draw) {
    for (Real& value : out) value = draw();
}

template <typename Real, typename Uniform>
void fill_uniform(std::span<Real> out, double low, double high, Uniform&& uniform) {
    const Real from = static_cast<Real>(low);
    const Real width = static_cast<Real>(high) - from;
    fill(out, [&] { return std::fma(uniform(), width, from); });
}

template <typename Real, typename Uniform>
void fill_normal_blocks(std::span<Real> out, double mean, double deviation, Uniform&& uniform) {
    const auto transform = [&](std::size_t start) {
        box_muller(out.subspan(start).template first<k_block>(), static_cast<Real>(mean),
                   static_cast<Real>(deviation));
    };
    fill(out, uniform);
    std::size_t start = 0;
    for (; start + k_block <= out.size(); start += k_block) transform(start);
    if (start == out.size()) return;
    // The remainder is too short for a block: the last 16 elements, some of them already drawn, are redrawn.
    fill(out.last(k_block), uniform);
    transform(out.size() - k_block);
}

template <typename Real, typename Uniform, typename SmallNormal>
void fill_normal(std::span<Real> out, double mean, double deviation, Uniform&& uniform,
                 SmallNormal&& small_normal) {
    if (out.size() >= k_block) return fill_normal_blocks(out, mean, deviation, uniform);
    fill(out, [&] { return static_cast<Real>(std::fma(small_normal(), deviation, mean)); });
}

template <typename Real, typename Uniform>
void fill_bernoulli(std::span<const Real> p, std::span<Real> out, Uniform&& uniform) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = uniform() < p[i] ? Real{1} : Real{0};
}

}  // namespace

Generator::Generator(Seed seed) { manual_seed(seed); }

void Generator::manual_seed(Seed seed) {
    engine_.seed(static_cast<std::uint32_t>(seed.bits()));
    cached_normal_.reset();
}

std::uint64_t Generator::next64() {
    const std::uint64_t high = next32();
    return high << 32 | next32();
}

float Generator::uniform24() { return static_cast<float>(next32() & 0xFF'FFFFu) * 0x1p-24f; }

double Generator::uniform53() { return static_cast<double>(next64() & 0x1F'FFFF'FFFF'FFFFu) * 0x1p-53; }

double Generator::small_normal() {
    if (cached_normal_) return *std::exchange(cached_normal_, std::nullopt);
    const double u1 = uniform53();
    const double u2 = uniform53();
    const double radius = std::sqrt(-2 * std::log(1 - u2));
    const double angle = 2 * std::numbers::pi * u1;
    cached_normal_ = radius * std::sin(angle);
    return radius * std::cos(angle);
}

void Generator::rand(std::span<float> out) {
    fill(out, [this] { return uniform24(); });
}

void Generator::rand(std::span<double> out) {
    fill(out, [this] { return uniform53(); });
}

void Generator::uniform(std::span<float> out, double low, double high) {
    fill_uniform(out, low, high, [this] { return uniform24(); });
}

void Generator::uniform(std::span<double> out, double low, double high) {
    fill_uniform(out, low, high, [this] { return uniform53(); });
}

void Generator::normal(std::span<float> out, double mean, double deviation) {
    fill_normal(
        out, mean, deviation, [this] { return uniform24(); }, [this] { return small_normal(); });
}

void Generator::normal(std::span<double> out, double mean, double deviation) {
    fill_normal(
        out, mean, deviation, [this] { return uniform53(); }, [this] { return small_normal(); });
}

void Generator::randint(std::span<std::int64_t> out, std::int64_t low, std::int64_t high) {
    if (low >= high) {
        throw Error(
            ErrorKind::bad_input,
            fmt::format("randint from {} to {}: the lower limit must be below the upper limit", low, high));
    }
    // Unsigned, because high − low may exceed the signed range.
    const std::uint64_t base = static_cast<std::uint64_t>(low);
    const std::uint64_t range = static_cast<std::uint64_t>(high) - base;
    const bool wide = range > 0xFFFF'FFFFu;
    fill(out, [&] { return static_cast<std::int64_t>(base + (wide ? next64() : next32()) % range); });
}

void Generator::randperm(std::span<std::int64_t> out) {
    std::iota(out.begin(), out.end(), std::int64_t{0});
    for (std::size_t i = 0; i + 1 < out.size(); ++i) std::swap(out[i], out[i + next32() % (out.size() - i)]);
}

void Generator::bernoulli(std::span<float> out, double p) {
    fill(out, [&] { return uniform53() < p ? 1.0f : 0.0f; });
}

void Generator::bernoulli(std::span<double> out, double p) {
    fill(out, [&] { return uniform53() < p ? 1.0 : 0.0; });
}

void Generator::bernoulli_of(std::span<const float> p, std::span<float> out) {
    fill_bernoulli(p, out, [this] { return uniform24(); });
}

void Generator::bernoulli_of(std::span<const double> p, std::span<double> out) {
    fill_bernoulli(p, out, [this] { return uniform53(); });
}

}  // namespace attnscope
