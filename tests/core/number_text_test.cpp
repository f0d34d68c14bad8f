#include "core/number_text.h"

#include <gtest/gtest.h>

#include <bit>
#include <clocale>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "core/utf8.h"

namespace attnscope {
namespace {

TEST(NumberTextTest, CellsShowThreeDigitsAndZeroOnlyForZero) {
    EXPECT_EQ(cell_text(0.856f), "0.856");
    EXPECT_EQ(cell_text(1), "1.000");
    EXPECT_EQ(cell_text(-0.25), "-0.250");
    EXPECT_EQ(cell_text(-25.2f), "-25.2");
    EXPECT_EQ(cell_text(1234), "1234");
    EXPECT_EQ(cell_text(0), "0");
    EXPECT_EQ(cell_text(-0.0), "0");
    EXPECT_EQ(cell_text(1e-9f), "1e-09");
    EXPECT_EQ(cell_text(-2e5f), "-2e+05");
    EXPECT_EQ(cell_text(0.0005), "0.001");
    EXPECT_EQ(cell_text(0.00049), "5e-04");
    EXPECT_EQ(cell_text(9.996), "10.0");
    EXPECT_EQ(cell_text(99.96), "100");
    EXPECT_EQ(cell_text(99999.4), "99999");
    EXPECT_EQ(cell_text(99999.6), "1e+05");
    EXPECT_EQ(cell_text(std::nanf("")), "nan");
    EXPECT_EQ(cell_text(std::numeric_limits<float>::infinity()), "∞");
    EXPECT_EQ(cell_text(-std::numeric_limits<float>::infinity()), "-∞");
}

/// Every bit pattern in steps that are not a power of two.
template <typename Check>
void for_many_floats(Check check) {
    for (std::uint64_t bits = 0; bits <= 0xffffffffu; bits += 50021) {
        check(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    }
}

TEST(NumberTextTest, NoCellIsLongerThanSixCharacters) {
    for_many_floats([](float value) { ASSERT_LE(count_code_points(cell_text(value)), 6u) << value; });
}

TEST(NumberTextTest, ExactTextGivesEveryFloatBack) {
    EXPECT_EQ(exact_text(0.1f), "0.100000001");
    EXPECT_EQ(exact_text(1), "1");
    EXPECT_EQ(exact_text(-std::numeric_limits<float>::infinity()), "-inf");
    EXPECT_EQ(exact_text(std::nanf("")), "nan");
    for_many_floats([](float value) {
        if (std::isnan(value)) return;
        ASSERT_EQ(std::strtof(exact_text(value).c_str(), nullptr), value);
    });
}

TEST(NumberTextTest, ShortAndFixedText) {
    EXPECT_EQ(short_text(0.000123456), "0.000123");
    EXPECT_EQ(short_text(1e20), "1e+20");
    EXPECT_EQ(short_text(-0.0), "0");
    EXPECT_EQ(fixed_text(0.25, 2), "0.25");
    EXPECT_EQ(fixed_text(-0.001, 2), "0.00");
    EXPECT_EQ(fixed_text(-1e300, 0).size(), 302u);
}

TEST(NumberTextTest, TheLocaleOfTheMachineChangesNothing) {
    const std::string before = std::setlocale(LC_ALL, nullptr);
    bool set = false;
    for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"})
        set = set || std::setlocale(LC_ALL, name);
    EXPECT_EQ(cell_text(0.856f), "0.856");
    EXPECT_EQ(exact_text(1234567.5f), "1234567.5");
    std::setlocale(LC_ALL, before.c_str());
    if (!set) GTEST_SKIP() << "no locale with a decimal comma is installed";
}

TEST(NumberTextTest, FewerDigitsKeepWhatStandsBeforeThePoint) {
    EXPECT_EQ(digits_text(3141.59, 3), "3142");
    EXPECT_EQ(digits_text(3141.59, 1), "3142") << "not 3e+03";
    EXPECT_EQ(digits_text(-57.84, 3), "-57.8");
    EXPECT_EQ(digits_text(-57.84, 1), "-58") << "not -60";
    EXPECT_EQ(digits_text(3.1416, 2), "3.1");
    EXPECT_EQ(digits_text(0.04567, 1), "0.05");
    EXPECT_EQ(digits_text(0, 2), "0");
    EXPECT_EQ(digits_text(1234567, 2), "1.2e+06");
}

TEST(NumberTextTest, WhatRoundsToZeroIsReadAsSmallAndZeroAsZero) {
    for (const double value : {0.0, 0.0005, 0.856, 1.0, 2.5, -2e-9})
        EXPECT_EQ(weight_text(value), cell_text(value));
    EXPECT_EQ(weight_text(0.0004999), "<.001");
    EXPECT_EQ(weight_text(2e-9), "<.001");
    EXPECT_EQ(reading_text(0.856), "0.856");
    EXPECT_EQ(reading_text(0.0005), "0.001");
    EXPECT_EQ(reading_text(0.0004999), "< 0.001");
    EXPECT_EQ(reading_text(2e-9), "< 0.001");
    EXPECT_EQ(reading_text(-2e-9), "> -0.001");
    EXPECT_EQ(reading_text(0), "0");
    EXPECT_EQ(reading_text(std::nan("")), "nan");
    EXPECT_EQ(reading_text(-INFINITY), "-∞");
}

}  // namespace
}  // namespace attnscope
