// Positional encodings.
#pragma once

#include "core/experiment/choices.h"
#include "core/op/formula.h"
#include "core/op/proof.h"
#include "core/op/region.h"
#include "core/op/torch.h"
#include "core/op/work.h"

namespace attnscope::op {

/// PE (rows × columns): PE[p, 2k] = sin(p / 10000^(2k/d)), PE[p, 2k+1] = cos(p / 10000^(2k/d)), positions
/// from 0; an odd d ends with a sine (Vaswani et al. 2017, §3.5).
struct SinusoidalPositions {
    int rows, columns;

    static constexpr std::string_view k_no_gradient = "positions are constants";

    Shape shape(Shapes) const { return matrix(rows, columns); }
    std::string formula(const Symbols&) const { return "sin and cos of p ÷ 10000^(2k ÷ d)"; }
    void forward(const Work& in, Tensor& out) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const SinusoidalPositions&) const = default;
};

/// ALiBi's slope of each head, 2^(−8 (h + 1) / heads) with h from 0 (Press et al. 2022, §3); heads × 1.
struct AlibiSlopes {
    int heads;

    static constexpr std::string_view k_no_gradient = "the slopes are constants";

    Shape shape(Shapes) const { return matrix(heads, 1); }
    std::string formula(const Symbols&) const { return "m = 2^(−8 head ÷ h)"; }
    void forward(const Work& in, Tensor& out) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const AlibiSlopes&) const = default;
};

/// slopes (h × 1): −slope · |i − j|; h × N × M.
struct AlibiBias {
    int queries, keys;

    static constexpr std::string_view k_no_gradient = "the biases are constants";

    Shape shape(Shapes in) const { return per_head(in[0].rows, queries, keys); }
    std::string formula(const Symbols&) const { return "−m |i − j|"; }
    void forward(const Work& in, Tensor& out) const;
    void cells(const RegionWork& in, MatrixView out) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const AlibiBias&) const = default;
};

/// The angle per position of pair k of d features: 10000^(−2k/d).
double rotary_frequency(Eigen::Index k, Eigen::Index d);

/// The features of d that are rotated as pair k.
struct RotaryPairs {
    RopeLayout choice;
    Eigen::Index (*first)(Eigen::Index k, Eigen::Index d);
    Eigen::Index (*second)(Eigen::Index k, Eigen::Index d);
    Eigen::Index (*pair_of)(Eigen::Index feature, Eigen::Index d);
    const char* cut;     ///< both features of all pairs of x, in Python
    const char* joined;  ///< the rotated pairs, side by side again
    const char* shader;  ///< its define in shaders/cells.comp
};
const RotaryPairs& pairs_of(RopeLayout layout);

/// Rotary embedding: rotates pair k of row p by the angle p · 10000^(−2k/d), (a, b) → (a cos − b sin, a sin +
/// b cos) (Su et al. 2021, eq. 15). x and out are positions × d, d even.
enum class Rotation { forth, back };
void rotate_positions(ConstMatrixView x, RopeLayout layout, MatrixView out,
                      Rotation rotation = Rotation::forth);

}  // namespace attnscope::op
