#include "core/op/exponential.h"

#include <cmath>

#include "core/op/gradient_proof.h"

namespace attnscope::op {

void Exponential::forward(const Work& in, Tensor& out) const {
    std::ranges::transform(in.inputs[0]->host().values(), out.values().begin(),
                           [](float x) { return static_cast<float>(std::exp(double{x})); });
}

void Exponential::backward(const Backward& at) const {
    if (at.wants(0)) at.sum(0) += at.gradient().cwiseProduct(at.result());
}

void Exponential::explain_gradient(Proof& proof, const GradientCell& cell) const {
    pass_on(proof, cell, cell.head, cell.row, cell.column);
    const float value = cell.out(cell.head, cell.row, cell.column);
    proof.add_step("× exp( x ) " + number_text(value, 4), proof.steps.back().value * value);
}

void Exponential::explain(Proof& proof, const Cell& cell) const {
    proof.add_step("x", cell.at(0), k_input_help);
    proof.add_step("exp( x )", cell.value, "e to this power: always positive");
}

void Exponential::torch(TorchLines& py) const { py.line("{} = {}.exp()", py.out(), py.in(0)); }

}  // namespace attnscope::op
