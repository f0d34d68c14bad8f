// From masked scores to weights. One small type behind one table.
#pragma once

#include <span>
#include <string_view>

#include "core/attention/tensor.h"

namespace attnscope {

struct Normalizer {
    std::string_view name;
    std::string_view formula;
    std::string_view summary;
    /// Some rows of one head, each on its own. masked: n × M, −∞ where closed. weights: n × M, exactly 0
    /// where closed, a row of zeros where all is closed.
    void (*compute)(ConstMatrixView masked, MatrixView weights);
};

/// `softmax`  exp(x − max) / Σ exp(x − max) along the keys, the maximum over the open cells
///            (Vaswani et al. 2017, eq. 1)
std::span<const Normalizer> normalizers();
const Normalizer* find_normalizer(std::string_view name);

}  // namespace attnscope
