#include "core/op/mask.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "core/cpu/kernels.h"

namespace attnscope::op {
namespace {

/// Writes 0 where `is_closed(i, j)`; the first row of `open` is query `first`.
template <typename IsClosed>
void close_where(MatrixView open, Eigen::Index first, const IsClosed& is_closed) {
    for (Eigen::Index i = 0; i < open.rows(); ++i)
        for (Eigen::Index j = 0; j < open.cols(); ++j)
            if (is_closed(static_cast<int>(first + i), static_cast<int>(j))) open(i, j) = 0;
}

}  // namespace

Shape Mask::shape(Shapes in) const {
    const int heads = in.empty() ? 1 : in[0].heads;
    return {.heads = heads, .rows = queries, .columns = keys, .per_head = heads > 1};
}

void Mask::forward(const Work& in, Tensor& out) const {
    const double work = 4 * (1 + static_cast<double>(rules.size()));
    for_row_blocks(row_loop(in, out.shape(), work), [&](RowBlock block) {
        MatrixView open = block.of(out.head(block.head));
        open.setOnes();
        for (const MaskRule& rule : rules) {
            stop_if_cancelled(in.cancel);
            const MaskKind& kind = mask_kind(rule.kind);
            close_where(open, block.first, [&](int i, int j) { return !kind.open(rule, i, j); });
        }
        if (custom) close_where(open, block.first, [&](int i, int j) { return (*custom)(i, j) == 0; });
        if (bias) close_where(open, block.first, [&](int i, int j) { return (*bias)(i, j) == -INFINITY; });
        if (in.count() == 0) return;
        const ConstMatrixView centers = in.head(0, block.head);
        close_where(open, block.first, [&](int i, int j) {
            return !(std::abs(j - static_cast<double>(centers(i, 0))) <= window);
        });
    });
}

void MaskedFill::forward(const Work& in, Tensor& out) const {
    for_row_blocks(row_loop(in, out.shape(), 1), [&](RowBlock block) {
        mask_rows(block.of(in.head(0, block.head)), block.of(in.head(1, block.head)),
                  block.of(out.head(block.head)));
    });
}

void MaskedFill::backward(const Backward& at) const {
    for (int h = 0; h < at.heads(); ++h)
        if (at.wants(0)) at.sum(0, h) += (at.input(1, h).array() == 0).select(0.0f, at.gradient(h));
}

void Mask::explain(Proof& proof, const Cell& cell) const {
    if (cell.value != 0) {
        proof.remark = "open: this query may attend to this key";
        return;
    }
    const int i = cell.row, j = cell.column;
    std::vector<std::string> closing;
    for (const MaskRule& rule : rules)
        if (!mask_kind(rule.kind).open(rule, i, j)) closing.emplace_back(name_of(rule.kind));
    if (custom && (*custom)(i, j) == 0) closing.emplace_back("custom mask");
    if (bias && (*bias)(i, j) == -INFINITY) closing.emplace_back("bias −∞");
    if (!cell.inputs.empty() && !(std::abs(j - static_cast<double>(cell.at(0, i, 0))) <= window))
        closing.push_back(fmt::format("more than D = {} from the center", number_text(window)));
    proof.remark = fmt::format("{}: {}", k_closed_by_mask, fmt::join(closing, " + "));
}

void MaskedFill::explain(Proof& proof, const Cell& cell) const {
    proof = cell.words.prove(0);
    if (proof.steps.empty()) proof.add_step("score", cell.at(0));
    if (cell.value != -INFINITY) return;
    proof.remark = cell.at(1) != 0 ? "closed: the score is −∞" : cell.words.prove(1).remark;
    proof.add_step("masked", cell.value);
}

std::string Mask::formula(const Symbols& in) const {
    std::vector<std::string> conditions;
    for (const MaskRule& rule : rules) conditions.push_back(mask_kind(rule.kind).condition(rule));
    if (custom) conditions.emplace_back("the custom mask is open");
    if (bias) conditions.emplace_back("the custom bias is not −∞");
    if (in.count > 0) conditions.push_back(fmt::format("|j − p| ≤ {}", window));
    return conditions.empty() ? std::string(k_all_open)
                              : fmt::format("open where {}", fmt::join(conditions, " and "));
}

std::string Mask::caption(const Symbols& in) const {
    std::vector<std::string_view> names;
    for (const MaskRule& rule : rules) names.push_back(name_of(rule.kind));
    if (rules.empty() && custom) names.emplace_back("custom");
    if (in.count > 0) names.emplace_back("local");
    return names.empty() ? "open" : fmt::format("{}", fmt::join(names, " + "));
}

void Mask::torch(TorchLines& py) const {
    const std::string& mask = py.out();
    const bool closes = !rules.empty() || custom || bias || !py.inputs.empty();
    py.section = closes ? "Mask: which query i may look at which key j; closed cells become −∞."
                        : "Mask: every query may look at every key.";
    py.line("{} = torch.ones({}, {}, dtype=torch.bool)", mask, queries, keys);
    if (!rules.empty()) py.line("i, j = torch.arange({})[:, None], torch.arange({})", queries, keys);
    for (const MaskRule& rule : rules) {
        if (has_argument_for_each(rule)) py.list("each = torch.tensor([", python_items(rule.arguments), "])");
        py.line("{} &= {}", mask, mask_kind(rule.kind).torch(rule));
    }
    if (custom) {
        py.tensor({.name = "custom_mask"}, *custom);
        py.line("{} &= custom_mask != 0", mask);
    }
    if (bias) py.line("{} &= mask_additive != -inf", mask);
    if (!py.inputs.empty())
        py.line("{0} = {0} & ((torch.arange({1}) - {2}.unsqueeze(-1)).abs() <= {3})", mask, keys, py.in(0),
                window);
}

void MaskedFill::torch(TorchLines& py) const {
    py.line("{} = {}.masked_fill(~{}, -inf)", py.out(), py.in(0), py.in(1));
}

}  // namespace attnscope::op
