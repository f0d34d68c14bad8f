#include "core/cpu/kernels.h"

#include <dnnl.h>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>

extern "C" void omp_set_num_threads(int);  // of OpenMP, whose header not every compiler has

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

// The last cells of a row, fewer than k_lanes. Where an instruction reads and writes some lanes of a vector
// it takes a tenth of the time; it gives the same bits.
#ifdef __AVX512F__

inline __mmask16 first(Eigen::Index count) { return static_cast<__mmask16>((1U << count) - 1); }

/// `count` numbers, and −∞ in the lanes after them.
inline void load_few(const float* x, Eigen::Index count, Lanes& cells) {
    cells = _mm512_mask_loadu_ps(_mm512_set1_ps(-k_infinity), first(count), x);
}
/// Stores the first `count` lanes.
inline void store_few(const Lanes& cells, Eigen::Index count, float* out) {
    _mm512_mask_storeu_ps(out, first(count), cells);
}

#else

inline void load_few(const float* x, Eigen::Index count, Lanes& cells) {
    cells = Lanes{} - k_infinity;
    std::memcpy(&cells, x, static_cast<std::size_t>(count) * sizeof(float));
}
inline void store_few(const Lanes& cells, Eigen::Index count, float* out) {
    std::memcpy(out, &cells, static_cast<std::size_t>(count) * sizeof(float));
}

#endif

/// Folds a vector in half, `join(a, b)` making a what both halves give, until one number is left.
template <typename Join>
float folded(const Lanes& lanes, const Join& join) {
    using Half [[gnu::vector_size(32)]] = float;
    using Quarter [[gnu::vector_size(16)]] = float;
    Half halves[2];
    std::memcpy(halves, &lanes, sizeof lanes);
    join(halves[0], halves[1]);
    Quarter quarters[2];
    std::memcpy(quarters, &halves[0], sizeof halves[0]);
    join(quarters[0], quarters[1]);
    float numbers[4];
    std::memcpy(numbers, &quarters[0], sizeof quarters[0]);
    join(numbers[0], numbers[2]);
    join(numbers[1], numbers[3]);
    join(numbers[0], numbers[1]);
    return numbers[0];
}

/// The largest number, or NaN if there is one.
float largest_of(const float* x, Eigen::Index n) {
    const auto enlarge = [](auto& a, const auto& b) { a = ((b > a) | (b != b)) ? b : a; };
    Lanes largest = Lanes{} - k_infinity, cells;
    Eigen::Index j = 0;
    for (; n - j >= k_lanes; j += k_lanes) {
        std::memcpy(&cells, x + j, sizeof cells);
        enlarge(largest, cells);
    }
    if (j < n) {
        load_few(x + j, n - j, cells);
        enlarge(largest, cells);
    }
    return folded(largest, enlarge);
}

/// out = e^(x − largest); returns its sum.
float exp_row(const float* x, float largest, Eigen::Index n, float* out) {
    Lanes sums{}, cells;
    Eigen::Index j = 0;
    for (; n - j >= k_lanes; j += k_lanes) {
        std::memcpy(&cells, x + j, sizeof cells);
        cells -= largest;
        exp_of_nonpositive(cells);
        std::memcpy(out + j, &cells, sizeof cells);
        sums += cells;
    }
    if (j < n) {
        load_few(x + j, n - j, cells);
        cells -= largest;
        exp_of_nonpositive(cells);
        store_few(cells, n - j, out + j);
        sums += cells;
    }
    return folded(sums, [](auto& a, const auto& b) { a += b; });
}

/// The sum of a row, in the order of exp_row().
float sum_of(const float* x, Eigen::Index n) {
    Lanes sums{}, cells;
    Eigen::Index j = 0;
    for (; n - j >= k_lanes; j += k_lanes) {
        std::memcpy(&cells, x + j, sizeof cells);
        sums += cells;
    }
    if (j < n) {
        load_few(x + j, n - j, cells);
        sums += cells == -k_infinity ? Lanes{} : cells;
    }
    return folded(sums, [](auto& a, const auto& b) { a += b; });
}

void softmax_row(const float* x, Eigen::Index n, float* out) {
    const float largest = largest_of(x, n);
    if (!std::isfinite(largest)) {  // −∞: nothing is open
        std::transform(x, x + n, out, [](float v) { return v == -k_infinity ? 0.0f : k_nan; });
    } else {
        const float sum = exp_row(x, largest, n, out);
        for (Eigen::Index j = 0; j < n; ++j) out[j] /= sum;
    }
}

}  // namespace

namespace {

constexpr Eigen::Index k_few_numbers = 512;
/// Whether B is so small that accumulating in double costs no noticeable time.
bool is_small(const ConstStrided& B) { return B.size() <= k_few_numbers; }

/// Numbers in double that are processed together, as Lanes, and what they are in single precision.
using DoubleLanes [[gnu::vector_size(64)]] = double;
using RoundedLanes [[gnu::vector_size(32)]] = float;
constexpr Eigen::Index k_double_lanes = 8;

/// Eight numbers, `apart` from each other: the first `count`, if fewer are there, and zeros after them.
inline void load_doubles(const float* from, Eigen::Index apart, Eigen::Index count, DoubleLanes& to) {
    const auto at = [&](Eigen::Index lane) -> double { return lane < count ? from[lane * apart] : 0; };
    if (count < k_double_lanes) {
        to = DoubleLanes{at(0), at(1), at(2), at(3), at(4), at(5), at(6), 0};
    } else if (apart == 1) {
        RoundedLanes cells;
        std::memcpy(&cells, from, sizeof cells);
        to = __builtin_convertvector(cells, DoubleLanes);
    } else {
        const RoundedLanes cells = {from[0],         from[apart],     from[2 * apart], from[3 * apart],
                                    from[4 * apart], from[5 * apart], from[6 * apart], from[7 * apart]};
        to = __builtin_convertvector(cells, DoubleLanes);
    }
}

/// out = A B for a B of at most k_few_numbers numbers, of which row k begins at B + k · down and whose
/// columns are `across` apart. Each sum is taken in double, in the order of k.
void small_product(const ConstStrided& A, const float* B, Eigen::Index down, Eigen::Index across,
                   Strided out) {
    constexpr Eigen::Index k_rows = 4;
    const Eigen::Index inner = A.cols(), columns = out.cols();
    if (columns == 0) return;
    DoubleLanes bands[k_few_numbers];  // of eight columns each, the last one filled up with zeros
    DoubleLanes* band = bands;
    for (Eigen::Index j = 0; j < columns; j += k_double_lanes)
        for (Eigen::Index k = 0; k < inner; ++k)
            load_doubles(B + k * down + j * across, across, std::min(k_double_lanes, columns - j), *band++);
    double a[k_rows][k_few_numbers];
    for (Eigen::Index i = 0; i < out.rows(); i += k_rows) {
        const Eigen::Index rows = std::min(k_rows, out.rows() - i);
        for (Eigen::Index r = 0; r < k_rows; ++r)
            std::copy_n(A.row(i + std::min(r, rows - 1)).data(), inner, a[r]);
        band = bands;
        for (Eigen::Index j = 0; j < columns; j += k_double_lanes) {
            DoubleLanes sums[k_rows] = {};
            for (Eigen::Index k = 0; k < inner; ++k, ++band)
                for (Eigen::Index r = 0; r < k_rows; ++r) sums[r] += a[r][k] * *band;
            for (Eigen::Index r = 0; r < rows; ++r) {
                const RoundedLanes rounded = __builtin_convertvector(sums[r], RoundedLanes);
                float* const to = &out(i + r, j);
                if (columns - j >= k_double_lanes)
                    std::memcpy(to, &rounded, sizeof rounded);
                else
                    for (Eigen::Index lane = 0; lane < columns - j; ++lane) to[lane] = rounded[lane];
            }
        }
    }
}

/// Whether oneDNN's product is faster than Eigen's, as measured for 64 × 64 results and larger.
bool is_large(const ConstStrided& A, const Strided& out) {
    return out.rows() >= 64 && out.cols() >= 64 && A.size() > 0;
}

enum class Take : char { plain = 'N', transposed = 'T' };

/// out = A B + keep · out by oneDNN, each operand as it is or transposed, on the calling thread alone: tasks
/// are already spread over the cores.
void large_product(Take a, const ConstStrided& A, Take b, const ConstStrided& B, float keep, Strided out) {
    [[maybe_unused]] thread_local const bool is_single = (omp_set_num_threads(1), true);
    const dnnl_dim_t inner = a == Take::plain ? A.cols() : A.rows();
    const dnnl_status_t status =
        dnnl_sgemm(static_cast<char>(a), static_cast<char>(b), out.rows(), out.cols(), inner, 1, A.data(),
                   A.outerStride(), B.data(), B.outerStride(), keep, out.data(), out.outerStride());
    if (status == dnnl_out_of_memory) throw std::bad_alloc();
    if (status != dnnl_success) throw std::logic_error("dnnl_sgemm was called with wrong arguments");
}

/// Whether oneDNN's product of two operands that are not transposed, which it packs in less time, is faster
/// than Eigen's.
constexpr Eigen::Index k_least_plain = 32;
bool is_large_plain(const ConstStrided& A, const Strided& out) {
    return out.rows() >= k_least_plain && out.cols() >= k_least_plain && A.size() > 0;
}

}  // namespace

void product(const ConstStrided& A, const ConstStrided& B, Strided out) {
    if (is_small(B))
        small_product(A, B.data(), B.outerStride(), 1, out);
    else if (is_large_plain(A, out))
        large_product(Take::plain, A, Take::plain, B, 0, out);
    else
        out.noalias() = A * B;
}

void product_transposed(const ConstStrided& A, const ConstStrided& B, Strided out) {
    if (is_small(B))
        small_product(A, B.data(), 1, B.outerStride(), out);
    else if (is_large(A, out))
        large_product(Take::plain, A, Take::transposed, B, 0, out);
    else
        out.noalias() = A * B.transpose();
}

bool is_worth_transposing(const ConstStrided& A, const ConstStrided& B) {
    return !is_small(B) && A.rows() >= k_least_plain && B.rows() >= k_least_plain;
}

void transpose(const ConstStrided& B, Strided out) {
    constexpr Eigen::Index k_side = 16;  // of a square that stays in the cache
    for (Eigen::Index j = 0; j < B.cols(); j += k_side)
        for (Eigen::Index i = 0; i < B.rows(); i += k_side) {
            const Eigen::Index rows = std::min(k_side, B.rows() - i),
                               columns = std::min(k_side, B.cols() - j);
            for (Eigen::Index y = 0; y < columns; ++y)
                for (Eigen::Index x = 0; x < rows; ++x) out(j + y, i + x) = B(i + x, j + y);
        }
}

void add_product(const ConstStrided& A, const ConstStrided& B, Strided sum) {
    if (is_large(A, sum))
        large_product(Take::plain, A, Take::plain, B, 1, sum);
    else
        sum.noalias() += A * B;
}

void add_product_transposed(const ConstStrided& A, const ConstStrided& B, Strided sum) {
    if (is_large(A, sum))
        large_product(Take::plain, A, Take::transposed, B, 1, sum);
    else
        sum.noalias() += A * B.transpose();
}

void add_transposed_product(const ConstStrided& A, const ConstStrided& B, Strided sum) {
    if (is_large(A, sum))
        large_product(Take::transposed, A, Take::plain, B, 1, sum);
    else
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

namespace {

/// Rows of at most so many cells take their exponentials together.
constexpr Eigen::Index k_narrow = 32, k_rows_together = 64;

/// softmax_row() of at most k_rows_together rows, whose exponentials are taken together, so that vectors are
/// full and do not wait for each other; the bits are the same. False, and nothing done, unless the largest
/// cell of each is finite.
bool softmax_narrow_rows(ConstMatrixView x, MatrixView out) {
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
    const Eigen::Index together = x.cols() <= k_narrow ? k_rows_together : 1;
    for (Eigen::Index first = 0; first < x.rows(); first += together) {
        const Eigen::Index count = std::min(together, x.rows() - first);
        const auto rows_of = [&](auto matrix) {
            return decltype(matrix){matrix.row(first).data(), count, matrix.cols()};
        };
        if (together > 1 && softmax_narrow_rows(rows_of(x), rows_of(out))) continue;
        for (Eigen::Index i = first; i < first + count; ++i)
            softmax_row(x.row(i).data(), x.cols(), out.row(i).data());
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
        if (count - j >= k_lanes)
            std::memcpy(&cells, x + j, sizeof cells);
        else
            load_few(x + j, count - j, cells);
        cells -= largest;
        exp_of_nonpositive(cells);
        total += cells;
    }
    sum = folded(total, [](auto& a, const auto& b) { a += b; });
    for (Eigen::Index j = 0; j < count; ++j)
        if (x[j] != -k_infinity) smallest = std::min(smallest, x[j]);
}

/// Groups of k_vectors · 16 cells, all of which are finite; false, and nothing written that counts, if not.
template <int k_vectors>
bool softmax_finite_groups(const float* x, Eigen::Index groups, float* largest, float* sums,
                           float& smallest) {
    const auto enlarge = [](auto& a, const auto& b) { a = b > a ? b : a; };
    const auto lessen = [](auto& a, const auto& b) { a = b < a ? b : a; };
    const auto add = [](auto& a, const auto& b) { a += b; };
    Lanes low = Lanes{} + k_infinity, check{};
    for (Eigen::Index g = 0; g < groups; ++g) {
        Lanes cells[k_vectors];
        std::memcpy(cells, x + g * k_vectors * k_lanes, sizeof cells);
        Lanes top = cells[0], total{};
        for (const Lanes& each : cells) {
            enlarge(top, each);
            lessen(low, each);
            check += each * 0.0f;  // NaN unless it is finite
        }
        largest[g] = folded(top, enlarge);
        for (Lanes& each : cells) {
            each -= largest[g];
            exp_of_nonpositive(each);
            total += each;
        }
        sums[g] = folded(total, add);
    }
    if (folded(check, add) != 0) return false;
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
