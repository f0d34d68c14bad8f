// The weighted sum of the values.
#pragma once

#include "core/op/backward.h"
#include "core/op/formula.h"
#include "core/op/proof.h"
#include "core/op/region.h"
#include "core/op/row_work.h"
#include "core/op/torch.h"
#include "core/op/work.h"

namespace attnscope::op {

/// weights (h × N × M), masked scores (h × N × M, −∞ where closed), V (h × M × d_v): Σ_j weight_j · v_j over
/// the open keys, so that a closed key contributes nothing, not even NaN (Vaswani et al. 2017, eq. 1);
/// h × N × d_v.
struct WeightedSum {
    enum Input : std::size_t { k_weights, k_masked_scores, k_values };
    Shape shape(Shapes in) const {
        return per_head(in[k_weights].heads, in[k_weights].rows, in[k_values].columns);
    }
    std::string formula(const Symbols& in) const {
        return in.of(k_weights) + " " + in.of(k_values) + ", the values weighted by each row";
    }
    Operands operands() const { return {.left = k_weights, .above = k_values}; }
    double work_per_cell(Shapes in) const { return in[k_weights].columns; }
    static bool reads_rows(std::size_t input) { return input != k_values; }
    void rows(const RowWork& in, MatrixView out) const;
    void cells(const RegionWork& in, MatrixView out) const;
    /// Keys whose weights and values stay in the cache while they are multiplied.
    static constexpr int k_keys_at_once = 512;
    /// Adds what k_keys_at_once keys from `first` on contribute, or as many as there are.
    void add_keys(const RegionWork& in, int first, MatrixView out) const;
    /// dA = dC Vᵀ, 0 where closed, and dV = Aᵀ dC; the masked scores only say what is closed.
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    bool passes_back_to(std::size_t input) const { return input != k_masked_scores; }
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const WeightedSum&) const = default;
};

}  // namespace attnscope::op
