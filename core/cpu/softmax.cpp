#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "core/cpu/kernels.h"
#include "core/cpu/vectors.h"

namespace attnscope {
namespace {

constexpr float k_infinity = std::numeric_limits<float>::infinity();
constexpr float k_nan = std::numeric_limits<float>::quiet_NaN();

/// What exponentials are multiplied by, so that small ones are normal numbers.
constexpr float k_exp_scale = 0x1p64f;

/// Replaces x ≤ 0, not NaN, by k_exp_scale · eˣ: 2ⁿ eʳ with n = round(x / ln 2) and a polynomial for eʳ that
/// minimizes the largest relative error (3 · 10⁻⁹; found by Lawson's weighted least squares). Below −104, x
/// is −104: e⁻¹⁰⁴ is less than 2⁻¹⁵⁰, half the smallest number, so that divided by a sum of at least e⁰ it
/// rounds to 0. Each step is taken for all vectors before the next, so that no vector waits for its own
/// previous step.
template <std::size_t count>
[[gnu::always_inline]] inline void exp_together(Vector* x) {
    // 1.5 · 2²³: adding it rounds to a whole number, held in the lowest bits; 64 more for k_exp_scale.
    constexpr float k_to_integer = 12582912 + 64;
    static_assert(k_exp_scale == 0x1p64f);
    constexpr float k_factors[] = {8.3687101161e-3f, 4.1668387370e-2f, 1.6666520687e-1f, 4.9999993452e-1f};
    Vector shifted[count], r[count], p[count];
    for (std::size_t i = 0; i < count; ++i) {
        k_enlarge(x[i], Vector{} - 104.0f);
        shifted[i] = x[i] * 1.44269504f + k_to_integer;
    }
    for (std::size_t i = 0; i < count; ++i) {
        const Vector n = shifted[i] - k_to_integer;
        r[i] = (x[i] - n * 0.693359375f) + n * 2.12194440e-4f;  // ln 2 in two parts
    }
    for (Vector& each : p) each = Vector{} + 1.3814614209e-3f;
    for (const float factor : k_factors)
        for (std::size_t i = 0; i < count; ++i) p[i] = p[i] * r[i] + factor;
    for (std::size_t i = 0; i < count; ++i) p[i] = p[i] * (r[i] * r[i]) + r[i] + 1.0f;
    for (std::size_t i = 0; i < count; ++i) {
        const BitVector scaled =
            reinterpret_cast<BitVector>(p[i]) + (reinterpret_cast<BitVector>(shifted[i]) << 23);
        x[i] = reinterpret_cast<Vector>(scaled);
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

/// The largest of numbers that are added 16 at a time; NaN if there is one.
class Largest {
public:
    void add(const Lanes& cells) {
        for (Eigen::Index part = 0; part < k_parts; ++part) {
            k_enlarge(largest_.parts[part], cells.parts[part]);
            total_.parts[part] += cells.parts[part];
        }
    }
    /// x is where the n numbers are.
    float of(const float* x, Eigen::Index n) const {
        // A NaN makes the total NaN; so does −∞ beside +∞ or beside numbers whose sum overflows.
        if (has_nan(total_) && std::any_of(x, x + n, [](float v) { return std::isnan(v); })) return k_nan;
        return folded(largest_, k_enlarge);
    }

private:
    Lanes largest_ = filled(-k_infinity), total_{};
};

float largest_of(const float* x, Eigen::Index n) {
    Largest largest;
    Lanes cells;
    for (Eigen::Index j = 0; j < n; j += k_lanes) {
        load(x, j, n, cells);
        largest.add(cells);
    }
    return largest.of(x, n);
}

/// out = k_exp_scale · e^(x − largest); returns its sum. Calls meanwhile(j) for each 16th cell j, between
/// reading x and writing out from there on: its work overlaps with the exponentials.
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

/// Cells that wait to be divided by their sum.
struct Undivided {
    float* cells = nullptr;  ///< null: no cells wait
    float sum = 1;

    void divide(Eigen::Index j, Eigen::Index n) const {
        if (!cells) return;
        Lanes part_of_row;
        load(cells, j, n, part_of_row);
        for (Vector& part : part_of_row.parts) part /= sum;
        store(part_of_row, j, n, cells);
    }
};

/// While the exponentials of a row are computed, the row two before is divided by its sum and the largest
/// number of the row two after is found: both are ready before they are needed.
void softmax_long_rows(ConstMatrixView x, MatrixView out) {
    const Eigen::Index n = x.cols(), last = x.rows() - 1;
    if (last < 0) return;
    const auto row = [&](Eigen::Index i) { return i <= last ? x.row(i).data() : nullptr; };
    const auto largest_of_row = [&](Eigen::Index i) { return i <= last ? largest_of(row(i), n) : 0; };
    float largest = largest_of_row(0), largest_of_next = largest_of_row(1);
    Undivided before, two_before;
    for (Eigen::Index i = 0; i <= last; ++i) {
        float* const to = out.row(i).data();
        const float* const two_after = row(i + 2);
        Largest found;
        if (std::isfinite(largest)) {
            const float sum = exp_row(row(i), largest, n, to, [&](Eigen::Index j) {
                two_before.divide(j, n);
                if (!two_after) return;
                Lanes cells;
                load(two_after, j, n, cells);
                found.add(cells);
            });
            two_before = before;
            before = {to, sum};
            largest = largest_of_next;
            largest_of_next = two_after ? found.of(two_after, n) : 0;
        } else {  // −∞: nothing is open
            std::transform(row(i), row(i) + n, to, [](float v) { return v == -k_infinity ? 0.0f : k_nan; });
            largest = largest_of_next;
            largest_of_next = largest_of_row(i + 2);
        }
    }
    for (const Undivided& rest : {two_before, before})
        for (Eigen::Index j = 0; j < n; j += k_lanes) rest.divide(j, n);
}

/// A row of more than (k_sixteens − 1) · 16 and at most k_sixteens · 16 cells, in registers.
template <Eigen::Index k_sixteens>
class ShortRow {
public:
    ShortRow(const float* x, Eigen::Index n, float after) {
        for (Eigen::Index k = 0; k < k_sixteens; ++k) load(x, k * k_lanes, n, cells_[k], after);
    }
    void store(Eigen::Index n, float* out) const {
        for (Eigen::Index k = 0; k < k_sixteens; ++k) attnscope::store(cells_[k], k * k_lanes, n, out);
    }
    float largest(const float* x, Eigen::Index n) const {
        Largest largest;
        for (const Lanes& each : cells_) largest.add(each);
        return largest.of(x, n);
    }
    /// In the order of exp_row().
    float sum() const {
        Lanes sums{};
        for (const Lanes& each : cells_)
            for (Eigen::Index part = 0; part < k_parts; ++part) sums.parts[part] += each.parts[part];
        return folded(sums, k_add);
    }
    template <typename Change>
    void for_each_vector(const Change& change) {
        for (Lanes& each : cells_)
            for (Vector& part : each.parts) change(part);
    }

private:
    Lanes cells_[k_sixteens];
};

constexpr Eigen::Index k_rows_together = 64;

/// softmax_long_rows() of at most k_rows_together rows for ShortRow<k_sixteens>, whose exponentials are taken
/// together, so that vectors are full and do not wait for each other; the bits are the same. False, and
/// nothing done, unless the largest cell of each is finite.
template <Eigen::Index k_sixteens>
bool softmax_short_rows(ConstMatrixView x, MatrixView out) {
    using Row = ShortRow<k_sixteens>;
    const Eigen::Index n = x.cols();
    float largest[k_rows_together];
    bool finite = true;
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
        const float* const cells = x.row(i).data();
        largest[i] = Row(cells, n, -k_infinity).largest(cells, n);
        finite &= std::isfinite(largest[i]);
    }
    if (!finite) return false;
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
        Row row(x.row(i).data(), n, 0);
        row.for_each_vector([&](Vector& part) { part -= largest[i]; });
        row.store(n, out.row(i).data());
    }
    exp_row(out.data(), 0, out.size(), out.data());
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
        Row row(out.row(i).data(), n, 0);
        const float sum = row.sum();
        row.for_each_vector([&](Vector& part) { part /= sum; });
        row.store(n, out.row(i).data());
    }
    return true;
}

}  // namespace

void softmax_rows(ConstMatrixView x, MatrixView out) {
    if (x.cols() > 2 * k_lanes) return softmax_long_rows(x, out);
    const auto of_rows = x.cols() > k_lanes ? softmax_short_rows<2> : softmax_short_rows<1>;
    for (Eigen::Index first = 0; first < x.rows(); first += k_rows_together) {
        const Eigen::Index count = std::min(k_rows_together, x.rows() - first);
        const auto rows_of = [&](auto matrix) {
            return decltype(matrix){matrix.row(first).data(), count, matrix.cols()};
        };
        if (!of_rows(rows_of(x), rows_of(out))) softmax_long_rows(rows_of(x), rows_of(out));
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
        for (Eigen::Index j = 0; j < x.cols(); ++j) cells[j] = std::min(cells[j], row.largest);
        exp_row(cells, row.largest, x.cols(), cells);
        const float sum = static_cast<float>(row.sum) * k_exp_scale;
        for (Eigen::Index j = 0; j < x.cols(); ++j) cells[j] /= sum;
    }
}

void exponentials(std::span<float> x, float largest) {
    exp_row(x.data(), largest, static_cast<Eigen::Index>(x.size()), x.data());
    for (float& each : x) each /= k_exp_scale;
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
    sum = folded(total, k_add) / k_exp_scale;
    for (Eigen::Index j = 0; j < count; ++j)
        if (x[j] != -k_infinity) smallest = std::min(smallest, x[j]);
}

/// Groups of k_sixteens times 16 cells, all of which are finite; false, and nothing written that counts, if
/// not.
template <int k_sixteens>
bool softmax_finite_groups(const float* x, Eigen::Index groups, float* largest, float* sums,
                           float& smallest) {
    constexpr auto lessen = [](auto& a, const auto& b) { a = b < a ? b : a; };
    constexpr Eigen::Index k_vectors = k_sixteens * k_parts;
    Lanes low = filled(k_infinity), check{};
    for (Eigen::Index g = 0; g < groups; ++g) {
        Lanes top = filled(-k_infinity);
        for (Eigen::Index v = 0; v < k_vectors; ++v) {
            const Vector cells = read(x + (g * k_vectors + v) * k_width);
            k_enlarge(top.parts[v % k_parts], cells);
            lessen(low.parts[v % k_parts], cells);
            check.parts[v % k_parts] += cells * 0.0f;  // NaN unless it is finite
        }
        largest[g] = folded(top, k_enlarge);
    }
    if (folded(check, k_add) != 0) return false;
    // In a loop of their own, exponentials do not wait for the folding of the largest.
    const auto add_up = [&](Eigen::Index first, auto count) {  // that many groups, their vectors together
        Vector cells[count * k_vectors];
        for (Eigen::Index v = 0; v < count * k_vectors; ++v)
            cells[v] = read(x + (first * k_vectors + v) * k_width) - largest[first + v / k_vectors];
        exp_of_nonpositive(cells);
        for (Eigen::Index g = 0; g < count; ++g) {
            Lanes total{};
            for (Eigen::Index v = 0; v < k_vectors; ++v) total.parts[v % k_parts] += cells[g * k_vectors + v];
            sums[first + g] = folded(total, k_add) / k_exp_scale;
        }
    };
    constexpr std::integral_constant<Eigen::Index, std::max<Eigen::Index>(1, k_together / k_vectors)>
        k_at_once;
    Eigen::Index g = 0;
    for (; groups - g >= k_at_once; g += k_at_once) add_up(g, k_at_once);
    for (; g < groups; ++g) add_up(g, std::integral_constant<Eigen::Index, 1>());
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

/// a = max(a, b), which is NaN where either is.
inline void enlarge_or_nan(float& a, float b) { a = b > a || b != b ? b : a; }
inline void enlarge_or_nan(Vector& a, const Vector& b) { a = ((b > a) | (b != b)) ? b : a; }

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
            if (!std::isfinite(most)) {
                for (std::size_t j = 0; j < largest.size(); ++j)
                    if (cells[j] != -k_infinity) largest[j] = k_nan;
                continue;
            }
            std::size_t j = 0;
            for (; largest.size() - j >= k_width; j += k_width) {
                Vector top = read(&largest[j]);
                enlarge_or_nan(top, (read(cells + j) - most) - log_sum);
                write(top, &largest[j]);
            }
            for (; j < largest.size(); ++j) enlarge_or_nan(largest[j], (cells[j] - most) - log_sum);
        }
        for (Eigen::Index q = 0; q < out.cols(); ++q) {
            const Eigen::Index first = q << level,
                               count = std::min(Eigen::Index{1} << level, x.cols() - first);
            const float value = largest_of(largest.data() + first, count);
            out(p, q) = value == -k_infinity ? value : std::exp(value);
        }
    }
}

namespace {

/// sums += e^(x − largest) · factor, column by column; an x above `largest` counts as that.
void add_exponentials(const float* x, float largest, float factor, std::span<float> sums) {
    constexpr Eigen::Index k_cells = k_together * k_width;
    const auto n = static_cast<Eigen::Index>(sums.size());
    const auto nonpositive = [&](Vector cells) {
        cells -= largest;
        return cells > 0.0f ? Vector{} : cells;  // a NaN stays
    };
    Eigen::Index j = 0;
    for (Vector cells[k_together]; n - j >= k_cells; j += k_cells) {
        for (Eigen::Index v = 0; v < k_together; ++v) cells[v] = nonpositive(read(x + j + v * k_width));
        exp_of_nonpositive(cells);
        for (Eigen::Index v = 0; v < k_together; ++v) {
            float* const to = sums.data() + j + v * k_width;
            write(read(to) + cells[v] * factor, to);
        }
    }
    for (Lanes cells, total; j < n; j += k_lanes) {
        load(x, j, n, cells);
        load(sums.data(), j, n, total);
        for (Vector& part : cells.parts) part = nonpositive(part);
        exp_of_nonpositive(cells.parts);
        for (Eigen::Index part = 0; part < k_parts; ++part) total.parts[part] += cells.parts[part] * factor;
        store(total, j, n, sums.data());
    }
}

}  // namespace

void sums_of_weights(std::span<const RowSum> rows, ConstMatrixView x, int level, MatrixView out) {
    std::vector<float> sums(static_cast<std::size_t>(x.cols()));
    for (Eigen::Index p = 0; p < out.rows(); ++p) {
        std::ranges::fill(sums, 0);
        for (Eigen::Index i = p << level; i < std::min((p + 1) << level, x.rows()); ++i) {
            const RowSum& row = rows[static_cast<std::size_t>(i)];
            const float* const cells = x.row(i).data();
            if (std::isfinite(row.largest)) {
                add_exponentials(cells, row.largest, static_cast<float>(1 / (row.sum * k_exp_scale)), sums);
                continue;
            }
            for (std::size_t j = 0; j < sums.size(); ++j)
                if (cells[j] != -k_infinity) sums[j] = k_nan;
        }
        for (Eigen::Index q = 0; q < out.cols(); ++q) {
            const Eigen::Index first = q << level,
                               count = std::min(Eigen::Index{1} << level, x.cols() - first);
            out(p, q) = std::accumulate(sums.data() + first, sums.data() + first + count, 0.0f);
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

void add_open(std::span<const float> x, std::span<float> sums, std::span<float> counts) {
    const auto n = static_cast<Eigen::Index>(x.size());
    Eigen::Index j = 0;
    for (; n - j >= k_width; j += k_width) {  // GCC compiles a loop over single numbers to branches
        const Vector cells = read(x.data() + j);
        const auto is_open = cells != -k_infinity;
        write(read(sums.data() + j) + (is_open ? cells : Vector{}), sums.data() + j);
        write(read(counts.data() + j) + (is_open ? Vector{} + 1.0f : Vector{}), counts.data() + j);
    }
    for (auto i = static_cast<std::size_t>(j); i < x.size(); ++i) {
        if (x[i] == -k_infinity) continue;
        sums[i] += x[i];
        ++counts[i];
    }
}

void widen(std::span<const float> x, std::span<float> largest, std::span<float> smallest) {
    std::size_t j = 0;
    for (; x.size() - j >= k_width; j += k_width) {
        const Vector cells = read(&x[j]);
        Vector top = read(&largest[j]);
        enlarge_or_nan(top, cells);
        write(top, &largest[j]);
        const Vector low = read(&smallest[j]), open = cells == -k_infinity ? Vector{} + k_infinity : cells;
        write(open < low ? open : low, &smallest[j]);
    }
    for (; j < x.size(); ++j) {
        enlarge_or_nan(largest[j], x[j]);
        if (x[j] != -k_infinity && x[j] < smallest[j]) smallest[j] = x[j];
    }
}

}  // namespace attnscope
