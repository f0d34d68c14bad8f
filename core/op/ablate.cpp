#include "core/op/ablate.h"

#include <algorithm>
#include <array>

#include "core/op/gradient_proof.h"

namespace attnscope::op {
namespace {

/// The mean of each column, in double.
Eigen::RowVectorXf mean_of(const ConstMatrixView& rows) {
    return rows.cast<double>().colwise().mean().cast<float>();
}

std::string zero(const std::string&) { return "0.0"; }
std::string mean(const std::string& contexts) { return contexts + ".mean(-2, keepdim=True)"; }

constexpr std::array k_rules = {
    AblationRule{Ablation::zero, "0", zero, "ABLATE_TO_ZERO", false},
    AblationRule{Ablation::mean, "the positions' mean", mean, "ABLATE_TO_MEAN", true},
};
static_assert(is_table_of<Ablation>(k_rules));

}  // namespace

const AblationRule& rule_of(Ablation ablation) { return k_rules[static_cast<std::size_t>(ablation)]; }

bool Ablate::is_ablated(int head) const { return std::ranges::binary_search(ablated, head % heads); }

/// "head 2", "heads 1, 3".
std::string Ablate::name_of_heads() const {
    std::string names;
    for (const int head : ablated) names += fmt::format("{}{}", names.empty() ? "" : ", ", head + 1);
    return (ablated.size() == 1 ? "head " : "heads ") + names;
}

std::string Ablate::formula(const Symbols& in) const {
    return fmt::format("{}, {} set to {}", in.of(0), name_of_heads(), rule_of(to).words);
}

void Ablate::forward(const Work& in, Tensor& out) const {
    for (int h = 0; h < out.shape().heads; ++h) {
        stop_if_canceled(in.cancel);
        if (!is_ablated(h)) {
            out.head(h) = in.head(0, h);
            continue;
        }
        switch (to) {
            case Ablation::zero: out.head(h).setZero(); break;
            case Ablation::mean: out.head(h).rowwise() = mean_of(in.head(0, h)); break;
        }
    }
}

void Ablate::cells(const RegionWork& in, MatrixView out) const {
    if (is_ablated(in.head))
        out.setZero();
    else
        in.read(0, out);
}

void Ablate::backward(const Backward& at) const {
    if (!at.wants(0)) return;
    for (int h = 0; h < at.heads(); ++h) {
        if (!is_ablated(h)) {
            at.sum(0, h) += at.gradient(h);
            continue;
        }
        switch (to) {
            case Ablation::zero: break;
            case Ablation::mean: at.sum(0, h).rowwise() += mean_of(at.gradient(h)); break;
        }
    }
}

void Ablate::explain_gradient(Proof& proof, const GradientCell& cell) const {
    if (!is_ablated(cell.head)) return pass_on(proof, cell, cell.head, cell.row, cell.column);
    switch (to) {
        case Ablation::zero: proof.add_step(fmt::format("head {} is ablated", cell.head + 1), 0); break;
        case Ablation::mean: {
            const Eigen::RowVectorXf d = cell.d_column(cell.head, cell.column);
            proof.terms_title = {cell.words.gradient(0), "position by position"};
            add_numbers(proof, cell, SumOver::rows, cell.head, d);
            proof.add_step(fmt::format("÷ {} positions", d.size()), d.cast<double>().mean());
            break;
        }
    }
}

void Ablate::explain(Proof& proof, const Cell& cell) const {
    proof = cell.words.prove(0);
    if (!is_ablated(cell.head)) return;
    proof.add_step(fmt::format("head {} is ablated: {}", cell.head + 1, rule_of(to).words), cell.value);
}

void Ablate::torch(TorchLines& py) const {
    const AblationRule& rule = rule_of(to);
    py.section = fmt::format("Ablated heads: their contexts are {}.", rule.words);
    py.line("{} = {}.clone()", py.out(), py.in(0));
    if (heads == 1 && py.shape(0).heads == 1) return py.line("{}[:] = {}", py.out(), rule.torch(py.in(0)));
    std::string list;
    for (const int head : ablated) list += fmt::format("{}{}", list.empty() ? "" : ", ", head);
    py.line("{}[[{}]] = {}", py.out(), list, rule.torch(fmt::format("{}[[{}]]", py.in(0), list)));
}

}  // namespace attnscope::op
