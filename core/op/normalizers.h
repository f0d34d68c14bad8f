// How masked scores become weights. One small type behind one table.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/experiment/choices.h"
#include "core/tensor/tensor.h"

namespace attnscope {

struct Op;

struct Normalizer {
    Normalization choice;
    std::string_view summary;
    std::string_view kind;  ///< soft or hard, global or local: "soft, global: over all keys"
    /// Local attention is limited to keys within D of a center; the window is part of the mask.
    enum class Window { none, at_query, predicted } window;
    bool has_axis;  ///< it may also normalize over the queries
    /// The operation that turns masked scores into weights.
    Op (*op)(SoftmaxAxis axis);
    /// Computes some rows of one head, each on its own. masked: n × M, −∞ where closed. weights: n × M,
    /// exactly 0 where closed, all zeros in a row where everything is closed.
    void (*compute)(ConstMatrixView masked, MatrixView weights);
};

/// `softmax`  exp(x − max) / Σ exp(x − max) along the keys, the maximum over the open cells
///            (Vaswani et al. 2017, eq. 1)
/// `hard`     1 at the row's maximum, the first if several tie; 0 elsewhere (Xu et al. 2015, §4.1, by
///            arg-max)
/// `sparsemax` the nearest point of the simplex, max(x − τ, 0) (Martins and Astudillo 2016)
/// `local-m`  the softmax within D of key i for query i (Luong et al. 2015, §3.2, monotonic)
/// `local-p`  the softmax within D of a predicted center p_i, times exp(−(j − p_i)² / (2 (D/2)²))
///            (Luong et al. 2015, §3.2, eq. 9 and 10)
std::span<const Normalizer> normalizers();
const Normalizer& normalizer_of(Normalization choice);
/// Whether attention is local, within a window around a center.
bool has_window(Normalization choice);
/// Whether the center of each query's window is predicted from the query.
bool predicts_window(Normalization choice);

}  // namespace attnscope
