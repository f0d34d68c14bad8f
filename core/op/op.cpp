#include "core/op/op.h"

#include "core/op/gradient_proof.h"

namespace attnscope {
namespace {

template <typename One>
concept has_many_results = requires(const One& op, const op::Work& work) {
    op.results(work);
};

template <typename One>
concept computes_whole = requires(const One& op, const op::Work& work, Tensor& out) {
    op.forward(work, out);
};

template <typename One>
concept computes_rows = requires(const One& op, const op::RowWork& in, MatrixView out) {
    op.rows(in, out);
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

bool has_rows(const Op& op) {
    return std::visit(
        [](const auto& one) {
            if constexpr (requires { one.has_rows(); })
                return one.has_rows();
            else
                return computes_rows<std::decay_t<decltype(one)>>;
        },
        op);
}

bool reads_rows(const Op& op, std::size_t input) {
    return std::visit(
        [&](const auto& one) {
            if constexpr (requires { one.reads_rows(input); })
                return one.reads_rows(input);
            else
                return true;
        },
        op);
}

double work_per_row(const Op& op, op::Shapes inputs) {
    return std::visit(
        [&](const auto& one) -> double {
            if constexpr (computes_rows<std::decay_t<decltype(one)>>)
                return one.work_per_cell(inputs) * one.shape(inputs).columns;
            else
                return 0;
        },
        op);
}

void rows(const Op& op, const op::RowWork& in, MatrixView out) {
    std::visit(
        [&](const auto& one) {
            if constexpr (computes_rows<std::decay_t<decltype(one)>>) one.rows(in, out);
        },
        op);
}

namespace {

/// Computes a result that has_rows().
Tensor all_rows(const Op& op, const op::Work& work, op::Shapes inputs) {
    Tensor result(shapes(op, inputs)[0]);
    const RowLoop loop{result.shape().heads, result.shape().rows, work_per_row(op, inputs), work.cancel};
    std::vector<op::RowInput> whole;
    for (const Buffer* input : work.inputs) whole.push_back({input});
    for_row_blocks(loop, [&](RowBlock block) {
        rows(op, {whole, block}, block.of(result.head(block.head)));
    });
    return result;
}

}  // namespace

std::vector<Tensor> forward(const Op& op, const op::Work& work) {
    std::vector<Shape> inputs;
    for (const Buffer* input : work.inputs) inputs.push_back(input->shape());
    std::vector<Tensor> results;
    if (has_rows(op)) {
        results.push_back(all_rows(op, work, inputs));
        return results;
    }
    return std::visit(
        [&](const auto& one) {
            using One = std::decay_t<decltype(one)>;
            if constexpr (has_many_results<One>)
                return one.results(work);
            else if constexpr (computes_whole<One>)
                one.forward(work, results.emplace_back(one.shape(inputs)));
            else
                static_assert(computes_rows<One>);
            return std::move(results);
        },
        op);
}

namespace {

template <typename One>
concept computes_cells = requires(const One& op, const op::RegionWork& in, MatrixView out) {
    op.cells(in, out);
};

}  // namespace

bool has_cells(const Op& op) {
    return std::visit(
        [](const auto& one) {
            if constexpr (requires { one.has_cells(); })
                return one.has_cells();
            else
                return computes_cells<std::decay_t<decltype(one)>>;
        },
        op);
}

void cells(const Op& op, const op::RegionWork& in, MatrixView out) {
    std::visit(
        [&](const auto& one) {
            if constexpr (computes_cells<std::decay_t<decltype(one)>>) one.cells(in, out);
        },
        op);
}

std::string_view why_no_gradient(const Op& op) {
    return std::visit(
        [](const auto& one) -> std::string_view {
            if constexpr (requires { one.k_no_gradient; })
                return one.k_no_gradient;
            else
                return "";
        },
        op);
}

void backward(const Op& op, const op::Backward& at) {
    std::visit(
        [&](const auto& one) {
            if constexpr (!requires { one.k_no_gradient; }) one.backward(at);
        },
        op);
}

namespace {

/// The proof with its last number as its value.
Proof with_value(Proof proof) {
    proof.value = static_cast<float>(proof.steps.empty() ? proof.terms_sum : proof.steps.back().value);
    proof.terms_result = proof.steps.empty() ? double{proof.value} : proof.terms_sum;
    return proof;
}

template <typename One>
concept has_results_of_results = requires(const One& one, Proof& proof, const op::GradientCell& cell) {
    one.explain_own_gradient(proof, cell);
};

}  // namespace

std::optional<double> deviation_of_terms(const Op& op, std::span<const Buffer* const> inputs, int head) {
    return std::visit(
        [&](const auto& one) -> std::optional<double> {
            if constexpr (requires { one.deviation_of_terms(inputs, head); })
                return one.deviation_of_terms(inputs, head);
            else
                return std::nullopt;
        },
        op);
}

bool over_queries(const Op& op) {
    return std::visit(
        [](const auto& one) {
            if constexpr (requires { is_over_queries(one.axis); })
                return is_over_queries(one.axis);
            else
                return false;
        },
        op);
}

Proof explain_gradient(const Op& op, const op::GradientCell& cell) {
    Proof proof;
    std::visit(
        [&](const auto& one) {
            if constexpr (!requires { one.k_no_gradient; }) one.explain_gradient(proof, cell);
        },
        op);
    return with_value(std::move(proof));
}

bool passes_back_to(const Op& op, std::size_t input) {
    return std::visit(
        [&](const auto& one) {
            if constexpr (requires { one.passes_back_to(input); })
                return one.passes_back_to(input);
            else
                return true;
        },
        op);
}

bool has_own_gradients(const Op& op) {
    return std::visit([](const auto& one) { return has_results_of_results<std::decay_t<decltype(one)>>; },
                      op);
}

Proof explain_own_gradient(const Op& op, const op::GradientCell& cell) {
    Proof proof;
    std::visit(
        [&](const auto& one) {
            if constexpr (has_results_of_results<std::decay_t<decltype(one)>>)
                one.explain_own_gradient(proof, cell);
        },
        op);
    return with_value(std::move(proof));
}

Proof explain(const Op& op, const op::Cell& cell) {
    Proof proof;
    proof.value = cell.value;
    std::visit([&](const auto& one) { one.explain(proof, cell); }, op);
    proof.value = cell.value;
    return proof;
}

std::string formula(const Op& op, const op::Symbols& symbols) {
    return std::visit([&](const auto& one) { return one.formula(symbols); }, op);
}

std::string caption(const Op& op, const op::Symbols& symbols) {
    return std::visit(
        [&](const auto& one) -> std::string {
            if constexpr (requires { one.caption(symbols); })
                return one.caption(symbols);
            else
                return "";
        },
        op);
}

std::string sentence(const Op& op, std::size_t result) {
    return std::visit(
        [&](const auto& one) -> std::string {
            if constexpr (requires { one.sentence(result); })
                return one.sentence(result);
            else if constexpr (requires { one.sentence(); })
                return one.sentence();
            else
                return "";
        },
        op);
}

op::Operands operands(const Op& op, std::size_t result) {
    return std::visit(
        [&](const auto& one) -> op::Operands {
            if constexpr (requires { one.operands(result); })
                return one.operands(result);
            else if constexpr (requires { one.operands(); })
                return one.operands();
            else
                return {};
        },
        op);
}

void torch(const Op& op, op::TorchLines& lines) {
    std::visit([&](const auto& one) { one.torch(lines); }, op);
}

}  // namespace attnscope
