// How evenly a row of weights is spread.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

namespace attnscope {

/// The spread of a row's shares p = w ÷ Σ w, which sum to 1 even where the weights do not: with the softmax
/// over the queries, a local window or dropout.
struct RowEntropy {
    double sum = 0;               ///< Σ w
    double entropy = 0;           ///< −Σ p ln p, in nat: 0 … ln M
    double effective_tokens = 0;  ///< exp(entropy): 1 … M; 0 without any weight
};

/// What is not above 0 does not count.
inline RowEntropy row_entropy(std::span<const float> weights) {
    double sum = 0, logs = 0;
    for (const float w : weights)
        if (w > 0) {
            sum += w;
            logs += w * std::log(static_cast<double>(w));
        }
    if (!(sum > 0)) return {};
    const double entropy = std::max(0.0, std::log(sum) - logs / sum);
    return {sum, entropy, std::exp(entropy)};
}

}  // namespace attnscope
