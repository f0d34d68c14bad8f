#include "core/op/sources.h"

#include <fmt/format.h>

#include "core/image/patches.h"
#include "core/text/vocabulary.h"

namespace attnscope::op {

void TokenRows::forward(const Work&, Tensor& out) const {
    std::ranges::transform(rows, out.values().begin(), [](int row) { return static_cast<float>(row); });
}

void Custom::forward(const Work&, Tensor& out) const {
    std::copy_n(values->data(), values->size(), out.values().data());
}

void Drawn::forward(const Work& in, Tensor& out) const {
    out.head(0) = in.draws.last_of(seed, draws).middleRows(first_row, out.shape().rows);
}

void StableTable::forward(const Work&, Tensor& out) const {
    out.head(0) = draw_stable_table(seed, words, columns, initializer_of(initialization));
}

void Constant::forward(const Work&, Tensor& out) const { std::ranges::fill(out.values(), value); }

void Patches::forward(const Work&, Tensor& out) const { out = image_patches(*image, grid, patch_size); }

void DropoutMask::forward(const Work&, Tensor& out) const { Generator(seed).bernoulli(out.values(), 1 - p); }

void TokenRows::explain(Proof& proof, const Cell& cell) const {
    proof.remark = cell.words.table_row(static_cast<int>(cell.value));
}

void Custom::explain(Proof& proof, const Cell&) const { proof.remark = "custom: set by hand"; }

void Drawn::explain(Proof& proof, const Cell&) const { proof.remark = "drawn with seed " + seed.text(); }

void StableTable::explain(Proof& proof, const Cell&) const {
    proof.remark = "drawn with the word's own seed, derived from seed " + seed.text();
}

void Constant::explain(Proof& proof, const Cell&) const { proof.remark = "a constant"; }

void Patches::explain(Proof& proof, const Cell& cell) const {
    proof.remark = fmt::format("pixel {} of patch {}, the mean over its area in the picture, 0 … 1",
                               pixel_label(cell.column, patch_size), patch_label(cell.row, grid));
}

void DropoutMask::explain(Proof& proof, const Cell&) const {
    proof.remark =
        fmt::format("1 with probability 1 − p = {}, drawn with seed {}", number_text(1 - p), seed.text());
}

std::string Drawn::formula(const Symbols&) const {
    const Draw& draw = draws.back();
    return draw.rule == Draw::Rule::fan ? fmt::format("drawn from U(−1 ÷ √{0}, 1 ÷ √{0})", draw.fan)
                                        : "drawn by " + std::string(name_of(draw.initialization));
}

}  // namespace attnscope::op
