#include "core/op/mask.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "core/cpu/kernels.h"
#include "core/op/gradient_proof.h"
#include "core/tensor/scratch.h"
#include "core/utf8.h"

namespace attnscope::op {
namespace {

/// Calls each(closes, name) for everything that may close a pair of query i and key j, both from 0:
/// closes(i, j) is whether it does, name() what it is called. center(i) is asked for only if there are
/// centers.
template <typename Center, typename Each>
void for_each_condition(const Mask& mask, bool has_centers, const Center& center, const Each& each) {
    for (const MaskRule& rule : mask.rules) {
        const MaskKind& kind = mask_kind(rule.kind);
        each([&](int i, int j) { return !kind.open(rule, i, j); }, [&] { return lower(kind.label); });
    }
    if (mask.custom)
        each([&](int i, int j) { return (*mask.custom)(i, j) == 0; }, [] { return "custom mask"; });
    if (mask.bias)
        each([&](int i, int j) { return (*mask.bias)(i, j) == -INFINITY; },
             [] { return "custom bias of −∞"; });
    if (has_centers)
        each([&](int i, int j) { return !is_within(center(i), j, mask.window); },
             [&] { return fmt::format("local window, D = {}", number_text(mask.window)); });
}

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
        const bool has_centers = in.count() > 0;
        const ConstMatrixView centers = has_centers ? in.head(0, block.head) : ConstMatrixView(nullptr, 0, 0);
        const auto center = [&](int i) { return centers(i, 0); };
        for_each_condition(*this, has_centers, center, [&](const auto& closes, const auto&) {
            stop_if_canceled(in.cancel);
            close_where(open, block.first, closes);
        });
    });
}

void Mask::cells(const RegionWork& in, MatrixView out) const {
    out.setOnes();
    const Region& region = in.region;
    const auto no_center = [](int) { return 0.0; };
    for_each_condition(*this, false, no_center, [&](const auto& closes, const auto&) {
        for (Eigen::Index i = 0; i < out.rows(); ++i)
            for (Eigen::Index j = 0; j < out.cols(); ++j)
                if (closes(region.row + static_cast<int>(i), region.column + static_cast<int>(j)))
                    out(i, j) = 0;
    });
}

Coverage Mask::coverage(const Region& region) const {
    if (custom || bias) return Coverage::unknown;
    Coverage all = Coverage::all;
    for (const MaskRule& rule : rules) {
        const Coverage one = mask_kind(rule.kind).coverage(rule, region);
        if (one == Coverage::none) return one;
        if (one == Coverage::all) continue;
        all = all == Coverage::all ? one : Coverage::unknown;
    }
    return all;
}

namespace {

/// The four quarters of a region, or its two halves if it has one row or column.
template <typename Each>
void for_each_part(const Region& region, const Each& each) {
    const int rows = (region.rows + 1) / 2, columns = (region.columns + 1) / 2;
    for (int r = 0; r < region.rows; r += rows)
        for (int c = 0; c < region.columns; c += columns)
            each(Region{region.row + r, region.column + c, std::min(rows, region.rows - r),
                        std::min(columns, region.columns - c)});
}

}  // namespace

bool Mask::is_open(int i, int j) const {
    bool open = true;
    for_each_condition(
        *this, false, [](int) { return 0.0; },
        [&](const auto& closes, const auto&) { open = open && !closes(i, j); });
    return open;
}

const MaskRule* Mask::only_rule(const Region& region) const {
    const MaskRule* only = nullptr;
    if (custom || bias) return nullptr;
    for (const MaskRule& rule : rules) {
        if (mask_kind(rule.kind).coverage(rule, region) == Coverage::all) continue;
        if (only) return nullptr;
        only = &rule;
    }
    return only;
}

std::size_t Mask::count_open(const Region& region) const {
    const Coverage known = coverage(region);
    if (known == Coverage::none) return 0;
    if (known == Coverage::all) return region.size();
    if (region.size() == 1) return is_open(region.row, region.column) ? 1 : 0;
    if (const MaskRule* only = only_rule(region); only && mask_kind(only->kind).count)
        return mask_kind(only->kind).count(*only, region);
    std::size_t open = 0;
    for_each_part(region, [&](const Region& part) { open += count_open(part); });
    return open;
}

bool Mask::any_open(const Region& region) const {
    const Coverage known = coverage(region);
    if (known != Coverage::unknown) return known != Coverage::none;
    if (region.size() == 1) return is_open(region.row, region.column);
    bool open = false;
    for_each_part(region, [&](const Region& part) { open = open || any_open(part); });
    return open;
}

Matrix Mask::without_window() const {
    Matrix open = Matrix::Ones(queries, keys);
    for_each_condition(
        *this, false, [](int) { return 0.0; },
        [&](const auto& closes, const auto&) {
            close_where({open.data(), open.rows(), open.cols()}, 0, closes);
        });
    return open;
}

Eigen::RowVectorXf Mask::row(int i, std::optional<double> center) const {
    Eigen::RowVectorXf open = Eigen::RowVectorXf::Ones(keys);
    for_each_condition(
        *this, center.has_value(), [&](int) { return *center; },
        [&](const auto& closes, const auto&) {
            close_where({open.data(), 1, open.size()}, i, closes);
        });
    return open;
}

std::vector<std::string> Mask::closing(int i, int j, std::optional<double> center) const {
    std::vector<std::string> names;
    for_each_condition(
        *this, center.has_value(), [&](int) { return *center; },
        [&](const auto& closes, const auto& name) {
            if (closes(i, j)) names.emplace_back(name());
        });
    return names;
}

void MaskedFill::rows(const RowWork& in, MatrixView out) const {
    if (in.is_known_without_zeros(1))
        out = in.rows(0);
    else
        mask_rows(in.rows(0), in.rows(1), out);
}

void MaskedFill::cells(const RegionWork& in, MatrixView out) const {
    const Coverage open = in.coverage(1);
    if (open == Coverage::none) {
        out.setConstant(-INFINITY);
        return;
    }
    in.read(0, out);
    if (open == Coverage::all) return;
    Scratch scratch(out.rows(), out.cols());
    const MatrixView mask = scratch.view();
    in.read(1, mask);
    mask_rows({out.data(), out.rows(), out.cols()}, {mask.data(), mask.rows(), mask.cols()}, out);
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
    std::optional<double> center;
    if (!cell.inputs.empty()) center = cell.at(0, cell.row, 0);
    proof.remark =
        fmt::format("{}: {}", k_closed_by_mask, fmt::join(closing(cell.row, cell.column, center), " + "));
}

void MaskedFill::explain_gradient(Proof& proof, const GradientCell& cell) const {
    if (cell.in(1, cell.head, cell.row, cell.column) != 0)
        return pass_on(proof, cell, cell.head, cell.row, cell.column);
    proof.remark = std::string(k_closed_by_mask) + ": nothing is passed back";
}

void MaskedFill::explain(Proof& proof, const Cell& cell) const {
    proof = cell.words.prove(0);
    proof.begin_with_score(cell.at(0));
    if (cell.value != -INFINITY) return;
    const bool by_score = cell.at(1) != 0;
    proof.remark = by_score ? std::string(k_closed_by_score) : cell.words.prove(1).remark;
    proof.add_step("masked", cell.value,
                   by_score ? "The score itself is −∞: its weight is 0"
                            : "Closed by the mask: the score becomes −∞, and its weight 0");
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
    py.section = closes ? "Mask: which query i may attend to which key j; closed cells become −∞."
                        : "Mask: every query may attend to every key.";
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
        py.line("{0} = {0} & ({1})", mask, within_in_python(keys, py.in(0) + ".unsqueeze(-1)", window));
}

void MaskedFill::torch(TorchLines& py) const {
    py.line("{} = {}.masked_fill(~{}, -inf)", py.out(), py.in(0), py.in(1));
}

}  // namespace attnscope::op
