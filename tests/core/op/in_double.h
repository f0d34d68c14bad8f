// The operations' formulas in double, cell by cell, from their headers: what gradients are differenced from.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "core/op/op.h"

namespace attnscope::test {

/// A matrix for each head; one without heads is shared by all.
using Values = std::vector<Eigen::MatrixXd>;

/// The first result of an operation that has a gradient; not of the recurrent ones.
Values in_double(const Op& op, const std::vector<Values>& inputs);

}  // namespace attnscope::test
