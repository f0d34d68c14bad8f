// The score of a Gaussian kernel.
#pragma once

#include "core/op/backward.h"
#include "core/op/formula.h"
#include "core/op/proof.h"
#include "core/op/region.h"
#include "core/op/row_work.h"
#include "core/op/torch.h"
#include "core/op/work.h"

namespace attnscope::op {

/// Q (h × N × d), K (h × M × d): −|q − k|² ÷ 2σ², the logarithm of a Gaussian (radial basis function) kernel,
/// whose softmax is the kernel regression of Nadaraya (1964) and Watson (1964); h × N × M.
struct RbfScore {
    float bandwidth;  ///< σ > 0

    Shape shape(Shapes in) const { return per_head(in[0].heads, in[0].rows, in[1].rows); }
    std::string formula(const Symbols&) const { return "−|q − k|² ÷ 2σ²"; }
    std::string caption(const Symbols&) const { return "rbf"; }
    std::string sentence() const {
        return "Minus the squared distance of query and key, ÷ 2σ²: the closer they are, the higher the "
               "score.";
    }
    Operands operands() const { return {.left = 0, .above = 1, .is_transposed = true}; }
    double work_per_cell(Shapes in) const { return in[1].columns; }
    static bool reads_rows(std::size_t input) { return input == 0; }
    void rows(const RowWork& in, MatrixView out) const;
    void cells(const RegionWork& in, MatrixView out) const;
    /// dq = Σ dS (k − q) ÷ σ², dk = Σ dS (q − k) ÷ σ².
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    /// 2σ²
    float divisor() const { return 2 * bandwidth * bandwidth; }
    bool operator==(const RbfScore&) const = default;
};

}  // namespace attnscope::op
