// Random input for benchmarks.
#pragma once

#include <random>

#include "core/tensor/tensor.h"

namespace attnscope {

/// Normal around 0, the same for a seed in every run.
inline Tensor random_tensor(const Shape& shape, double deviation, unsigned seed) {
    Tensor tensor(shape);
    std::mt19937 engine(seed);
    std::normal_distribution<float> normal(0, static_cast<float>(deviation));
    for (float& value : tensor.values()) value = normal(engine);
    return tensor;
}

}  // namespace attnscope
