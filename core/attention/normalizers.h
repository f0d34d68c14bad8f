// From masked scores to weights. One small type behind one table.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/attention/choices.h"
#include "core/attention/tensor.h"

namespace attnscope {

struct Normalizer {
    Normalization choice;
    std::string_view formula;
    std::string_view summary;
    /// Local attention looks no further than D from a centre, which joins the mask.
    enum class Window { none, at_query, predicted } window;
    /// Some rows of one head, each on its own. masked: n × M, −∞ where closed. weights: n × M, exactly 0
    /// where closed, a row of zeros where all is closed.
    void (*compute)(ConstMatrixView masked, MatrixView weights);
};

/// `softmax`  exp(x − max) / Σ exp(x − max) along the keys, the maximum over the open cells
///            (Vaswani et al. 2017, eq. 1)
/// `hard`     1 at the largest, of equals the first; 0 elsewhere (Xu et al. 2015, §4.1, by arg-max)
/// `local-m`  the softmax within D of key i for query i (Luong et al. 2015, §3.2, monotonic)
/// `local-p`  the softmax within D of a predicted centre p_i, times exp(−(j − p_i)² / (2 (D/2)²))
///            (Luong et al. 2015, §3.2, eq. 9 and 10)
std::span<const Normalizer> normalizers();
const Normalizer& normalizer_of(Normalization choice);

/// The softmax along the queries: each column sums to 1, a column with nothing open is zeros. All of one
/// head.
void softmax_over_queries(ConstMatrixView masked, MatrixView weights);

/// local-p's centre of a query among M keys: M · sigmoid(v_p · tanh(W_p q)), 0 … M (Luong et al. 2015, eq.
/// 9). Q n × d, W_p hidden × d, v_p 1 × hidden, out n × 1.
void predicted_centers(ConstMatrixView Q, ConstMatrixView W_p, ConstMatrixView v_p, int keys, MatrixView out);
/// exp(−(j − p)² / (2 (D/2)²)) for key j (from 0); D > 0.
double window_gauss(double p, int j, double D);

/// D as it is written: "2", "1.5".
std::string window_text(double D);

}  // namespace attnscope
