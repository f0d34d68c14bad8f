// The value that represents several where there is room for one.
#pragma once

#include <span>

#include "core/tensor/tensor.h"

namespace attnscope {

/// The value that represents two when there is room for one: NaN before +∞ before the larger magnitude before
/// −∞. Of two equal magnitudes the positive one, so that the order of the cells does not matter.
float dominant(float a, float b);
/// strongest[i] = dominant(strongest[i], x[i]); of one size.
void take_dominant(std::span<const float> x, std::span<float> strongest);
/// dominant() of each 2 × 2 values; where the size is odd, the last row or column stands alone.
Tensor halved(ConstMatrixView from);

}  // namespace attnscope
