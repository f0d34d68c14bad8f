// Masks: which query may attend to which key.
#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/experiment/masks.h"
#include "core/op/backward.h"
#include "core/op/formula.h"
#include "core/op/proof.h"
#include "core/op/region.h"
#include "core/op/row_work.h"
#include "core/op/torch.h"
#include "core/op/work.h"

namespace attnscope::op {

/// Mask::formula() where nothing is closed.
inline constexpr std::string_view k_all_open = "all open: every query may attend to every key";

/// Whether key j is at most `window` from a center; no key is near a center that is NaN.
inline bool is_within(double center, int j, double window) { return std::abs(j - center) <= window; }

/// The condition is_within() for the keys 0 … M−1, in Python: "(torch.arange(8) - p).abs() <= 2".
inline std::string within_in_python(int keys, const std::string& center, double window) {
    return fmt::format("(torch.arange({}) - {}).abs() <= {}", keys, center, window);
}

/// The remark on a score of −∞ that the mask leaves open.
inline constexpr std::string_view k_closed_by_score = "closed: the score is −∞";

/// No input, or the centers of local windows (h × N × 1): 1 where every rule allows, no custom matrix closes
/// and key j is within `window` of the query's center; N × M, or h × N × M if each head has its own centers.
/// A center that is NaN leaves nothing open.
struct Mask {
    int queries, keys;
    std::vector<MaskRule> rules;
    double window = 0;                               ///< D; read only if there are centers
    std::shared_ptr<const Matrix> custom = nullptr;  ///< N × M, closed where it is 0; may be null
    std::shared_ptr<const Matrix> bias = nullptr;    ///< N × M, closed where it is −∞; may be null

    static constexpr std::string_view k_no_gradient =
        "zeros and ones: no small change of the centers changes them";

    /// Names everything that closes query i to key j, both from 0: "causal", "custom mask", "custom bias of
    /// −∞", "local window, D = 2"; empty if they are open. `center`: of the query's window, if it has one.
    std::vector<std::string> closing(int i, int j, std::optional<double> center = {}) const;
    /// 1 where rules, custom matrix and bias allow; N × M.
    Matrix without_window() const;
    /// The row of query i, from 0; `center`: of its window, if it has one.
    Eigen::RowVectorXf row(int i, std::optional<double> center) const;

    bool is_open(int i, int j) const;  ///< without local windows
    /// The one rule that closes pairs of a region; nullptr if there are several, none, or a custom matrix.
    const MaskRule* only_rule(const Region& region) const;

    Shape shape(Shapes in) const;
    std::string formula(const Symbols& in) const;
    std::string caption(const Symbols&) const;
    void forward(const Work& in, Tensor& out) const;
    void cells(const RegionWork& in, MatrixView out) const;  ///< without local windows
    /// Without local windows. Exact but for several rules that each close some pairs, and for custom
    /// matrices: unknown.
    Coverage coverage(const Region& region) const;
    /// The number of open pairs in a region, and whether there are any, without local windows.
    std::size_t count_open(const Region& region) const;
    bool any_open(const Region& region) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const Mask&) const = default;
};

/// x (h × N × M), mask: x where the mask is 1, else −∞ (Vaswani et al. 2017, §3.2.3).
struct MaskedFill {
    Shape shape(Shapes in) const { return in[0]; }
    std::string formula(const Symbols& in) const {
        return in.formula_of(0) + (in.formula_of(1) == k_all_open ? "" : ", masked");
    }
    Operands operands() const { return {.same_as = 0}; }
    double work_per_cell(Shapes) const { return 1; }
    void rows(const RowWork& in, MatrixView out) const;
    void cells(const RegionWork& in, MatrixView out) const;
    /// dX = dY where the mask is 1, else 0.
    void backward(const Backward& at) const;
    void explain_gradient(Proof& proof, const GradientCell& cell) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const MaskedFill&) const = default;
};

}  // namespace attnscope::op
