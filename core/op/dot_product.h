// The dot product of query and key.
#pragma once

#include "core/op/backward.h"
#include "core/op/formula.h"
#include "core/op/proof.h"
#include "core/op/region.h"
#include "core/op/row_work.h"
#include "core/op/torch.h"
#include "core/op/work.h"

namespace attnscope::op {

inline constexpr std::string_view k_dot_product_help =
    "The dot product: feature by feature the query's number times the key's, all added up";

/// Q (h × N × d), K (h × M × d): q · k (Luong et al. 2015, §3.1; Vaswani et al. 2017, §3.2.1, where the scale
/// follows); h × N × M.
struct DotProduct {
    Shape shape(Shapes in) const { return per_head(in[0].heads, in[0].rows, in[1].rows); }
    std::string formula(const Symbols& in) const { return in.of(0) + " " + in.of(1) + "ᵀ"; }
    std::string sentence() const {
        return "Multiply query and key dimension by dimension and add up: the more they point the same way, "
               "the higher the score.";
    }
    Operands operands() const { return {.left = 0, .above = 1, .is_transposed = true}; }
    double work_per_cell(Shapes in) const { return in[1].columns; }
    static bool reads_rows(std::size_t input) { return input == 0; }
    void rows(const RowWork& in, MatrixView out) const;
    void cells(const RegionWork& in, MatrixView out) const;
    /// dQ = dS K, dK = dSᵀ Q.
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    double deviation_of_terms(std::span<const Buffer* const> inputs, int head) const;
    void torch(TorchLines& py) const;
    bool operator==(const DotProduct&) const = default;
};

}  // namespace attnscope::op
