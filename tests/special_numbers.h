#pragma once

#include <limits>

namespace attnscope::test {

inline constexpr float k_nan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float k_infinity = std::numeric_limits<float>::infinity();

}  // namespace attnscope::test
