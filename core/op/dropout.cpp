#include "core/op/dropout.h"

#include "core/op/gradient_proof.h"

namespace attnscope::op {

void Dropout::rows(const RowWork& in, MatrixView out) const {
    out = in.rows(0).cwiseProduct(in.rows(1)) / keep_probability;
}

void Dropout::backward(const Backward& at) const {
    for (int h = 0; h < at.heads(); ++h)
        if (at.wants(0)) at.sum(0, h) += at.gradient(h).cwiseProduct(at.input(1, h)) / keep_probability;
}

namespace {

std::string_view help_of(bool kept) {
    return kept ? "Kept by dropout, and divided by the share that is kept, so that the expected sum stays "
                  "the same"
                : "Set to 0 by dropout";
}

}  // namespace

void Dropout::explain_gradient(Proof& proof, const GradientCell& cell) const {
    pass_on(proof, cell, cell.head, cell.row, cell.column);
    const float kept = cell.in(1, cell.head, cell.row, cell.column);
    proof.add_step(kept != 0 ? "kept, ÷ (1 − p) " + number_text(keep_probability) : "dropped",
                   proof.steps.back().value * kept / keep_probability, help_of(kept != 0));
}

void Dropout::explain(Proof& proof, const Cell& cell) const {
    proof = cell.words.prove(0);
    const bool kept = cell.at(1) != 0;
    proof.add_step(kept ? "kept, ÷ (1 − p) " + number_text(keep_probability) : "dropped", cell.value,
                   help_of(kept));
}

void Dropout::torch(TorchLines& py) const {
    py.section = "Dropout: kept weights are divided by 1 − p.";
    py.line("{} = {} * {} / {}", py.out(), py.in(0), py.in(1), keep_probability);
}

}  // namespace attnscope::op
