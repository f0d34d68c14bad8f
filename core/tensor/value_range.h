// The smallest and largest of some values, and how many of them are zero or not finite.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "core/tensor/tensor.h"

namespace attnscope {

/// The smallest and largest finite value, and the number of finite, zero and non-finite values.
struct ValueRange {
    float min = 0;  ///< 0 when no value is finite
    float max = 0;
    std::size_t finite = 0;
    std::size_t zero = 0;
    std::size_t nan = 0;
    std::size_t plus_infinity = 0;
    std::size_t minus_infinity = 0;

    float magnitude() const { return std::max(-min, max); }
};

/// What is known of some values, and of these and others.
ValueRange range_of(std::span<const float> values);
ValueRange united(ValueRange a, const ValueRange& b);
/// The largest value of a row: NaN if it contains one, −∞ if it contains nothing else.
float largest_of_row(ConstMatrixView values, Eigen::Index row);

}  // namespace attnscope
