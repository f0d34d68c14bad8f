// Reference matrices drawn directly from a generator.
#pragma once

#include <cmath>

#include "core/random/initializers.h"

namespace attnscope::test {

inline Matrix drawn(Generator& generator, Initialization how, int rows, int columns) {
    Matrix matrix(rows, columns);
    initializer_of(how).fill(generator, MatrixView(matrix.data(), rows, columns));
    return matrix;
}

/// nn.Linear's weight and bias.
inline Matrix drawn_linear(Generator& generator, int out, int in) {
    return drawn(generator, Initialization::linear, out, in);
}
inline Matrix drawn_linear_bias(Generator& generator, int out, int in) {
    Matrix bias(1, out);
    const double bound = 1 / std::sqrt(static_cast<double>(in));
    generator.uniform({bias.data(), static_cast<std::size_t>(out)}, -bound, bound);
    return bias;
}

}  // namespace attnscope::test
