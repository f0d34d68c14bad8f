// Where a token stands: the ways to tell attention about it.
#pragma once

#include "core/attention/choices.h"
#include "core/attention/tensor.h"

namespace attnscope {

/// PE (positions × d): PE[p, 2k] = sin(p / 10000^(2k/d)), PE[p, 2k+1] = cos(p / 10000^(2k/d)), positions from
/// 0; an odd d ends with a sine (Vaswani et al. 2017, §3.5).
Matrix sinusoidal_positions(int positions, int d);

/// Turns pair k of row p by the angle p · 10000^(−2k/d): (a, b) → (a cos − b sin, a sin + b cos)
/// (Su et al. 2021, eq. 15). x and out are positions × d, d even; the pair is (2k, 2k + 1) in the layout
/// `interleaved`, (k, k + d/2) in `half`.
void rotate_positions(ConstMatrixView x, RopeLayout layout, MatrixView out);

/// ALiBi's slope of head h (from 0) of `heads`: 2^(−8 (h + 1) / heads) (Press et al. 2022, §3).
double alibi_slope(int h, int heads);
/// bias[i, j] = −slope · |i − j|.
void alibi_bias(double slope, MatrixView bias);

}  // namespace attnscope
