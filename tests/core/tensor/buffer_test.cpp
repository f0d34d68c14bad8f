#include "core/tensor/buffer.h"
#include "tests/special_numbers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <future>
#include <initializer_list>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "core/canceled.h"

namespace attnscope {
namespace {

using namespace test;

Tensor tensor(Shape shape, std::initializer_list<float> values) {
    Tensor result(shape);
    std::copy(values.begin(), values.end(), result.values().begin());
    return result;
}

/// Heads of ones that cannot be computed at first.
class Failing : public OmittedHeads {
public:
    int rows_per_block() const override { return 2; }
    void compute(int, int, MatrixView out) const override {
        if (++calls == 1) throw std::bad_alloc();
        out.setOnes();
    }
    mutable std::atomic<int> calls = 0;
};

TEST(BufferTest, AHeadIsTransposedOnceAndAfterAnErrorAgain) {
    const Buffer buffer(
        tensor({.heads = 2, .rows = 2, .columns = 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
    int calls = 0;
    const auto transpose = [&](const ConstMatrixView& from, ColumnsView to) {
        if (++calls == 1) throw std::runtime_error("once");
        to = from.transpose();
    };
    EXPECT_THROW(buffer.transposed(1, transpose), std::runtime_error);
    for (int i = 0; i < 2; ++i) {
        const Matrix found = buffer.transposed(1, transpose), expected = buffer.head(1).transpose();
        EXPECT_EQ(found, expected);
    }
    EXPECT_EQ(calls, 2);
    EXPECT_THROW(buffer.transposed(2, transpose), std::out_of_range);
}

TEST(BufferTest, RowsOfAWideTransposeBeginAnOddNumberOfLinesApart) {
    for (const int columns : {1, 16, 127}) EXPECT_EQ(spread_apart(columns), columns);
    EXPECT_EQ(spread_apart(128), 144);
    EXPECT_EQ(spread_apart(512), 528);
    EXPECT_EQ(spread_apart(513), 528);
    EXPECT_EQ(spread_apart(528), 528);
    EXPECT_EQ(spread_apart(529), 560);

    Tensor wide(Shape{.heads = 1, .rows = 256, .columns = 3});
    for (std::size_t i = 0; i < wide.values().size(); ++i) wide.values()[i] = static_cast<float>(i);
    const Buffer buffer(std::move(wide));
    const ConstColumnsView found =
        buffer.transposed(0, [](const ConstMatrixView& from, ColumnsView to) { to = from.transpose(); });
    EXPECT_EQ(found.outerStride(), 272);
    EXPECT_EQ(Matrix(found), Matrix(buffer.head(0).transpose()));
}

TEST(BufferTest, AnOmittedHeadThatCouldNotBeComputedIsTriedAgain) {
    const auto failing = std::make_shared<Failing>();
    const Buffer buffer(Shape{.heads = 1, .rows = 3, .columns = 2, .per_head = true},
                        std::vector<std::optional<Tensor>>(1), failing, {});
    EXPECT_THROW(buffer.head(0), std::bad_alloc);
    EXPECT_TRUE(buffer.is_omitted(0));
    EXPECT_EQ(buffer.head(0).sum(), 6);
    EXPECT_FALSE(buffer.is_omitted(0));
    EXPECT_EQ(failing->calls, 3);
}

TEST(BufferTest, RangesCountFiniteNanAndInfiniteValuesPerHeadAndOverAll) {
    const Buffer buffer(tensor({.heads = 2, .rows = 2, .columns = 2, .per_head = true},
                               {1, -3, k_nan, k_infinity, -k_infinity, 7, 5, 6}));
    EXPECT_EQ(buffer.range(0).min, -3);
    EXPECT_EQ(buffer.range(0).max, 1);
    EXPECT_EQ(buffer.range(0).finite, 2u);
    EXPECT_EQ(buffer.range(0).nan, 1u);
    EXPECT_EQ(buffer.range(0).plus_infinity, 1u);
    EXPECT_EQ(buffer.range(0).minus_infinity, 0u);
    EXPECT_EQ(buffer.range(0).magnitude(), 3);
    EXPECT_EQ(buffer.range(1).min, 5);
    EXPECT_EQ(buffer.range(1).minus_infinity, 1u);
    EXPECT_EQ(buffer.range().min, -3);
    EXPECT_EQ(buffer.range().max, 7);
    EXPECT_EQ(buffer.range().finite, 5u);
    EXPECT_EQ(buffer.range().zero, 0u);
    EXPECT_EQ(buffer.range().nan, 1u);
    EXPECT_THROW(buffer.range(2), std::out_of_range);
}

TEST(BufferTest, ARangeCountsZerosOfEitherSign) {
    const Buffer buffer(
        tensor({.heads = 2, .rows = 1, .columns = 3, .per_head = true}, {0, 1, -0.0f, k_nan, 0, 5}));
    EXPECT_EQ(buffer.range(0).zero, 2u);
    EXPECT_EQ(buffer.range(1).zero, 1u);
    EXPECT_EQ(buffer.range().zero, 3u);
}

TEST(BufferTest, AHeadWithoutAnyFiniteValueLeavesTheRangeOfTheOthersAlone) {
    const Buffer buffer(tensor({.heads = 3, .rows = 1, .columns = 2, .per_head = true},
                               {k_nan, -k_infinity, 4, 9, k_nan, k_nan}));
    for (const int head : {0, 2}) {
        EXPECT_EQ(buffer.range(head).min, 0);
        EXPECT_EQ(buffer.range(head).max, 0);
    }
    EXPECT_EQ(buffer.range().min, 4);
    EXPECT_EQ(buffer.range().max, 9);
}

/// Random values, many of them not finite or 0 of either sign.
std::vector<float> special_values(std::size_t count) {
    constexpr std::array k_special = {k_nan,   k_infinity, -k_infinity, 0.0f,  -0.0f,
                                      3.0e38f, -3.0e38f,   1e-42f,      -1.0f, 1.0f};
    std::mt19937 random(7);
    std::vector<float> values(count);
    for (float& value : values) {
        const std::size_t kind = random() % 20;
        value = kind < k_special.size() ? k_special[kind] : static_cast<float>(random() % 2001) / 500 - 2;
    }
    return values;
}

TEST(BufferTest, RangesOfManyValuesAreThoseOfEachInTurn) {
    const std::vector<float> values = special_values(1000);
    for (std::size_t count = 0; count <= values.size(); count += count < 40 ? 1 : 71) {
        for (const std::size_t first : {std::size_t{0}, values.size() - count}) {
            ValueRange expected;
            for (const float value : std::span(values).subspan(first, count)) {
                expected.nan += std::isnan(value);
                expected.plus_infinity += value == k_infinity;
                expected.minus_infinity += value == -k_infinity;
                if (!std::isfinite(value)) continue;
                expected.min = expected.finite == 0 ? value : std::min(expected.min, value);
                expected.max = expected.finite == 0 ? value : std::max(expected.max, value);
                ++expected.finite;
                expected.zero += value == 0;
            }
            const ValueRange range = range_of(std::span(values).subspan(first, count));
            EXPECT_EQ(range.min, expected.min) << count;
            EXPECT_EQ(range.max, expected.max) << count;
            EXPECT_EQ(range.finite, expected.finite) << count;
            EXPECT_EQ(range.zero, expected.zero) << count;
            EXPECT_EQ(range.nan, expected.nan) << count;
            EXPECT_EQ(range.plus_infinity, expected.plus_infinity) << count;
            EXPECT_EQ(range.minus_infinity, expected.minus_infinity) << count;
        }
    }
}

TEST(BufferTest, TheDominantOfTwoValuesIsInTheOrderOfItsComment) {
    const auto expected = [](float a, float b) {
        if (std::isnan(a) || std::isnan(b)) return k_nan;
        if (a == k_infinity || b == k_infinity) return k_infinity;
        if (a == -k_infinity) return b;
        if (b == -k_infinity) return a;
        if (std::abs(a) == std::abs(b)) return std::max(a, b);
        return std::abs(a) > std::abs(b) ? a : b;
    };
    const std::vector<float> values = special_values(200);
    for (const float a : values)
        for (const float b : values) {
            const float either = dominant(a, b);
            ASSERT_TRUE(either == expected(a, b) || (std::isnan(either) && std::isnan(expected(a, b))))
                << a << " and " << b << ": " << either;
        }
}

TEST(BufferTest, AnEmptyBufferHasAnEmptyRange) {
    const Buffer buffer(Tensor(Shape{}));
    EXPECT_EQ(buffer.range().finite, 0u);
    EXPECT_EQ(buffer.levels(), 0);
    EXPECT_EQ(buffer.pooled(0, 0).size(), 0);
}

TEST(BufferTest, TheMeanIsTakenOverTheHeadsCellByCell) {
    const Buffer buffer(tensor({.heads = 2, .rows = 1, .columns = 3, .per_head = true},
                               {1, k_nan, k_infinity, 2, 5, -k_infinity}));
    const Buffer& mean = buffer.mean();
    EXPECT_EQ(mean.shape(), (Shape{.heads = 1, .rows = 1, .columns = 3}));
    EXPECT_EQ(mean.at(0, 0, 0), 1.5f);
    EXPECT_TRUE(std::isnan(mean.at(0, 0, 1)));
    EXPECT_TRUE(std::isnan(mean.at(0, 0, 2)));
    EXPECT_EQ(&buffer.mean(), &mean);
}

TEST(BufferTest, TheMeanOfEqualHeadsIsExactlyTheirValue) {
    const Buffer buffer(tensor({.heads = 3, .rows = 1, .columns = 2, .per_head = true},
                               {0.1f, 0.7f, 0.1f, 0.7f, 0.1f, 0.7f}));
    EXPECT_EQ(buffer.mean().at(0, 0, 0), 0.1f);
    EXPECT_EQ(buffer.mean().at(0, 0, 1), 0.7f);
}

TEST(BufferTest, TheMeanOfOneHeadIsTheBufferItself) {
    const Buffer buffer(tensor({.heads = 1, .rows = 1, .columns = 1}, {3}));
    EXPECT_EQ(&buffer.mean(), &buffer);
}

TEST(BufferTest, ACanceledMeanIsNotKnownAndIsFoundWhenAskedForAgain) {
    const Buffer buffer(tensor({.heads = 2, .rows = 1, .columns = 1, .per_head = true}, {1, 2}));
    std::stop_source cancel;
    cancel.request_stop();
    EXPECT_THROW(buffer.mean(cancel.get_token()), Canceled);
    EXPECT_EQ(buffer.known_mean(), nullptr);
    EXPECT_EQ(buffer.mean().at(0, 0, 0), 1.5f);
    EXPECT_NO_THROW(buffer.mean(cancel.get_token())) << "it is known";
}

TEST(BufferTest, APooledCellIsNanThenPlusInfinityThenTheLargestMagnitudeThenMinusInfinity) {
    // Five columns: the last pooled column stands for one column alone.
    const Buffer buffer(
        tensor({.heads = 1, .rows = 3, .columns = 5}, {1, -2, 3, k_infinity, -k_infinity,       //
                                                       0.5f, -4, -9, -k_infinity, -k_infinity,  //
                                                       k_nan, 8, -k_infinity, -1, 0}));
    ASSERT_EQ(buffer.levels(), 3);
    const ConstMatrixView one = buffer.pooled(0, 1);
    ASSERT_EQ(one.rows(), 2);
    ASSERT_EQ(one.cols(), 3);
    EXPECT_EQ(one(0, 0), -4);
    EXPECT_EQ(one(0, 1), k_infinity);
    EXPECT_EQ(one(0, 2), -k_infinity);
    EXPECT_TRUE(std::isnan(one(1, 0)));
    EXPECT_EQ(one(1, 1), -1);
    EXPECT_EQ(one(1, 2), 0);
    EXPECT_EQ(buffer.pooled(0, 0).data(), buffer.host().head(0).data());
}

TEST(BufferTest, ASinglePeakIsSeenAtEveryLevel) {
    for (const int peak : {0, 36, 200, 36 * 67 - 1}) {
        Tensor values({.heads = 1, .rows = 67, .columns = 36});
        std::fill(values.values().begin(), values.values().end(), 0.25f);
        values.values()[static_cast<std::size_t>(peak)] = -5;
        const Buffer buffer(std::move(values));
        for (int level = 0; level <= buffer.levels(); ++level) {
            EXPECT_EQ(buffer.pooled(0, level).minCoeff(), -5) << "level " << level;
        }
        EXPECT_EQ(buffer.pooled(0, buffer.levels()).size(), 1);
    }
}

TEST(BufferTest, LevelsAreAlignedForVectorisedLoops) {
    Tensor values({.heads = 1, .rows = 9, .columns = 9});
    std::fill(values.values().begin(), values.values().end(), 1.f);
    const Buffer buffer(std::move(values));
    for (int level = 0; level <= buffer.levels(); ++level) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.pooled(0, level).data()) % 64, 0u);
    }
}

TEST(BufferTest, SeveralThreadsMayAskAtOnce) {
    Tensor values({.heads = 4, .rows = 128, .columns = 128, .per_head = true});
    for (std::size_t i = 0; i < values.values().size(); ++i) values.values()[i] = static_cast<float>(i);
    const Buffer buffer(std::move(values));
    std::vector<std::thread> threads;
    std::vector<float> seen(8);
    for (std::size_t t = 0; t < seen.size(); ++t) {
        threads.emplace_back([&buffer, &seen, t] {
            const int head = static_cast<int>(t % 4);
            seen[t] = buffer.range().max + buffer.range(head).min + buffer.mean().range().max +
                      buffer.pooled(head, buffer.levels())(0, 0);
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (std::size_t t = 0; t < seen.size(); ++t) EXPECT_EQ(seen[t], seen[t % 4]);
}

TEST(BufferTest, FactsAreKnownOnceTheyAreFoundOut) {
    const Buffer buffer(
        tensor({.heads = 2, .rows = 2, .columns = 2, .per_head = true}, {1, -3, 2, 4, 5, 6, 7, 8}));
    EXPECT_FALSE(buffer.known_range(1));
    EXPECT_FALSE(buffer.known_range());
    EXPECT_FALSE(buffer.known_mean());
    EXPECT_FALSE(buffer.known_pooled(1, 1));
    EXPECT_FALSE(buffer.known_percentiles(1));
    ASSERT_TRUE(buffer.known_pooled(1, 0)) << "the matrix itself";
    EXPECT_EQ((*buffer.known_pooled(1, 0))(1, 1), 8);

    const ValueRange* one = &buffer.range(1);
    EXPECT_EQ(buffer.known_range(1), one);
    EXPECT_FALSE(buffer.known_range(0));
    const ValueRange* all = &buffer.range();
    EXPECT_EQ(buffer.known_range(), all);
    EXPECT_TRUE(buffer.known_range(0)) << "a part of it";
    const Buffer* mean = &buffer.mean();
    EXPECT_EQ(buffer.known_mean(), mean);
    EXPECT_FALSE(mean->known_range()) << "that is a fact of its own";
    const ConstMatrixView level = buffer.pooled(1, 1);
    ASSERT_TRUE(buffer.known_pooled(1, 1));
    EXPECT_EQ(buffer.known_pooled(1, 1)->data(), level.data());
    EXPECT_FALSE(buffer.known_pooled(0, 1));
    const std::pair<float, float>* ends = &buffer.percentiles(1);
    EXPECT_EQ(buffer.known_percentiles(1), ends);
    EXPECT_FALSE(buffer.known_percentiles(0));
    EXPECT_THROW(buffer.known_range(2), std::out_of_range);

    const Buffer single(tensor({.heads = 1, .rows = 1, .columns = 1}, {3}));
    EXPECT_EQ(single.known_mean(), &single);
}

TEST(BufferTest, PartsOfTheMeanAreTheMeansToTheBitWithoutTheRest) {
    Tensor values({.heads = 3, .rows = 4, .columns = 37, .per_head = true});
    for (std::size_t i = 0; i < values.values().size(); ++i)
        values.values()[i] = std::sin(static_cast<float>(i)) * 1e3f;
    values.head(1)(2, 5) = k_nan;
    values.head(2)(2, 6) = k_infinity;
    const Buffer buffer(std::move(values));
    Matrix of_cells(4, 37), of_rows(4, 37), of_columns(4, 37);
    const auto find_parts = [&] {
        for (int i = 0; i < 4; ++i) of_rows.row(i) = buffer.mean_row(i);
        for (int j = 0; j < 37; ++j) of_columns.col(j) = buffer.mean_column(j);
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 37; ++j) of_cells(i, j) = buffer.mean_at(i, j);
    };
    const auto bits = [](float number) { return std::bit_cast<std::uint32_t>(number); };
    const auto expect_the_mean = [&] {
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 37; ++j)
                for (const Matrix* parts : {&of_cells, &of_rows, &of_columns})
                    EXPECT_EQ(bits((*parts)(i, j)), bits(buffer.mean().at(0, i, j))) << i << ", " << j;
    };
    find_parts();
    EXPECT_FALSE(buffer.known_mean());
    expect_the_mean();
    find_parts();
    expect_the_mean();
}

/// Values on a card whose thread wants to know something of the buffer before it answers.
class AskingValues : public DeviceValues {
public:
    const Shape& shape() const override { return shape_; }
    void read(int, int first, int count, float* rows) const override {
        ++reads;
        const auto answered = std::make_shared<std::promise<void>>();
        std::thread([=, this] {
            buffer->device();
            answered->set_value();
        }).detach();
        blocked = answered->get_future().wait_for(std::chrono::seconds(10)) != std::future_status::ready;
        for (int i = 0; i < count * shape_.columns; ++i)
            rows[i] = static_cast<float>(first * shape_.columns + i);
    }
    Eigen::VectorXf column(int, int) const override { return {}; }
    ValueRange range(int) const override { return {}; }
    std::vector<float> row_largest(int) const override { return {}; }
    std::vector<float> column_largest(int) const override { return {}; }
    std::shared_ptr<const DeviceValues> mean() const override { return nullptr; }

    const Buffer* buffer = nullptr;
    mutable int reads = 0;
    mutable bool blocked = false;

private:
    Shape shape_{.heads = 1, .rows = 399, .columns = 300};
};

/// Two heads on a card, of rows 0 and of rows 1, that are too large to be copied whole.
class TwoHeads : public DeviceValues {
public:
    const Shape& shape() const override { return shape_; }
    void read(int head, int, int count, float* rows) const override {
        std::fill_n(rows, count * shape_.columns, static_cast<float>(head));
    }
    Eigen::VectorXf column(int head, int) const override {
        return Eigen::VectorXf::Constant(shape_.rows, static_cast<float>(head));
    }
    ValueRange range(int) const override { return {}; }
    std::vector<float> row_largest(int) const override { return {}; }
    std::vector<float> column_largest(int) const override { return {}; }
    std::shared_ptr<const DeviceValues> mean() const override {
        ADD_FAILURE() << "the whole mean is computed";
        return nullptr;
    }

private:
    Shape shape_{.heads = 2, .rows = 399, .columns = 300, .per_head = true};
};

TEST(BufferTest, PartsOfTheMeanOfACardsValuesAreReadWithoutTheRest) {
    const Buffer buffer(std::make_shared<TwoHeads>());
    EXPECT_EQ(buffer.mean_at(398, 299), 0.5f);
    EXPECT_TRUE(buffer.mean_row(7) == Eigen::RowVectorXf::Constant(300, 0.5f));
    EXPECT_TRUE(buffer.mean_column(7) == Eigen::VectorXf::Constant(399, 0.5f));
}

TEST(BufferTest, ARowIsCopiedFromTheCardOnceAndBlocksNobody) {
    const auto values = std::make_shared<AskingValues>();
    const Buffer buffer(values);
    values->buffer = &buffer;
    EXPECT_EQ(buffer.at(0, 7, 5), 7 * 300 + 5);
    EXPECT_EQ(buffer.at(0, 7, 6), 7 * 300 + 6);
    EXPECT_EQ(buffer.row(0, 7)(299), 7 * 300 + 299);
    EXPECT_EQ(buffer.at(0, 15, 2), 15 * 300 + 2);
    EXPECT_EQ(values->reads, 1) << "rows side by side come together";
    EXPECT_EQ(buffer.at(0, 398, 1), 398 * 300 + 1);
    EXPECT_EQ(values->reads, 2);
    EXPECT_FALSE(values->blocked) << "the card's thread waits for the one that waits for it";
}

TEST(BufferTest, RowsAreCopiedFromTheCardAndNotKept) {
    const auto values = std::make_shared<AskingValues>();
    const Buffer buffer(values);
    values->buffer = &buffer;
    const Matrix some = buffer.rows(0, 100, 250);
    ASSERT_EQ(some.rows(), 250);
    ASSERT_EQ(some.cols(), 300);
    EXPECT_EQ(some(0, 0), 100 * 300);
    EXPECT_EQ(some(249, 299), 349 * 300 + 299);
    EXPECT_EQ(values->reads, 1);
    EXPECT_FALSE(buffer.known_pooled(0, 0)) << "they are not here";

    const Buffer here(tensor({.heads = 2, .rows = 2, .columns = 1, .per_head = true}, {1, 2, 3, 4}));
    EXPECT_EQ(here.rows(1, 0, 2), (Matrix(2, 1) << 3, 4).finished());
    EXPECT_EQ(here.rows(0, 1, 1), (Matrix(1, 1) << 2).finished());
}

}  // namespace
}  // namespace attnscope
