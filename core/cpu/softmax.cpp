#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "core/cpu/kernels.h"
#include "core/cpu/vectors.h"

namespace attnscope {
namespace {

constexpr float k_infinity = std::numeric_limits<float>::infinity();
constexpr float k_nan = std::numeric_limits<float>::quiet_NaN();

/// Replaces x ≤ 0, not NaN, by eˣ: 2ⁿ eʳ with n = round(x / ln 2) and a polynomial for eʳ (Cephes' expf, S.
/// Moshier). −∞, and everything below −104, gives exactly 0. Each step is taken for all vectors before the
/// next, so that no vector waits for its own previous step.
template <std::size_t count>
[[gnu::always_inline]] inline void exp_together(Vector* x) {
    // 1.5 · 2²³: adding it rounds to a whole number, held in the lowest bits; 64 keeps 2ⁿ⁺⁶⁴ a normal number.
    constexpr float k_to_integer = 12582912 + 64;
    constexpr float k_factors[] = {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f,
                                   5.0000001201e-1f};
    Vector shifted[count], r[count], p[count];
    for (std::size_t i = 0; i < count; ++i) {
        k_enlarge(x[i], Vector{} - 104.0f);
        shifted[i] = x[i] * 1.44269504f + k_to_integer;
    }
    for (std::size_t i = 0; i < count; ++i) {
        const Vector n = shifted[i] - k_to_integer;
        r[i] = (x[i] - n * 0.693359375f) + n * 2.12194440e-4f;  // ln 2 in two parts
    }
    for (Vector& each : p) each = Vector{} + 1.9875691500e-4f;
    for (const float factor : k_factors)
        for (std::size_t i = 0; i < count; ++i) p[i] = p[i] * r[i] + factor;
    for (std::size_t i = 0; i < count; ++i) p[i] = p[i] * (r[i] * r[i]) + r[i] + 1.0f;
    for (std::size_t i = 0; i < count; ++i) {
        const BitVector scaled =
            reinterpret_cast<BitVector>(p[i]) + (reinterpret_cast<BitVector>(shifted[i]) << 23);
        x[i] = reinterpret_cast<Vector>(scaled) * 0x1p-64f;
    }
}
/// Vectors whose exponentials are computed together, as measured.
constexpr Eigen::Index k_together = 4;
template <std::size_t count>
inline void exp_of_nonpositive(Vector (&x)[count]) {
    constexpr std::size_t k_at_once = std::min(count, std::size_t{k_together});
    static_assert(count % k_at_once == 0);
    for (std::size_t first = 0; first < count; first += k_at_once) exp_together<k_at_once>(x + first);
}

/// The largest number, or NaN if there is one.
float largest_of(const float* x, Eigen::Index n) {
    Lanes largest = filled(-k_infinity), total{};
    const auto add = [&](Eigen::Index part, const Vector& cells) {
        k_enlarge(largest.parts[part], cells);
        total.parts[part] += cells;
    };
    Eigen::Index j = 0;
    for (; n - j >= k_lanes; j += k_lanes)
        for (Eigen::Index part = 0; part < k_parts; ++part) add(part, read(x + j + part * k_width));
    if (j < n) {
        Lanes cells;
        load_few(x + j, n - j, cells);
        for (Eigen::Index part = 0; part < k_parts; ++part) add(part, cells.parts[part]);
    }
    // A NaN makes the total NaN; so does −∞ beside +∞ or beside numbers whose sum overflows.
    if (has_nan(total) && std::any_of(x, x + n, [](float v) { return std::isnan(v); })) return k_nan;
    return folded(largest, k_enlarge);
}

/// out = e^(x − largest); returns its sum. Calls meanwhile(j) for each 16th cell j, between reading x and
/// writing out from there on: a division there delays nothing.
template <typename Meanwhile>
float exp_row(const float* x, float largest, Eigen::Index n, float* out, const Meanwhile& meanwhile) {
    constexpr Eigen::Index k_cells = k_together * k_width;
    Lanes sums{};
    Eigen::Index j = 0;
    for (Vector cells[k_together]; n - j >= k_cells; j += k_cells) {
        for (Eigen::Index v = 0; v < k_together; ++v) cells[v] = read(x + j + v * k_width) - largest;
        for (Eigen::Index at = 0; at < k_cells; at += k_lanes) meanwhile(j + at);
        exp_of_nonpositive(cells);
        for (Eigen::Index v = 0; v < k_together; ++v) {
            write(cells[v], out + j + v * k_width);
            sums.parts[v % k_parts] += cells[v];
        }
    }
    for (Lanes cells; j < n; j += k_lanes) {
        load(x, j, n, cells);
        meanwhile(j);
        for (Vector& part : cells.parts) part -= largest;
        exp_of_nonpositive(cells.parts);
        store(cells, j, n, out);
        for (Eigen::Index part = 0; part < k_parts; ++part) sums.parts[part] += cells.parts[part];
    }
    return folded(sums, k_add);
}
float exp_row(const float* x, float largest, Eigen::Index n, float* out) {
    return exp_row(x, largest, n, out, [](Eigen::Index) {});
}

/// The sum of a row, in the order of exp_row().
float sum_of(const float* x, Eigen::Index n) {
    Lanes sums{}, cells;
    for (Eigen::Index j = 0; j < n; j += k_lanes) {
        load(x, j, n, cells);
        for (Eigen::Index part = 0; part < k_parts; ++part)
            sums.parts[part] += cells.parts[part] == -k_infinity ? Vector{} : cells.parts[part];
    }
    return folded(sums, k_add);
}

}  // namespace

void scale_rows(ConstMatrixView x, float factor, float divisor, MatrixView out) {
    out = x * factor;
    if (divisor != 1) out /= divisor;
}

void mask_rows(ConstMatrixView x, ConstMatrixView open, MatrixView out) {
    std::transform(x.data(), x.data() + x.size(), open.data(), out.data(),
                   [](float value, float may_attend) { return may_attend != 0 ? value : -k_infinity; });
}

namespace {

/// Each row is divided by its sum while the exponentials of the next are computed.
void softmax_long_rows(ConstMatrixView x, MatrixView out) {
    const Eigen::Index n = x.cols();
    float* before = nullptr;  // a row of exponentials that are to be divided by their sum
    float sum = 1;
    const auto divide = [&](Eigen::Index j) {
        if (!before) return;
        Lanes cells;
        load(before, j, n, cells);
        for (Vector& part : cells.parts) part /= sum;
        store(cells, j, n, before);
    };
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
        const float* const row = x.row(i).data();
        float* const to = out.row(i).data();
        const float largest = largest_of(row, n);
        if (!std::isfinite(largest)) {  // −∞: nothing is open
            std::transform(row, row + n, to, [](float v) { return v == -k_infinity ? 0.0f : k_nan; });
            continue;
        }
        sum = exp_row(row, largest, n, to, divide);
        before = to;
    }
    for (Eigen::Index j = 0; j < n; j += k_lanes) divide(j);
}

/// Rows of at most so many cells take their exponentials together.
constexpr Eigen::Index k_short_row = 32, k_rows_together = 64;

/// softmax_long_rows() of at most k_rows_together rows, whose exponentials are taken together, so that
/// vectors are full and do not wait for each other; the bits are the same. False, and nothing done, unless
/// the largest cell of each is finite.
bool softmax_short_rows(ConstMatrixView x, MatrixView out) {
    float largest[k_rows_together];
    bool finite = true;
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
        largest[i] = largest_of(x.row(i).data(), x.cols());
        finite &= std::isfinite(largest[i]);
    }
    if (!finite) return false;
    for (Eigen::Index i = 0; i < x.rows(); ++i)
        for (Eigen::Index j = 0; j < x.cols(); ++j) out(i, j) = x(i, j) - largest[i];
    exp_row(out.data(), 0, out.size(), out.data());
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
        const float sum = sum_of(out.row(i).data(), out.cols());
        for (Eigen::Index j = 0; j < out.cols(); ++j) out(i, j) /= sum;
    }
    return true;
}

}  // namespace

void softmax_rows(ConstMatrixView x, MatrixView out) {
    if (x.cols() > k_short_row) {
        softmax_long_rows(x, out);
        return;
    }
    for (Eigen::Index first = 0; first < x.rows(); first += k_rows_together) {
        const Eigen::Index count = std::min(k_rows_together, x.rows() - first);
        const auto rows_of = [&](auto matrix) {
            return decltype(matrix){matrix.row(first).data(), count, matrix.cols()};
        };
        if (!softmax_short_rows(rows_of(x), rows_of(out))) softmax_long_rows(rows_of(x), rows_of(out));
    }
}

void RowSum::add(float part_largest, double part_sum) {
    if (part_largest == -k_infinity || std::isnan(largest)) return;
    const float before = largest;
    largest = part_largest > before || std::isnan(part_largest) ? part_largest : before;
    const auto share = [&](float own) { return std::exp(static_cast<double>(own) - largest); };
    sum = (before == -k_infinity ? 0 : sum * share(before)) + part_sum * share(part_largest);
}

void softmax_cells(std::span<const RowSum> rows, MatrixView x) {
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
        const RowSum& row = rows[static_cast<std::size_t>(i)];
        float* const cells = x.row(i).data();
        if (!std::isfinite(row.largest)) {
            std::transform(cells, cells + x.cols(), cells,
                           [](float v) { return v == -k_infinity ? 0.0f : k_nan; });
            continue;
        }
        exp_row(cells, row.largest, x.cols(), cells);
        const auto sum = static_cast<float>(row.sum);
        for (Eigen::Index j = 0; j < x.cols(); ++j) cells[j] /= sum;
    }
}

void exponentials(std::span<float> x, float largest) {
    exp_row(x.data(), largest, static_cast<Eigen::Index>(x.size()), x.data());
}

namespace {

/// One group of cells, any of which may be −∞ or NaN.
void softmax_group(const float* x, Eigen::Index count, float& largest, float& sum, float& smallest) {
    largest = largest_of(x, count);
    if (!std::isfinite(largest)) {
        sum = largest == -k_infinity ? 0 : k_nan;
        return;
    }
    Lanes cells, total{};
    for (Eigen::Index j = 0; j < count; j += k_lanes) {
        load(x, j, count, cells);
        for (Vector& part : cells.parts) part -= largest;
        exp_of_nonpositive(cells.parts);
        for (Eigen::Index part = 0; part < k_parts; ++part) total.parts[part] += cells.parts[part];
    }
    sum = folded(total, k_add);
    for (Eigen::Index j = 0; j < count; ++j)
        if (x[j] != -k_infinity) smallest = std::min(smallest, x[j]);
}

/// Groups of k_sixteens times 16 cells, all of which are finite; false, and nothing written that counts, if
/// not.
template <int k_sixteens>
bool softmax_finite_groups(const float* x, Eigen::Index groups, float* largest, float* sums,
                           float& smallest) {
    constexpr auto lessen = [](auto& a, const auto& b) { a = b < a ? b : a; };
    Lanes low = filled(k_infinity), check{};
    for (Eigen::Index g = 0; g < groups; ++g) {
        Vector cells[k_sixteens * k_parts];
        const float* const group = x + g * k_sixteens * k_lanes;
        Lanes top = filled(-k_infinity), total{};
        for (Eigen::Index v = 0; v < k_sixteens * k_parts; ++v) {
            cells[v] = read(group + v * k_width);
            k_enlarge(top.parts[v % k_parts], cells[v]);
            lessen(low.parts[v % k_parts], cells[v]);
            check.parts[v % k_parts] += cells[v] * 0.0f;  // NaN unless it is finite
        }
        largest[g] = folded(top, k_enlarge);
        for (Vector& each : cells) each -= largest[g];
        exp_of_nonpositive(cells);
        for (Eigen::Index v = 0; v < k_sixteens * k_parts; ++v) total.parts[v % k_parts] += cells[v];
        sums[g] = folded(total, k_add);
    }
    if (folded(check, k_add) != 0) return false;
    smallest = std::min(smallest, folded(low, lessen));
    return true;
}

bool softmax_finite_groups(int group, const float* x, Eigen::Index groups, float* largest, float* sums,
                           float& smallest) {
    switch (group / k_lanes) {
        case 1: return softmax_finite_groups<1>(x, groups, largest, sums, smallest);
        case 2: return softmax_finite_groups<2>(x, groups, largest, sums, smallest);
        case 4: return softmax_finite_groups<4>(x, groups, largest, sums, smallest);
        default: return false;
    }
}

}  // namespace

void strongest_weights(std::span<const RowSum> rows, ConstMatrixView x, int level, MatrixView out) {
    std::vector<float> largest(static_cast<std::size_t>(x.cols()));
    for (Eigen::Index p = 0; p < out.rows(); ++p) {
        std::ranges::fill(largest, -k_infinity);
        for (Eigen::Index i = p << level; i < std::min((p + 1) << level, x.rows()); ++i) {
            const RowSum& row = rows[static_cast<std::size_t>(i)];
            if (row.largest == -k_infinity) continue;
            const float* const cells = x.row(i).data();
            const float most = row.largest, log_sum = static_cast<float>(std::log(row.sum));
            // Of a row whose largest cell is not finite, each open one is NaN.
            const bool is_known = std::isfinite(most);
            for (std::size_t j = 0; is_known && j < largest.size(); ++j) {
                const float value = (cells[j] - most) - log_sum;
                largest[j] = value > largest[j] || value != value ? value : largest[j];
            }
            for (std::size_t j = 0; !is_known && j < largest.size(); ++j)
                if (cells[j] != -k_infinity) largest[j] = k_nan;
        }
        for (Eigen::Index q = 0; q < out.cols(); ++q) {
            const Eigen::Index first = q << level,
                               count = std::min(Eigen::Index{1} << level, x.cols() - first);
            const float value = largest_of(largest.data() + first, count);
            out(p, q) = value == -k_infinity ? value : std::exp(value);
        }
    }
}

void softmax_groups(ConstMatrixView x, int group, Strided largest, Strided sums, std::span<float> smallest) {
    const Eigen::Index whole = x.cols() / group;
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
        const float* const row = x.row(i).data();
        float& least = smallest[static_cast<std::size_t>(i)];
        const bool done =
            softmax_finite_groups(group, row, whole, largest.row(i).data(), sums.row(i).data(), least);
        for (Eigen::Index g = done ? whole : 0; g < largest.cols(); ++g)
            softmax_group(row + g * group, std::min<Eigen::Index>(group, x.cols() - g * group), largest(i, g),
                          sums(i, g), least);
    }
}

void widen(std::span<const float> x, std::span<float> largest, std::span<float> smallest) {
    for (std::size_t j = 0; j < x.size(); ++j) {
        const float value = x[j];
        largest[j] = value > largest[j] || value != value ? value : largest[j];
        const float open = value == -k_infinity ? k_infinity : value;
        smallest[j] = open < smallest[j] ? open : smallest[j];
    }
}

}  // namespace attnscope
