#include "core/op/positions.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>

namespace attnscope::op {

double rotary_frequency(Eigen::Index k, Eigen::Index d) {
    return std::pow(10000.0, -2.0 * static_cast<double>(k) / static_cast<double>(d));
}

void SinusoidalPositions::forward(const Work&, Tensor& out) const {
    MatrixView PE = out.head(0);
    for (int column = 0; column < columns; ++column) {
        const double step = rotary_frequency(column / 2, columns);
        for (int p = 0; p < rows; ++p)
            PE(p, column) = static_cast<float>(column % 2 == 0 ? std::sin(p * step) : std::cos(p * step));
    }
}

void AlibiSlopes::forward(const Work&, Tensor& out) const {
    for (int h = 0; h < heads; ++h) out.head(0)(h, 0) = static_cast<float>(std::exp2(-8.0 * (h + 1) / heads));
}

void AlibiBias::forward(const Work& in, Tensor& out) const {
    for (int h = 0; h < out.shape().heads; ++h) {
        stop_if_canceled(in.cancel);
        const double slope = std::exp2(-8.0 * (h + 1) / in.shape(0).rows);
        MatrixView bias = out.head(h);
        for (int i = 0; i < queries; ++i)
            for (int j = 0; j < keys; ++j)
                bias(i, j) = static_cast<float>(-slope * static_cast<double>(std::abs(i - j)));
    }
}

void AlibiBias::cells(const RegionWork& in, MatrixView out) const {
    const float slope = in.whole(0)(in.head, 0);
    for (Eigen::Index i = 0; i < out.rows(); ++i)
        for (Eigen::Index j = 0; j < out.cols(); ++j)
            out(i, j) = -slope * static_cast<float>(std::abs(in.region.row + i - in.region.column - j));
}

namespace {

using Index = Eigen::Index;

constexpr std::array k_pairs = {
    RotaryPairs{RopeLayout::interleaved, [](Index k, Index) { return 2 * k; },
                [](Index k, Index) { return 2 * k + 1; }, [](Index feature, Index) { return feature / 2; },
                "x[..., 0::2], x[..., 1::2]", "stack(rotated, dim=-1).flatten(-2)", "INTERLEAVED"},
    RotaryPairs{RopeLayout::half, [](Index k, Index) { return k; },
                [](Index k, Index d) { return k + d / 2; },
                [](Index feature, Index d) { return feature % (d / 2); }, "x.chunk(2, dim=-1)",
                "cat(rotated, dim=-1)", "HALF"},
};
static_assert(is_table_of<RopeLayout>(k_pairs));

}  // namespace

const RotaryPairs& pairs_of(RopeLayout layout) { return k_pairs[static_cast<std::size_t>(layout)]; }

void rotate_positions(ConstMatrixView x, RopeLayout layout, MatrixView out, Rotation rotation) {
    const Eigen::Index d = x.cols();
    const RotaryPairs& pairs = pairs_of(layout);
    const double sign = rotation == Rotation::forth ? 1 : -1;
    for (Eigen::Index k = 0; k < d / 2; ++k) {
        const Eigen::Index first = pairs.first(k, d), second = pairs.second(k, d);
        const double step = rotary_frequency(k, d);
        for (Eigen::Index p = 0; p < x.rows(); ++p) {
            const double cosine = std::cos(static_cast<double>(p) * step),
                         sine = sign * std::sin(static_cast<double>(p) * step);
            const double a = x(p, first), b = x(p, second);
            out(p, first) = static_cast<float>(a * cosine - b * sine);
            out(p, second) = static_cast<float>(a * sine + b * cosine);
        }
    }
}

void SinusoidalPositions::explain(Proof& proof, const Cell& cell) const {
    const int k = cell.column / 2;
    proof.add_step(fmt::format("p ÷ 10000^({} ÷ {})", 2 * k, columns),
                   cell.row * rotary_frequency(k, columns));
    proof.add_step(cell.column % 2 == 0 ? "sin" : "cos", cell.value);
}

void AlibiSlopes::explain(Proof& proof, const Cell& cell) const {
    proof.remark = fmt::format("2^(−8 · {} ÷ {})", cell.row + 1, heads);
}

void AlibiBias::explain(Proof& proof, const Cell& cell) const {
    proof.add_step("|i − j|", std::abs(cell.row - cell.column),
                   "The distance between query and key, in tokens");
    proof.add_step("× −m, m = " + number_text(cell.inputs[0]->at(0, cell.head, 0)), cell.value,
                   "Multiplied by the head's slope, which differs from head to head (ALiBi)");
}

void SinusoidalPositions::torch(TorchLines& py) const {
    py.section =
        "Positions: sin and cos of p / 10000^(k/d), k = 0, 2, 4 …, side by side, added to the embeddings.";
    py.line("p = torch.arange({}, dtype=torch.float64)[:, None]", rows);
    py.line("k = torch.arange(0, {}, 2, dtype=torch.float64)", columns);
    py.line("angle = p / 10000 ** (k / {})", columns);
    py.line("{} = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1){}.float()", py.out(),
            columns % 2 ? fmt::format("[:, :{}]", columns) : "");
}

void AlibiSlopes::torch(TorchLines& py) const {
    py.section = "ALiBi: the farther away a key, the lower its score, with a slope for each head.";
    py.line("{} = 2 ** (-8 * torch.arange(1, {}) / {})", py.out(), heads + 1, heads);
}

void AlibiBias::torch(TorchLines& py) const {
    py.line("distance = (torch.arange({})[:, None] - torch.arange({})).abs()", queries, keys);
    py.line("{} = -{}{} * distance", py.out(), py.in(0), py.shape(0).rows > 1 ? "[:, None, None]" : "");
}

}  // namespace attnscope::op
