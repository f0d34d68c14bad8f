#include "core/graph/strongest_links.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "core/canceled.h"

namespace attnscope {
namespace {

constexpr float k_no_number = std::numeric_limits<float>::quiet_NaN();
constexpr float k_unbounded = std::numeric_limits<float>::infinity();

Buffer matrix(int rows, int columns, const std::vector<float>& values) {
    Tensor tensor({.heads = 1, .rows = rows, .columns = columns});
    std::ranges::copy(values, tensor.values().begin());
    return Buffer(std::move(tensor));
}

/// Each row and each column stands for another word.
LinkedWords all_different(const Buffer& values) {
    LinkedWords words;
    for (int i = 0; i < values.shape().rows; ++i) words.rows.push_back(i);
    for (int j = 0; j < values.shape().columns; ++j) words.columns.push_back(j);
    return words;
}

std::vector<Link> links_of(const Buffer& values, std::size_t count) {
    return strongest_links(values, 0, all_different(values), count);
}

TEST(StrongestLinksTest, TheLargestComesFirst) {
    const Buffer values = matrix(2, 3, {0.1F, 0.7F, 0.2F, 0.6F, 0.3F, 0.1F});
    const std::vector<Link> expected = {{0, 1, 0.7F}, {1, 0, 0.6F}, {1, 1, 0.3F}};
    EXPECT_EQ(links_of(values, 3), expected);
}

TEST(StrongestLinksTest, OfEqualOnesTheUpperAndThenTheLeftComesFirst) {
    const Buffer values = matrix(2, 2, {0.5F, 0.5F, 0.5F, 0.5F});
    const std::vector<Link> expected = {{0, 0, 0.5F}, {0, 1, 0.5F}, {1, 0, 0.5F}, {1, 1, 0.5F}};
    EXPECT_EQ(links_of(values, 9), expected);
}

TEST(StrongestLinksTest, ValuesThatAreNotFiniteAreNotLinksAndHideNone) {
    const Buffer values = matrix(3, 2, {k_no_number, 2, -k_unbounded, -k_unbounded, 1, k_unbounded});
    const std::vector<Link> expected = {{0, 1, 2}, {2, 0, 1}};
    EXPECT_EQ(links_of(values, 5), expected);
}

TEST(StrongestLinksTest, OfAnyMatrixTheyAreThoseOfAllCellsSorted) {
    std::mt19937 dice(7);
    for (int run = 0; run < 30; ++run) {
        const int rows = 1 + static_cast<int>(dice() % 20), columns = 1 + static_cast<int>(dice() % 20);
        std::vector<float> numbers(static_cast<std::size_t>(rows * columns));
        for (float& number : numbers) number = std::ldexp(static_cast<float>(dice() >> 8), -24) - 0.5F;
        const std::size_t count = 1 + dice() % 40;
        std::vector<Link> all;
        for (int i = 0; i < rows; ++i)
            for (int j = 0; j < columns; ++j)
                all.push_back({i, j, numbers[static_cast<std::size_t>(i * columns + j)]});
        std::ranges::stable_sort(all, std::greater<>(), &Link::value);
        all.resize(std::min(all.size(), count));
        EXPECT_EQ(links_of(matrix(rows, columns, numbers), count), all) << run;
    }
}

TEST(StrongestLinksTest, OfTheSameTwoWordsTheStrongestIsListed) {
    const Buffer values = matrix(3, 3, {0.2F, 0.9F, 0.1F, 0.3F, 0.6F, 0.8F, 0.95F, 0.4F, 0.5F});
    // Rows 0 and 2, and columns 0 and 1, are the same word.
    const std::vector<Link> expected = {{2, 0, 0.95F}, {1, 2, 0.8F}, {1, 1, 0.6F}, {2, 2, 0.5F}};
    EXPECT_EQ(strongest_links(values, 0, {{0, 1, 0}, {0, 0, 1}}, 9), expected);
}

TEST(StrongestLinksTest, RowsOfAWordWithEqualMaximaMayHaveOtherLinks) {
    const Buffer values = matrix(2, 2, {1, 0, 0, 1});
    const std::vector<Link> expected = {{0, 0, 1}, {1, 1, 1}};
    EXPECT_EQ(strongest_links(values, 0, {{0, 0}, {0, 1}}, 9), expected);
}

TEST(StrongestLinksTest, EqualRowsOfAWordAreReadAFewTimes) {
    constexpr int k_rows = 5000;
    std::vector<float> numbers;
    LinkedWords words{{}, {0, 1}};
    for (int i = 0; i < k_rows; ++i) {
        const bool is_last = i + 1 == k_rows;
        numbers.insert(numbers.end(), {is_last ? 0.4F : 0.5F, 0.3F});
        words.rows.push_back(is_last ? 1 : 0);
    }
    // 2048 rows are read at most: without the rule the last one would not be.
    const std::vector<Link> expected = {
        {0, 0, 0.5F}, {k_rows - 1, 0, 0.4F}, {0, 1, 0.3F}, {k_rows - 1, 1, 0.3F}};
    EXPECT_EQ(strongest_links(matrix(k_rows, 2, numbers), 0, words, 9), expected);
}

TEST(StrongestLinksTest, ACanceledSearchEnds) {
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(strongest_links(matrix(1, 1, {1}), 0, {{0}, {0}}, 1, stop.get_token()), Canceled);
}

}  // namespace
}  // namespace attnscope
