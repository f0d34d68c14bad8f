#include <dnnl.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <span>
#include <stdexcept>

#include "core/cpu/kernels.h"
#include "core/cpu/vectors.h"

extern "C" void omp_set_num_threads(int);  // of OpenMP, whose header not every compiler has

namespace attnscope {
namespace {

constexpr Eigen::Index k_few_numbers = 512;
/// Whether B is so small that accumulating in double costs no noticeable time.
bool is_small(const ConstStrided& B) { return B.size() <= k_few_numbers; }

/// Converts a vector's numbers, `apart` from each other, to double; if there are only `count`, the lanes
/// behind repeat the last one.
inline void load_doubles(const float* from, Eigen::Index apart, Eigen::Index count, DoubleVector& to) {
    HalfVector cells;
    if (count >= k_double_width && apart == 1)
        std::memcpy(&cells, from, sizeof cells);
    else if (count >= k_double_width)
        for (Eigen::Index lane = 0; lane < k_double_width; ++lane) cells[lane] = from[lane * apart];
    else
        for (Eigen::Index lane = 0; lane < k_double_width; ++lane)
            cells[lane] = from[std::min(lane, count - 1) * apart];
    to = __builtin_convertvector(cells, DoubleVector);
}

/// Rounds and stores the first `columns` numbers, at most a vector's.
inline void store_rounded(const DoubleVector& from, Eigen::Index columns, float* to) {
    const HalfVector rounded = __builtin_convertvector(from, HalfVector);
    if (columns >= k_double_width) {
        std::memcpy(to, &rounded, sizeof rounded);
    } else {
        float numbers[k_double_width];
        std::memcpy(numbers, &rounded, sizeof numbers);
        copy_few(numbers, columns, to);
    }
}

/// out = A B for a B of at most k_few_numbers numbers, of which row k begins at B + k · down and whose
/// columns are `across` apart. Each sum is taken in double, in the order of k.
void small_product(const ConstStrided& A, const float* B, Eigen::Index down, Eigen::Index across,
                   Strided out) {
    constexpr Eigen::Index k_rows = k_width >= 8 ? 8 : 4;  // as measured
    // Rows 4096 bytes apart would share the same lines of the cache.
    constexpr Eigen::Index k_apart = k_few_numbers + 8;
    const Eigen::Index inner = A.cols(), columns = out.cols(), apart = out.outerStride();
    if (columns == 0) return;
    DoubleVector bands[k_few_numbers];  // of a vector's columns each
    DoubleVector* band = bands;
    for (Eigen::Index j = 0; j < columns; j += k_double_width)
        for (Eigen::Index k = 0; k < inner; ++k)
            load_doubles(B + k * down + j * across, across, std::min(k_double_width, columns - j), *band++);
    double a[k_rows][k_apart];
    for (Eigen::Index i = 0; i < out.rows(); i += k_rows) {
        const Eigen::Index rows = std::min(k_rows, out.rows() - i);
        for (Eigen::Index r = 0; r < k_rows; ++r)
            std::copy_n(A.row(i + std::min(r, rows - 1)).data(), inner, a[r]);
        band = bands;
        for (Eigen::Index j = 0; j < columns; j += k_double_width) {
            DoubleVector sums[k_rows] = {};
            for (Eigen::Index k = 0; k < inner; ++k, ++band)
                for (Eigen::Index r = 0; r < k_rows; ++r) sums[r] += a[r][k] * *band;
            float* const to = &out(i, j);
#pragma GCC unroll 8  // else GCC keeps the sums in memory
            for (Eigen::Index r = 0; r < k_rows; ++r)
                if (r < rows) store_rounded(sums[r], columns - j, to + r * apart);
        }
    }
}

// The fastest product of operands that are not transposed, as measured: narrow_product() up to so many
// columns; oneDNN for more, unless the rows of its right operand crowd in a cache; else Eigen's. oneDNN is
// compiled for all processors, the other two for one.
constexpr Eigen::Index k_tile_rows = 8, k_few_tile_rows = 4, k_least_narrow = 8;
constexpr Eigen::Index k_most_narrow = k_width == 16 ? 128 : k_width == 8 ? 15 : 0;
constexpr Eigen::Index k_least_plain_rows = 32, k_least_plain_columns = k_width == 8 ? 16 : 32;
bool is_narrow(Eigen::Index rows, Eigen::Index columns) {
    return rows >= k_few_tile_rows && columns >= k_least_narrow && columns <= k_most_narrow;
}
bool is_large_plain(Eigen::Index rows, Eigen::Index columns) {
    return rows >= k_least_plain_rows && columns >= k_least_plain_columns;
}
/// Whether oneDNN, which packs rows of B for AVX2 by columns, finds many of them in the same few lines of the
/// cache: where rows begin 512 numbers apart, it then takes half as long again.
bool crowds(const ConstStrided& B) { return k_width == 8 && B.outerStride() % 256 == 0; }

/// Rows i to i + k_rows − 1 of out = A B, in as many columns as `Columns`, a vector, has numbers, from the
/// j-th on.
template <typename Columns, Eigen::Index k_rows>
void product_tile(const ConstStrided& A, const ConstStrided& B, Eigen::Index i, Eigen::Index j,
                  Strided& out) {
    const float *const a = A.data() + i * A.outerStride(), *b = B.data() + j;
    const Eigen::Index a_stride = A.outerStride(), b_stride = B.outerStride(), inner = A.cols();
    Columns sums[k_rows] = {}, row;
    for (Eigen::Index k = 0; k < inner; ++k, b += b_stride) {
        std::memcpy(&row, b, sizeof row);
        for (Eigen::Index r = 0; r < k_rows; ++r) sums[r] += a[r * a_stride + k] * row;
    }
    for (Eigen::Index r = 0; r < k_rows; ++r) std::memcpy(&out(i + r, j), &sums[r], sizeof row);
}

/// out = A B, each sum in the order of k, in tiles that a processor's registers hold. The last tiles overlap
/// the ones before: they write the same numbers again.
template <typename Columns>
void narrow_product_by(const ConstStrided& A, const ConstStrided& B, Strided& out) {
    constexpr Eigen::Index k_columns = sizeof(Columns) / sizeof(float);
    const Eigen::Index rows = out.rows();
    for (Eigen::Index j = 0; j < out.cols(); j += k_columns) {
        const Eigen::Index column = std::min(j, out.cols() - k_columns);
        Eigen::Index i = 0;
        for (; rows >= k_tile_rows && rows - i > k_few_tile_rows; i += k_tile_rows)
            product_tile<Columns, k_tile_rows>(A, B, std::min(i, rows - k_tile_rows), column, out);
        for (; i < rows; i += k_few_tile_rows)
            product_tile<Columns, k_few_tile_rows>(A, B, std::min(i, rows - k_few_tile_rows), column, out);
    }
}

void narrow_product(const ConstStrided& A, const ConstStrided& B, Strided& out) {
    if constexpr (k_least_narrow < k_width)
        if (out.cols() < k_width) return narrow_product_by<HalfVector>(A, B, out);
    narrow_product_by<Vector>(A, B, out);
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

/// out = A Bᵀ by Eigen, some rows of B at a time, so that they stay in a cache. Where A has few rows, each is
/// multiplied on its own: packing B, as a product of matrices does, takes longer than multiplying.
void product_by_parts(const ConstStrided& A, const ConstStrided& B, Strided& out) {
    constexpr Eigen::Index k_few_rows = 8, k_rows_one_by_one = 512, k_packed_rows = 4096;
    const bool one_by_one = A.rows() <= k_few_rows && B.rows() >= k_rows_one_by_one;
    const Eigen::Index most = one_by_one ? k_rows_one_by_one : k_packed_rows;
    for (Eigen::Index first = 0; first < B.rows(); first += most) {
        const Eigen::Index count = std::min(most, B.rows() - first);
        const auto part = B.middleRows(first, count).transpose();
        auto to = out.middleCols(first, count);
        if (one_by_one)
            for (Eigen::Index i = 0; i < A.rows(); ++i) to.row(i).noalias() = A.row(i) * part;
        else
            to.noalias() = A * part;
    }
}

}  // namespace

void product(const ConstStrided& A, const ConstStrided& B, Strided out) {
    if (is_small(B))
        small_product(A, B.data(), B.outerStride(), 1, out);
    else if (is_narrow(out.rows(), out.cols()))
        narrow_product(A, B, out);
    else if (is_large_plain(out.rows(), out.cols()) && !crowds(B))
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
        product_by_parts(A, B, out);
}

bool is_worth_transposing(const ConstStrided& A, const ConstStrided& B) {
    const Eigen::Index rows = A.rows(), columns = B.rows();
    const bool takes_tiles = rows >= k_tile_rows && is_narrow(rows, columns);
    return !is_small(B) && (takes_tiles || is_large_plain(rows, columns));
}

namespace {

/// out = Bᵀ of 4 × 4 numbers.
void transpose_tile(const float* B, Eigen::Index B_stride, float* out, Eigen::Index out_stride) {
    using Four [[gnu::vector_size(16)]] = float;
    Four rows[4], pairs[4], columns[4];
    for (Eigen::Index i = 0; i < 4; ++i) std::memcpy(&rows[i], B + i * B_stride, sizeof(Four));
    for (Eigen::Index i = 0; i < 4; i += 2) {  // of rows a and b: a0 b0 a1 b1, then a2 b2 a3 b3
        pairs[i] = __builtin_shufflevector(rows[i], rows[i + 1], 0, 4, 1, 5);
        pairs[i + 1] = __builtin_shufflevector(rows[i], rows[i + 1], 2, 6, 3, 7);
    }
    for (Eigen::Index i = 0; i < 2; ++i) {
        columns[2 * i] = __builtin_shufflevector(pairs[i], pairs[i + 2], 0, 1, 4, 5);
        columns[2 * i + 1] = __builtin_shufflevector(pairs[i], pairs[i + 2], 2, 3, 6, 7);
    }
    for (Eigen::Index i = 0; i < 4; ++i) std::memcpy(out + i * out_stride, &columns[i], sizeof(Four));
}

}  // namespace

void transpose(const ConstStrided& B, Strided out) {
    constexpr Eigen::Index k_tile = 4, k_side = 16;  // of a square that stays in the cache
    const Eigen::Index B_stride = B.outerStride(), out_stride = out.outerStride();
    const Eigen::Index rows = B.rows() / k_tile * k_tile, columns = B.cols() / k_tile * k_tile;
    for (Eigen::Index j = 0; j < columns; j += k_side)
        for (Eigen::Index i = 0; i < rows; i += k_side)
            for (Eigen::Index y = j; y < std::min(j + k_side, columns); y += k_tile)
                for (Eigen::Index x = i; x < std::min(i + k_side, rows); x += k_tile)
                    transpose_tile(B.data() + x * B_stride + y, B_stride, out.data() + y * out_stride + x,
                                   out_stride);
    const Eigen::Index rest_of_rows = B.rows() - rows, rest_of_columns = B.cols() - columns;
    out.rightCols(rest_of_rows) = B.bottomRows(rest_of_rows).transpose();
    out.bottomRows(rest_of_columns) = B.rightCols(rest_of_columns).transpose();
}

void add_product(const ConstStrided& A, const ConstStrided& B, Strided sum) {
    if (is_large(A, sum) && !crowds(B))
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

void sum_open(ConstMatrixView A, ConstMatrixView closed, const ConstStrided& V, MatrixView out) {
    out.setZero();
    for (Eigen::Index i = 0; i < A.rows(); ++i)
        for (Eigen::Index j = 0; j < A.cols(); ++j)
            if (closed(i, j) != -std::numeric_limits<float>::infinity()) out.row(i) += A(i, j) * V.row(j);
}

bool all_finite(std::span<const float> values) {
    constexpr std::uint32_t k_exponent = 0x7f800000;
    std::uint32_t others = 0;
    for (const float v : values) others |= (std::bit_cast<std::uint32_t>(v) & k_exponent) == k_exponent;
    return others == 0;
}

}  // namespace attnscope
