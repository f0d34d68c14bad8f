#include "core/op/activate.h"

#include <cmath>

namespace attnscope::op {

float relu(float x) { return x < 0 ? 0 : x; }

float gelu(float x) {
    const double v = x;
    return static_cast<float>(v * (1 + std::erf(v / std::sqrt(2.0))) / 2);
}

void Activate::forward(const Work& in, Tensor& out) const {
    const auto f = activation == Activation::gelu ? &gelu : &relu;
    std::ranges::transform(in.inputs[0]->host().values(), out.values().begin(), f);
}

void Activate::explain(Proof& proof, const Cell& cell) const {
    proof.add_step("x", cell.at(0));
    proof.add_step(std::string(name_of(activation)), cell.value);
}

void Activate::torch(TorchLines& py) const {
    py.line("{} = torch.nn.functional.{}({})", py.out(), name_of(activation), py.in(0));
}

}  // namespace attnscope::op
