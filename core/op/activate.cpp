#include "core/op/activate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "core/op/gradient_proof.h"

namespace attnscope::op {

namespace {

float relu(float x) { return x < 0 ? 0 : x; }
double relu_slope(double x) { return x > 0 ? 1 : 0; }

float gelu(float x) {
    const double v = x;
    return static_cast<float>(v * (1 + std::erf(v / std::sqrt(2.0))) / 2);
}
double gelu_slope(double x) {
    return (1 + std::erf(x / std::sqrt(2.0))) / 2 +
           x * std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
}

constexpr std::array k_functions = {
    ActivationFunction{Activation::relu, relu, relu_slope, "RELU", 1, "A negative number becomes 0"},
    ActivationFunction{Activation::gelu, gelu, gelu_slope, "GELU", k_exponential_work,
                       "Multiplied by the share of a normal distribution that lies below it"}};
static_assert(is_table_of<Activation>(k_functions));

}  // namespace

const ActivationFunction& function_of(Activation activation) {
    return k_functions[static_cast<std::size_t>(activation)];
}

void Activate::forward(const Work& in, Tensor& out) const {
    std::ranges::transform(in.inputs[0]->host().values(), out.values().begin(),
                           function_of(activation).value);
}

void Activate::backward(const Backward& at) const {
    if (!at.wants(0)) return;
    at.sum(0) += at.gradient().binaryExpr(at.input(0), [&](float dY, float x) {
        return static_cast<float>(double{dY} * function_of(activation).slope(x));
    });
}

void Activate::explain_gradient(Proof& proof, const GradientCell& cell) const {
    pass_on(proof, cell, cell.head, cell.row, cell.column);
    const double slope = function_of(activation).slope(cell.in(0, cell.head, cell.row, cell.column));
    proof.add_step(fmt::format("× slope of {} {}", name_of(activation), number_text(slope, 4)),
                   proof.steps.back().value * slope);
}

void Activate::explain(Proof& proof, const Cell& cell) const {
    proof.add_step("x", cell.at(0), k_input_help);
    proof.add_step(std::string(name_of(activation)), cell.value, function_of(activation).help);
}

void Activate::torch(TorchLines& py) const {
    py.line("{} = torch.nn.functional.{}({})", py.out(), name_of(activation), py.in(0));
}

}  // namespace attnscope::op
