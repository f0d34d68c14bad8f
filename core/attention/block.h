// What a transformer's block does around attention, and the loss after it.
#pragma once

#include "core/attention/tensor.h"

namespace attnscope {

inline constexpr double k_layer_norm_epsilon = 1e-5;

/// Each row: (x − mean) / √(variance + 1e-5) · gain + shift, the variance divided by d (Ba et al. 2016, eq.
/// 4). x and out n × d, gain and shift 1 × d.
void layer_norm(ConstMatrixView x, ConstMatrixView gain, ConstMatrixView shift, MatrixView out);
/// max(x, 0).
float relu(float x);
/// x (1 + erf(x / √2)) / 2 (Hendrycks and Gimpel 2016).
float gelu(float x);
/// Each row: x − log Σ exp x. n × m each.
void log_softmax(ConstMatrixView x, MatrixView out);

}  // namespace attnscope
