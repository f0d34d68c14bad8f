#include "core/cpu/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <random>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "core/cpu/row_blocks.h"
#include "tests/special_numbers.h"

namespace attnscope {
namespace {

using namespace test;

// Sizes on either side of every cut: one cell, primes, the lanes of a vector, the rows of a block.
const std::vector<int> k_odd_sizes = {1, 2, 3, 7, 15, 16, 17, 31, 63, 64, 65, 131};

Matrix random_matrix(int rows, int columns, unsigned seed, float deviation = 1) {
    std::mt19937 engine(seed);
    std::normal_distribution<float> normal(0, deviation);
    Matrix matrix(rows, columns);
    for (Eigen::Index i = 0; i < matrix.size(); ++i) matrix.data()[i] = normal(engine);
    return matrix;
}

MatrixView view(Matrix& matrix) { return {matrix.data(), matrix.rows(), matrix.cols()}; }
ConstMatrixView const_view(const Matrix& matrix) { return {matrix.data(), matrix.rows(), matrix.cols()}; }

bool same_bits(const Matrix& a, const Matrix& b) {
    return a.rows() == b.rows() && a.cols() == b.cols() &&
           (a.size() == 0 ||  // no data, which memcmp() must not be asked for
            std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(float)) == 0);
}

/// |out − A B| ≤ k · 2⁻²⁴ · Σ |a b|, cell by cell: the bound of a sum of k products rounded in any order
/// (Higham, Accuracy and Stability, §3.1), with one more rounding.
void expect_product(const Matrix& A, const Matrix& B, const Matrix& out) {
    const auto k = static_cast<double>(A.cols());
    for (Eigen::Index i = 0; i < A.rows(); ++i)
        for (Eigen::Index j = 0; j < B.cols(); ++j) {
            double sum = 0, magnitude = 0;
            for (Eigen::Index l = 0; l < A.cols(); ++l) {
                const double term = static_cast<double>(A(i, l)) * static_cast<double>(B(l, j));
                sum += term;
                magnitude += std::abs(term);
            }
            ASSERT_LE(std::abs(static_cast<double>(out(i, j)) - sum), (k + 1) * 0x1p-24 * magnitude)
                << A.rows() << " × " << A.cols() << " × " << B.cols() << " at " << i << ", " << j;
        }
}

Matrix softmax(const Matrix& x) {
    Matrix out(x.rows(), x.cols());
    softmax_rows(const_view(x), view(out));
    return out;
}

TEST(KernelsTest, AProductOfAnyShapeIsTheSumOfProducts) {
    const auto expect_both = [](int n, int k, int m) {
        const Matrix A = random_matrix(n, k, 1), B = random_matrix(k, m, 2);
        const Matrix transposed = B.transpose();
        Matrix out = Matrix::Constant(n, m, k_nan);
        product(A, B, out);
        expect_product(A, B, out);
        out.setConstant(k_nan);
        product_transposed(A, transposed, out);
        expect_product(A, B, out);
    };
    for (const int n : k_odd_sizes)
        for (const int k : k_odd_sizes)
            for (const int m : {1, 3, 16, 65}) expect_both(n, k, m);
    for (const int n : {1, 64, 131})
        for (const int m : {255, 256, 257, 600}) expect_both(n, 17, m);
    for (const int n : {2, 4, 8, 9})  // a few rows by parts of many
        for (const int m : {511, 512, 513, 1100, 4097}) expect_both(n, 33, m);
}

// Tiles of 8 and 4 rows, and of 16 and 8 columns, of which the last overlap others, among columns of wider
// matrices.
TEST(KernelsTest, AProductOfFewColumnsIsTheSumOfProductsAndNothingElseIsWritten) {
    for (const int n : {3, 4, 5, 7, 8, 9, 11, 12, 13, 16, 17, 31, 32, 33})
        for (const int m : {8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 127, 128, 129, 256, 257}) {
            const Matrix A = random_matrix(n, 80, 1), B = random_matrix(73, m + 5, 2);
            Matrix out = Matrix::Constant(n + 2, m + 4, 7);
            product(A.middleCols(3, 73), B.middleCols(1, m), out.block(1, 2, n, m));
            expect_product(A.middleCols(3, 73), B.middleCols(1, m), out.block(1, 2, n, m));
            EXPECT_EQ((out.array() == 7).count(), out.size() - Eigen::Index{n} * m) << n << " " << m;
        }
}

// Rows that begin a multiple of 256 numbers apart, and those of a copy that avoids it.
TEST(KernelsTest, AProductIsTheSameHoweverFarRowsAreApart) {
    for (const int m : {64, 200, 300})
        for (const int apart : {512, 528}) {
            const Matrix A = random_matrix(65, 70, 1), wide = random_matrix(70, apart, 2);
            const auto B = wide.leftCols(m);
            Matrix out(65, m), sum = Matrix::Ones(65, m);
            product(A, B, out);
            expect_product(A, B, out);
            add_product(A, B, sum);
            expect_product(A, B, (sum.array() - 1).matrix());
        }
}

TEST(KernelsTest, ATransposedMatrixIsOfTheSameNumbers) {
    for (const int n : k_odd_sizes)
        for (const int m : {0, 1, 3, 6, 16, 65, 300}) {
            const Matrix whole = random_matrix(n, m + 7, 1);
            Matrix result = Matrix::Constant(m + 2, n + 3, 7);
            transpose(whole.middleCols(3, m), result.block(1, 2, m, n));
            EXPECT_TRUE(same_bits(result.block(1, 2, m, n), whole.middleCols(3, m).transpose()))
                << n << " " << m;
            result.block(1, 2, m, n).setConstant(7);
            EXPECT_EQ(result, Matrix::Constant(m + 2, n + 3, 7)) << n << " " << m;
        }
}

TEST(KernelsTest, AProductWithFewNumbersOnTheRightIsRoundedOnce) {
    for (const int n : {1, 3, 4, 5, 8, 33})
        for (const auto& [k, m] :
             {std::pair(1, 1), {1, 512}, {512, 1}, {7, 9}, {8, 32}, {32, 8}, {16, 16}, {73, 7}}) {
            const Matrix A = random_matrix(n, k, 1), B = random_matrix(k, m, 2), transposed = B.transpose();
            Matrix out(n, m), out2(n, m);
            product(A, B, out);
            product_transposed(A, transposed, out2);
            EXPECT_TRUE(same_bits(out, out2)) << n << " " << k << " " << m;
            const Eigen::MatrixXd sums = A.cast<double>() * B.cast<double>();
            const Eigen::MatrixXd magnitudes = A.cwiseAbs().cast<double>() * B.cwiseAbs().cast<double>();
            for (int i = 0; i < n; ++i)
                for (int j = 0; j < m; ++j)
                    // Half a unit in the last place, and what the sum in double is off by.
                    ASSERT_LE(std::abs(static_cast<double>(out(i, j)) - sums(i, j)),
                              0x1p-24 * std::abs(sums(i, j)) + 2 * k * 0x1p-53 * magnitudes(i, j))
                        << n << " " << k << " " << m;
        }
    Matrix none(5, 0);
    product(random_matrix(5, 3000, 1), Matrix(3000, 0), none);
    Matrix zeros = Matrix::Constant(5, 3, k_nan);
    product(Matrix(5, 0), Matrix(0, 3), zeros);
    EXPECT_EQ(zeros, Matrix::Zero(5, 3));
}

TEST(KernelsTest, ColumnsOfAWiderMatrixGiveWhatACopyOfThemGivesAndNothingElseIsWritten) {
    for (const int n : {1, 8, 63, 65}) {
        const Matrix Q = random_matrix(n, 48, 1), K = random_matrix(n, 48, 2), V = random_matrix(n, 48, 3);
        const Matrix Q2 = Q.middleCols(16, 16), K2 = K.middleCols(16, 16), V2 = V.middleCols(16, 16);
        Matrix scores(n, n), scores2(n, n), context = Matrix::Constant(n, 48, 7), context2(n, 16);
        product_transposed(Q.middleCols(16, 16), K.middleCols(16, 16), scores);
        product_transposed(Q2, K2, scores2);
        EXPECT_TRUE(same_bits(scores, scores2)) << n;
        product(scores, V.middleCols(16, 16), context.middleCols(16, 16));
        product(scores, V2, context2);
        EXPECT_TRUE(same_bits(context.middleCols(16, 16), context2)) << n;
        EXPECT_TRUE((context.leftCols(16).array() == 7).all() && (context.rightCols(16).array() == 7).all());
    }
}

TEST(KernelsTest, ScalingMultipliesAndThenDivides) {
    const Matrix x = random_matrix(5, 17, 1);
    Matrix out = x;
    scale_rows(const_view(x), 0.3f, 0.7f, view(out));
    for (Eigen::Index i = 0; i < x.size(); ++i) EXPECT_EQ(out.data()[i], x.data()[i] * 0.3f / 0.7f);
}

TEST(KernelsTest, MaskingWritesMinusInfinityWhereItIsClosedAndLeavesTheRest) {
    Matrix x = random_matrix(3, 17, 1), open = Matrix::Ones(3, 17), out = x;
    x(1, 4) = k_nan;
    open(1, 4) = open(2, 16) = 0;
    mask_rows(const_view(x), const_view(open), view(out));
    for (Eigen::Index i = 0; i < x.size(); ++i)
        EXPECT_EQ(out.data()[i], open.data()[i] != 0 ? x.data()[i] : -k_infinity);
}

TEST(KernelsTest, ASoftmaxIsNearTheTruthAndItsRowsSumToOne) {
    for (const int n : k_odd_sizes)
        for (const float deviation : {1e-6f, 1.0f, 30.0f, 1e4f}) {
            const Matrix x = random_matrix(4, n, 1, deviation);
            const Matrix weights = softmax(x);
            for (int i = 0; i < 4; ++i) {
                const double largest = x.row(i).maxCoeff();
                double sum = 0;
                for (int j = 0; j < n; ++j) sum += std::exp(static_cast<double>(x(i, j)) - largest);
                for (int j = 0; j < n; ++j)
                    // x − max is rounded once: at most 2⁻²⁴ · 104 of a cell that is not 0, less of a large
                    // one.
                    EXPECT_NEAR(weights(i, j), std::exp(static_cast<double>(x(i, j)) - largest) / sum, 5e-7);
                // n roundings of cells that sum to 1.
                EXPECT_NEAR(weights.row(i).cast<double>().sum(), 1, 5e-7) << n << " " << deviation;
            }
        }
}

/// How far the next larger float is from a positive number.
double ulp_of(double number) {
    const auto rounded = static_cast<float>(number);
    return static_cast<double>(std::nextafter(rounded, k_infinity)) - static_cast<double>(rounded);
}

TEST(KernelsTest, TinyWeightsAreRightDownToTheSmallestNumber) {
    for (float x = -20; x > -110; x -= 0.0037f) {
        Matrix row(1, 2);
        row << 0, x;
        const double truth = std::exp(static_cast<double>(x));
        ASSERT_NEAR(softmax(row)(0, 1), truth, 1.01 * ulp_of(truth)) << x;
    }
}

TEST(KernelsTest, ExponentialsAreRightToTheLastDigit) {
    // The five that are off by most of all floats.
    std::vector<float> x = {-5.19790077f, -16.2886066f, -27.3791351f, -59.9189835f, -59.9218788f}, out;
    for (float each = 0; each > -110; each -= 0.0037f) x.push_back(each);
    out = x;
    exponentials(out, 0);
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double truth = std::exp(static_cast<double>(x[i]));
        ASSERT_NEAR(out[i], truth, 1.01 * ulp_of(truth)) << x[i];
    }
    std::vector<float> ends = {3, -k_infinity, -101.1f, 2};
    exponentials(ends, 3);  // which is subtracted
    EXPECT_EQ(ends[0], 1);
    EXPECT_EQ(ends[1], 0);
    EXPECT_EQ(ends[2], 0);
    EXPECT_FLOAT_EQ(ends[3], std::exp(-1.0f));
}

TEST(KernelsTest, EqualScoresShareTheWeightEquallyAndASingleOpenCellTakesAllOfIt) {
    for (const int n : k_odd_sizes) {
        EXPECT_EQ(softmax(Matrix::Constant(1, n, -3)), Matrix::Constant(1, n, 1 / static_cast<float>(n)));
        Matrix one = Matrix::Constant(1, n, -k_infinity);
        one(0, n / 2) = -1e30f;
        Matrix expected = Matrix::Zero(1, n);
        expected(0, n / 2) = 1;
        EXPECT_TRUE(same_bits(softmax(one), expected)) << n;
    }
}

TEST(KernelsTest, AFullyMaskedRowIsAllZeros) {
    for (const int n : k_odd_sizes)
        EXPECT_TRUE(same_bits(softmax(Matrix::Constant(2, n, -k_infinity)), Matrix::Zero(2, n))) << n;
}

TEST(KernelsTest, ClosedCellsWeighExactlyZeroAndChangeNothingForTheOthers) {
    for (const int n : k_odd_sizes) {
        Matrix x = random_matrix(3, 2 * n, 5, 4);
        x.rightCols(n).setConstant(-k_infinity);
        const Matrix weights = softmax(x);
        EXPECT_TRUE(same_bits(weights.rightCols(n), Matrix::Zero(3, n))) << n;
        EXPECT_TRUE(same_bits(weights.leftCols(n), softmax(x.leftCols(n)))) << n;
        for (int i = 0; i < 3; ++i) EXPECT_NEAR(weights.row(i).cast<double>().sum(), 1, 5e-7) << n;
    }
}

TEST(KernelsTest, ANanOrPlusInfinityMakesTheOpenCellsOfItsRowNanAndNoOthers) {
    for (const int n : {2, 16, 17, 65})
        for (const float bad : {k_nan, k_infinity})
            for (const int at : {0, n / 2, n - 1}) {
                Matrix x = random_matrix(3, n + 1, 1);
                x.col(n).setConstant(-k_infinity);
                const Matrix clean = softmax(x);
                x(1, at) = bad;
                const Matrix weights = softmax(x);
                for (const int row : {0, 2}) EXPECT_TRUE(same_bits(weights.row(row), clean.row(row)));
                EXPECT_TRUE(weights.row(1).head(n).array().isNaN().all()) << n << " " << bad << " " << at;
                EXPECT_TRUE(same_bits(weights.col(n), Matrix::Zero(3, 1)));
            }
}

TEST(KernelsTest, ScoresAtTheEndsOfTheRangeGiveNoNan) {
    const float huge = std::numeric_limits<float>::max();
    Matrix x(1, 4);
    x << huge, -huge, 0, huge;
    Matrix expected(1, 4);
    expected << 0.5f, 0, 0, 0.5f;
    EXPECT_TRUE(same_bits(softmax(x), expected));
}

TEST(KernelsTest, ASoftmaxDependsOnItsRowAloneWhereverItLiesAndWorksInPlace) {
    const int n = 37;
    const Matrix row = random_matrix(1, n, 9, 3);
    const Matrix alone = softmax(row);
    std::vector<float> memory(static_cast<std::size_t>(n) + 32);
    for (std::size_t offset = 0; offset < 32; ++offset) {
        std::copy_n(row.data(), n, memory.begin() + static_cast<std::ptrdiff_t>(offset));
        float* const at = memory.data() + offset;
        softmax_rows({at, 1, n}, {at, 1, n});
        EXPECT_EQ(std::memcmp(at, alone.data(), n * sizeof(float)), 0) << offset;
    }
}

TEST(KernelsTest, ARowsSoftmaxIsTheSameAmongOthersAsAloneAndInPlace) {
    for (const int n : {1, 5, 8, 16, 17, 31, 32, 33, 40, 48, 63, 64, 65, 79, 80, 129, 200})
        for (const bool finite : {true, false}) {
            Matrix x = random_matrix(150, n, 3, 4);
            for (int i = 0; i < 150; i += 4) x(i, i % n) = -k_infinity;
            for (const int i : {0, 70, 71, 149})
                if (!finite) x.row(i).setConstant(i == 70 ? k_nan : i == 71 ? -k_infinity : k_infinity);
            const Matrix together = softmax(x);
            Matrix in_place = x;
            softmax_rows(const_view(in_place), view(in_place));
            EXPECT_TRUE(same_bits(in_place, together)) << n;
            for (int i = 0; i < 150; ++i) {
                const Matrix row = x.row(i);
                EXPECT_TRUE(same_bits(softmax(row), together.row(i))) << n << " " << i;
            }
        }
}

TEST(KernelsTest, ARowIsAddedInSixteenPartsOnEveryMachine) {
    for (const int n : {1, 8, 15, 16, 17, 32, 33, 63, 64, 65, 100, 128, 300}) {
        const Matrix x = random_matrix(1, n, 4, 3);
        Matrix expected = x;
        exponentials({expected.data(), static_cast<std::size_t>(n)}, x.maxCoeff());
        float parts[16] = {};
        for (int j = 0; j < n; ++j) parts[j % 16] += expected(0, j);
        for (int half = 8; half > 0; half /= 2)
            for (int j = 0; j < half; ++j) parts[j] += parts[j + half];
        for (int j = 0; j < n; ++j) expected(0, j) /= parts[0];
        EXPECT_TRUE(same_bits(softmax(x), expected)) << n;
    }
}

TEST(KernelsTest, LargeNumbersBesideAClosedCellAreNoNan) {
    Matrix x = Matrix::Zero(1, 48);
    x(0, 0) = x(0, 16) = std::numeric_limits<float>::max();
    x(0, 32) = -k_infinity;
    Matrix expected = Matrix::Zero(1, 48);
    expected(0, 0) = expected(0, 16) = 0.5f;
    EXPECT_TRUE(same_bits(softmax(x), expected));
}

TEST(KernelsTest, ASoftmaxOfNoRowsOrOfNoColumnsWritesNothing) {
    float untouched = 7;
    for (const auto& [rows, columns] : {std::pair(0, 5), {0, 40}, {3, 0}})
        softmax_rows({&untouched, rows, columns}, {&untouched, rows, columns});
    EXPECT_EQ(untouched, 7);
}

// Long rows are computed side by side: whatever is beside a row, its weights are those of the row alone.
TEST(KernelsTest, ARowAmongFewOthersThatAreNotFiniteIsAsAlone) {
    const float kinds[] = {0, -k_infinity, k_infinity, k_nan};  // what a cell of the row, or all of it, is
    for (const int n : {33, 64, 65, 130})
        for (int rows = 1, patterns = 4; rows <= 5; ++rows, patterns *= 4)
            for (int pattern = 0; pattern < patterns; ++pattern) {
                Matrix x = random_matrix(rows, n, 7);
                for (int i = 0, rest = pattern; i < rows; ++i, rest /= 4) {
                    const float kind = kinds[rest % 4];
                    if (kind == -k_infinity) x.row(i).setConstant(kind);
                    if (kind != 0) x(i, n - 1) = kind;
                    x(i, 0) = -k_infinity;
                }
                Matrix in_place = x;
                softmax_rows(const_view(in_place), view(in_place));
                const Matrix weights = softmax(x);
                ASSERT_TRUE(same_bits(weights, in_place)) << n << " " << rows << " " << pattern;
                for (int i = 0; i < rows; ++i)
                    ASSERT_TRUE(same_bits(weights.row(i), softmax(x.row(i))))
                        << n << " " << rows << " " << pattern << " " << i;
            }
}

TEST(KernelsTest, CellsOfKnownSumsAreExactWhereTheyAreClosedOrTheLargest) {
    for (const int n : {1, 16, 37, 200}) {
        Matrix x = random_matrix(4, n, 5);
        x.row(0).setConstant(1e9f);  // one ulp below: 64
        x.row(1).setConstant(-k_infinity);
        x(2, n / 2) = x(3, n - 1) = -k_infinity;
        const std::vector<RowSum> rows = {
            {1e9f - 64, 1}, {-k_infinity, 0}, {x.row(2).maxCoeff(), 1}, {k_nan, k_nan}};
        Matrix cells = x;
        softmax_cells(rows, view(cells));
        EXPECT_EQ(cells.row(0), Matrix::Ones(1, n));
        EXPECT_TRUE(same_bits(cells.row(1), Matrix::Zero(1, n)));
        EXPECT_EQ(cells(2, n / 2), 0);
        EXPECT_TRUE(cells.row(3).head(n - 1).array().isNaN().all());
        EXPECT_EQ(cells(3, n - 1), 0);
    }
}

// Rows that are read in parts: the sums of groups, joined, make each part's cells those of the whole row.
TEST(KernelsTest, GroupsOfARowGiveTheSoftmaxOfTheWhole) {
    for (const int group : {16, 32, 48, 64})
        for (const int n : {16, 37, 64, 96, 112, 200})
            for (const bool finite : {true, false}) {
                Matrix x = random_matrix(9, n, 5, 3);
                if (!finite) x.row(4).setConstant(-k_infinity);
                if (!finite) x(2, n / 2) = -k_infinity;
                const int groups = (n + group - 1) / group;
                Matrix largest(9, groups), sums(9, groups), cells = x;
                std::vector<float> smallest(9, k_infinity);
                softmax_groups(const_view(x), group, largest, sums, smallest);
                std::vector<RowSum> rows(9);
                for (std::size_t i = 0; i < rows.size(); ++i)
                    for (int g = 0; g < groups; ++g)
                        rows[i].add(largest(static_cast<int>(i), g),
                                    static_cast<double>(sums(static_cast<int>(i), g)));
                softmax_cells(rows, view(cells));
                const Matrix whole = softmax(x);
                // Sums of groups are rounded, then joined: a few units in the last place.
                EXPECT_LE((cells - whole).cwiseAbs().maxCoeff(), 8 * 0x1p-24f) << group << " " << n;
                for (int i = 0; i < 9; ++i) {
                    float least = k_infinity;
                    for (int j = 0; j < n; ++j)
                        if (x(i, j) != -k_infinity) least = std::min(least, x(i, j));
                    EXPECT_EQ(smallest[static_cast<std::size_t>(i)], least) << group << " " << n << " " << i;
                }
            }
}

// Rows whose sums are known: open, partly closed, closed, with a score rounded up since, with a NaN that was
// none before, and with one that was.
TEST(KernelsTest, BlocksOfWeightsAreSummedAndTheStrongestFound) {
    for (const int n : {1, 7, 16, 33, 100})
        for (const int level : {1, 2, 4}) {
            constexpr int k_rows = 19;  // the last block of two and four rows is cut off
            Matrix x = random_matrix(k_rows, n, 5, 3);
            for (int j = 0; j < n; j += 3) x(5, j) = -k_infinity;
            x.middleRows(6, 2).setConstant(-k_infinity);
            const Matrix weights = softmax(x);
            std::vector<RowSum> rows(k_rows);
            for (int i = 0; i < k_rows; ++i) {
                const float largest = x.row(i).maxCoeff();
                if (largest != -k_infinity)
                    rows[static_cast<std::size_t>(i)].add(
                        largest, (x.row(i).array() - largest).cast<double>().exp().sum());
            }
            Eigen::Index j = 0;
            x.row(2).maxCoeff(&j);
            x(2, j) = std::nextafter(x(2, j), k_infinity);
            x(8, 0) = k_nan;
            x(12, n - 1) = k_nan;
            rows[12].largest = k_nan;  // all of the row is NaN
            const int blocks = ((n - 1) >> level) + 1, bands = ((k_rows - 1) >> level) + 1, side = 1 << level;
            Matrix sums(bands, blocks), strongest(bands, blocks);
            sums_of_weights(rows, const_view(x), level, view(sums));
            strongest_weights(rows, const_view(x), level, view(strongest));
            for (int p = 0; p < bands; ++p)
                for (int q = 0; q < blocks; ++q) {
                    SCOPED_TRACE(testing::Message()
                                 << n << " columns, level " << level << ": " << p << " " << q);
                    const int i = p << level, first = q << level;
                    const auto block =
                        weights.block(i, first, std::min(side, k_rows - i), std::min(side, n - first));
                    const auto holds = [&](int row) { return i <= row && row < i + side; };
                    if (holds(12) || (holds(8) && q == 0)) {
                        EXPECT_TRUE(std::isnan(sums(p, q)) && std::isnan(strongest(p, q)));
                        continue;
                    }
                    const bool closed =
                        x.block(i, first, block.rows(), block.cols()).maxCoeff() == -k_infinity;
                    // Exponentials, their sum and the quotient are each rounded.
                    EXPECT_NEAR(sums(p, q), block.cast<double>().sum(), side * 4 * 0x1p-24);
                    if (closed)
                        EXPECT_EQ(strongest(p, q), -k_infinity);
                    else
                        EXPECT_NEAR(strongest(p, q), block.maxCoeff(), 16 * 0x1p-24);
                }
        }
}

TEST(KernelsTest, ColumnsArePooledFromTheirOpenCells) {
    for (const int n : k_odd_sizes) {
        Matrix x = random_matrix(7, n, 6, 3);
        for (int j = 0; j < n; j += 2) x(j % 7, j) = -k_infinity;
        if (n > 2) x.col(n / 2).setConstant(-k_infinity);
        x(3, n - 1) = k_nan;
        const auto columns = static_cast<std::size_t>(n);
        std::vector<float> sums(columns), counts(columns), largest(columns, -k_infinity),
            smallest(columns, k_infinity);
        for (int i = 0; i < 7; ++i) {
            const std::span<const float> row(x.row(i).data(), columns);
            add_open(row, sums, counts);
            widen(row, largest, smallest);
        }
        for (int j = 0; j < n; ++j) {
            SCOPED_TRACE(testing::Message() << n << " columns, " << j);
            float sum = 0, count = 0, most = -k_infinity, least = k_infinity;
            for (const float cell : x.col(j)) {
                if (cell == -k_infinity) continue;
                sum += cell;
                ++count;
                most = std::max(most, cell);
                least = std::min(least, cell);
            }
            const auto at = static_cast<std::size_t>(j);
            EXPECT_EQ(counts[at], count);
            if (j == n - 1) {
                EXPECT_TRUE(std::isnan(sums[at]) && std::isnan(largest[at]));
                continue;
            }
            EXPECT_EQ(sums[at], sum);
            EXPECT_EQ(largest[at], most);
            EXPECT_EQ(smallest[at], least);
        }
    }
}

TEST(KernelsTest, ASumOverOpenCellsTakesNothingFromClosedOnes) {
    Matrix A(2, 3), closed(2, 3), V(3, 2), out(2, 2);
    A << 0.25f, 0.75f, 0, 0, 0, 0;
    closed << 1, 2, -k_infinity, -k_infinity, -k_infinity, -k_infinity;
    V << 4, 8, -4, 12, k_nan, k_infinity;
    Matrix expected(2, 2);
    expected << -2, 11, 0, 0;
    sum_open(const_view(A), const_view(closed), V, view(out));
    EXPECT_EQ(out, expected);
}

TEST(KernelsTest, ASingleValueThatIsNotFiniteIsFoundWhereverItIs) {
    for (const int n : k_odd_sizes)
        for (const float bad : {k_nan, -k_nan, k_infinity, -k_infinity})
            for (int at = 0; at < n; ++at) {
                std::vector<float> values(static_cast<std::size_t>(n), std::numeric_limits<float>::max());
                EXPECT_TRUE(all_finite(values));
                values[static_cast<std::size_t>(at)] = bad;
                EXPECT_FALSE(all_finite(values));
            }
}

TEST(RowBlocksTest, EveryRowOfEveryHeadIsVisitedOnce) {
    for (const int heads : {1, 3, 8})
        for (const int rows : k_odd_sizes)
            for (const double work : {1.0, 1e7}) {
                Matrix visits = Matrix::Zero(heads, rows);
                std::mutex mutex;
                for_row_blocks({heads, rows, work}, [&](const RowBlock& block) {
                    const std::scoped_lock lock(mutex);
                    visits.row(block.head).segment(block.first, block.count).array() += 1;
                });
                EXPECT_EQ(visits, Matrix::Ones(heads, rows)) << heads << " " << rows;
            }
}

TEST(RowBlocksTest, SmallWorkStaysOnTheCallingThread) {
    EXPECT_FALSE((RowLoop{8, 32, 32 * 8}).is_worth_threads());
    EXPECT_TRUE((RowLoop{8, 512, 512 * 64}).is_worth_threads());
}

TEST(RowBlocksTest, WhatTheWorkThrowsIsThrown) {
    for (const double work : {1.0, 1e7})
        EXPECT_THROW(for_row_blocks({4, 100, work},
                                    [](const RowBlock& block) {
                                        if (block.head == 3) throw std::runtime_error("no");
                                    }),
                     std::runtime_error);
}

TEST(RowBlocksTest, OnceCanceledNoFurtherBlockIsStarted) {
    for (const double work : {1.0, 1e7}) {
        std::stop_source stop;
        std::mutex mutex;
        int visited = 0;
        const RowLoop loop{.heads = 64, .rows = 2048, .work_per_row = work, .cancel = stop.get_token()};
        EXPECT_THROW(for_row_blocks(loop,
                                    [&](const RowBlock&) {
                                        const std::scoped_lock lock(mutex);
                                        if (++visited == 3) stop.request_stop();
                                    }),
                     Canceled);
        // Of 2048 blocks; another thread may have started one more before it was canceled.
        const auto threads = static_cast<int>(std::thread::hardware_concurrency());
        EXPECT_GE(visited, 3);
        EXPECT_LT(visited, 3 + std::max(threads, 1)) << work;
    }
}

/// Scores, softmax and context of every head, on so many threads.
Matrix attend(const Tensor& Q, const Tensor& K, const Tensor& V, int threads) {
    const Shape shape = Q.shape();
    Tensor weights({shape.heads, shape.rows, shape.rows}), context(shape);
    with_threads(threads, [&] {
        for_row_blocks({shape.heads, shape.rows, 1e6}, [&](const RowBlock& block) {
            MatrixView rows = block.of(weights.head(block.head));
            product_transposed(block.of(Q.head(block.head)), K.head(block.head), rows);
            softmax_rows({rows.data(), rows.rows(), rows.cols()}, rows);
            product(rows, V.head(block.head), block.of(context.head(block.head)));
        });
    });
    return Eigen::Map<Matrix>(context.values().data(), 1, static_cast<Eigen::Index>(shape.size()));
}

TEST(RowBlocksTest, TheResultIsTheSameToTheBitForAnyNumberOfThreads) {
    for (const int rows : {63, 64, 65, 257}) {
        const Shape shape{3, rows, 24, true};
        const auto filled = [&](unsigned seed) {
            Tensor tensor(shape);
            tensor.head(0) = random_matrix(rows, 24, seed);
            tensor.head(1) = random_matrix(rows, 24, seed + 10);
            tensor.head(2) = random_matrix(rows, 24, seed + 20);
            return tensor;
        };
        const Tensor Q = filled(1), K = filled(2), V = filled(3);
        const Matrix one = attend(Q, K, V, 1);
        for (const int threads : {0, 2, 3, 8})
            EXPECT_TRUE(same_bits(attend(Q, K, V, threads), one)) << rows << " rows, " << threads;
    }
}

}  // namespace
}  // namespace attnscope
