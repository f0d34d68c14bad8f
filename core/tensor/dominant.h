// The value that represents several where there is room for one.
#pragma once

#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

/// The value that represents two when there is room for one: NaN before +∞ before the larger magnitude before
/// −∞. Of two equal magnitudes the positive one, so that the order of the cells does not matter.
float dominant(float a, float b);
/// dominant() of each column of x, which has a row at least.
std::vector<float> dominant_of_columns(ConstMatrixView x);
/// dominant() of each 2 × 2 values; where the size is odd, the last row or column stands alone.
Tensor halved(ConstMatrixView from);

}  // namespace attnscope
