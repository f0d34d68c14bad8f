#include "core/op/heads.h"

#include <fmt/format.h>

#include <cmath>

#include "core/op/gradient_proof.h"
#include "core/op/positions.h"
#include "core/tensor/scratch.h"

namespace attnscope::op {

void SplitHeads::forward(const Work& in, Tensor& out) const {
    const Eigen::Index width = out.shape().columns, rows = out.shape().rows;
    for (int h = 0; h < batch * heads; ++h) {
        MatrixView head = out.head(h);
        head = in.head(0).block(h / heads * rows, h % heads * width, rows, width);
        if (!rotary) continue;
        const Matrix straight = head;
        rotate_positions({straight.data(), straight.rows(), straight.cols()}, *rotary, head);
    }
}

void JoinHeads::forward(const Work& in, Tensor& out) const {
    const int heads = in.shape(0).heads / batch;
    const Eigen::Index width = in.shape(0).columns, rows = in.shape(0).rows;
    for (int h = 0; h < batch * heads; ++h)
        out.head(0).block(h / heads * rows, h % heads * width, rows, width) = in.head(0, h);
}

void JoinHeads::cells(const RegionWork& in, MatrixView out) const {
    const int width = in.shape(0).columns;
    for (int h = in.region.column / width; h * width < in.region.end_column(); ++h) {
        const int first = std::max(in.region.column, h * width),
                  end = std::min(in.region.end_column(), (h + 1) * width);
        Scratch of_head(in.region.rows, end - first);
        in.inputs[0]->read(h, {in.region.row, first - h * width, in.region.rows, end - first},
                           of_head.view());
        out.middleCols(first - in.region.column, end - first) = of_head.view();
    }
}

void SplitHeads::backward(const Backward& at) const {
    if (!at.wants(0)) return;
    for (int h = 0; h < batch * heads; ++h) {
        Matrix of_head = at.gradient(h);
        const Matrix turned = of_head;
        if (rotary)
            rotate_positions({turned.data(), turned.rows(), turned.cols()}, *rotary,
                             {of_head.data(), of_head.rows(), of_head.cols()}, Rotation::back);
        at.sum(0).block(h / heads * of_head.rows(), h % heads * of_head.cols(), of_head.rows(),
                        of_head.cols()) += of_head;
    }
}

void JoinHeads::backward(const Backward& at) const {
    if (!at.wants(0)) return;
    const int heads = at.shape(0).heads / batch;
    const Eigen::Index width = at.shape(0).columns, rows = at.shape(0).rows;
    for (int h = 0; h < batch * heads; ++h)
        at.sum(0, h) += at.gradient().block(h / heads * rows, h % heads * width, rows, width);
}

namespace {

/// The pair (a, b) that a feature of a head is rotated in.
struct PlaceInPair {
    int k, a, b;
    bool is_first;  ///< it is a

    PlaceInPair(RopeLayout layout, int feature, int width) {
        const RotaryPairs& pairs = pairs_of(layout);
        k = static_cast<int>(pairs.pair_of(feature, width));
        a = static_cast<int>(pairs.first(k, width));
        b = static_cast<int>(pairs.second(k, width));
        is_first = feature == a;
    }
};

}  // namespace

/// The heads of `batch` sentences, the heads of each side by side.
void SplitHeads::explain_gradient(Proof& proof, const GradientCell& cell) const {
    const int width = cell.result_shape().columns, rows = cell.result_shape().rows;
    const int h = cell.row / rows * heads + cell.column / width, row = cell.row % rows,
              column = cell.column % width;
    if (!rotary) return pass_on(proof, cell, h, row, column);
    const PlaceInPair at(*rotary, column, width);
    const double angle = row * rotary_frequency(at.k, width);
    const float a = cell.d(h, row, at.a), b = cell.d(h, row, at.b);
    const auto cosine = static_cast<float>(std::cos(angle)), sine = static_cast<float>(std::sin(angle));
    proof.terms_title = {cell.words.gradient(0), "rotated back by the position"};
    proof.add_term("a", at.is_first ? cosine : -sine, a);
    proof.add_term("b", at.is_first ? sine : cosine, b);
}

void SplitHeads::explain(Proof& proof, const Cell& cell) const {
    const int width = cell.shape(0).columns / heads;
    if (!rotary) {
        proof.remark = fmt::format("column {} of {}, in head {}", cell.head * width + cell.column + 1,
                                   cell.words.symbol(0), cell.head + 1);
        return;
    }
    const PlaceInPair at(*rotary, cell.column, width);
    const auto straight = [&](int column) {
        return static_cast<double>(cell.at(0, cell.row, cell.head * width + column));
    };
    const double a = straight(at.a), b = straight(at.b);
    const double angle = cell.row * rotary_frequency(at.k, width);
    proof.add_step(fmt::format("angle p · 10000^(−{} ÷ {})", 2 * at.k, width), angle);
    proof.add_step(at.is_first ? "a cos" : "a sin", a * (at.is_first ? std::cos(angle) : std::sin(angle)),
                   at.is_first ? "This feature's own share after the rotation by its position"
                               : "The contribution of the paired feature");
    proof.add_step(at.is_first ? "− b sin" : "+ b cos", cell.value,
                   at.is_first ? "The contribution of the paired feature"
                               : "This feature's own share after the rotation by its position");
    proof.remark =
        fmt::format("a = {}, b = {}, rotated by the position", number_text(a, 4), number_text(b, 4));
}

void JoinHeads::explain_gradient(Proof& proof, const GradientCell& cell) const {
    const int heads = cell.shape(0).heads / batch, width = cell.shape(0).columns;
    pass_on(proof, cell, 0, cell.head / heads * cell.shape(0).rows + cell.row,
            cell.head % heads * width + cell.column);
}

void JoinHeads::explain(Proof& proof, const Cell& cell) const {
    const int width = cell.shape(0).columns;
    proof.remark =
        fmt::format("context of head {}, column {}", cell.column / width + 1, cell.column % width + 1);
}

std::string SplitHeads::formula(const Symbols& in) const {
    return in.of(0) + (heads > 1 ? " cut into h blocks of columns" : "") +
           (rotary ? ", each pair rotated by p · 10000^(−2k ÷ d_k)" : "");
}

namespace {

/// rotate_positions() in Python.
std::string rotate_python(RopeLayout layout) {
    return fmt::format(R"(def rotate(x):  # RoPE: each pair of features by the angle of its position
    n, d = x.shape[-2:]
    p = torch.arange(n, dtype=torch.float64)[:, None]
    k = torch.arange(0, d, 2, dtype=torch.float64)
    angle = p / 10000 ** (k / d)
    a, b = {}
    rotated = [a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()]
    return torch.{}.float()
)",
                       pairs_of(layout).cut, pairs_of(layout).joined);
}

}  // namespace

void SplitHeads::torch(TorchLines& py) const {
    py.section = heads > 1 ? fmt::format("{} heads: each takes its block of the columns.", heads)
                           : "Queries and keys are rotated by their positions.";
    std::string code = py.in(0);
    if (heads > 1) code = fmt::format("torch.stack({}.chunk({}, dim=-1))", code, heads);
    if (rotary) {
        py.functions.emplace_back("rotate", rotate_python(*rotary));
        code = fmt::format("rotate({})", code);
    }
    py.line("{} = {}", py.out(), code);
}

void JoinHeads::torch(TorchLines& py) const {
    py.line("{} = torch.cat({}.unbind(), dim=-1)  # the heads side by side", py.out(), py.in(0));
}

}  // namespace attnscope::op
