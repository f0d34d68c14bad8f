#include "core/op/op.h"

namespace attnscope {
namespace {

template <typename One>
concept has_many_results = requires(const One& op, const op::Work& work) {
    op.results(work);
};

}  // namespace

std::vector<Shape> shapes(const Op& op, op::Shapes inputs) {
    return std::visit(
        [&](const auto& one) -> std::vector<Shape> {
            if constexpr (has_many_results<std::decay_t<decltype(one)>>)
                return one.shapes(inputs);
            else
                return {one.shape(inputs)};
        },
        op);
}

std::vector<Tensor> forward(const Op& op, const op::Work& work) {
    std::vector<Shape> inputs;
    for (const Buffer* input : work.inputs) inputs.push_back(input->shape());
    return std::visit(
        [&](const auto& one) {
            if constexpr (has_many_results<std::decay_t<decltype(one)>>) {
                return one.results(work);
            } else {
                std::vector<Tensor> results;
                one.forward(work, results.emplace_back(one.shape(inputs)));
                return results;
            }
        },
        op);
}

Proof explain(const Op& op, const op::Cell& cell) {
    Proof proof;
    proof.value = cell.value;
    std::visit([&](const auto& one) { one.explain(proof, cell); }, op);
    proof.value = cell.value;
    return proof;
}

void torch(const Op& op, op::TorchLines& lines) {
    std::visit([&](const auto& one) { one.torch(lines); }, op);
}

}  // namespace attnscope
