// Formatting of numbers, in the C locale whatever the machine's.
#pragma once

#include <cstdint>
#include <string>

namespace attnscope {

/// The text of a number in a cell, at most 6 characters: three decimals up to 1 ("0.856", "-0.250", "1.000"),
/// three significant digits beyond ("-25.2", "1234"), one digit and an exponent where these would show zero
/// or not fit ("1e-09", "-2e+05"); exactly zero is "0". "nan", "∞", "-∞".
std::string cell_text(double value);

/// The text of a number in a sentence: as cell_text(), but "< 0.001" and "> -0.001" where three decimals
/// would show zero.
std::string reading_text(double value);

/// The text of a weight in a cell, at most 5 characters: as cell_text(), but "<.001" where three decimals
/// would show zero.
std::string weight_text(double value);

/// The text of an end of a scale: at most three significant digits, no trailing zeros.
std::string short_text(double value);

/// The number rounded to at most 3 significant digits, but never before the decimal point up to 99999: 57.8
/// in one digit is "58".
std::string digits_text(double value, int digits);

/// The size of a matrix: "8 × 16".
std::string size_text(std::int64_t rows, std::int64_t columns);

/// The number with a fixed number of decimals; "-0.00" is written "0.00".
std::string fixed_text(double value, int decimals);

/// The number in the fewest digits that distinguish it from every other double: "0.1", "1e+20".
std::string shortest_text(double value);

/// The number in nine significant digits, which distinguish all float32 values; "nan", "inf", "-inf".
std::string exact_text(double value);

}  // namespace attnscope
