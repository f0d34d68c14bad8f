// The operations' formulas in double, cell by cell, from their headers: what operations compute, and
// gradients are differenced from.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "core/op/op.h"
#include "core/tensor/buffer.h"

namespace attnscope::test {

/// A matrix for each head; one without heads is shared by all.
using Values = std::vector<Eigen::MatrixXd>;

inline Values in_double(const Buffer& buffer) {
    Values values;
    for (int h = 0; h < buffer.shape().heads; ++h)
        values.push_back(buffer.host().head(h).template cast<double>());
    return values;
}

/// The first result of an operation that has a gradient; not of the recurrent ones.
Values in_double(const Op& op, const std::vector<Values>& inputs);

}  // namespace attnscope::test
