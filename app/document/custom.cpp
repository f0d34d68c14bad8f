#include "app/document/custom.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/error.h"
#include "core/experiment/masks.h"
#include "core/files/read_matrix.h"
#include "core/graph/stage_table.h"
#include "core/limits.h"
#include "core/mechanism/mechanisms.h"
#include "core/op/mask.h"

namespace attnscope {
namespace {

/// Whether the mask rule of this kind, with these arguments, opens a pair.
template <MaskForm kind, std::int64_t... arguments>
bool opens(int i, int j, bool) {
    static const MaskRule rule{kind, {arguments...}};
    return mask_kind(kind).open(rule, i, j);
}

constexpr std::array k_presets = {
    MaskPreset{"All open", "Every query may attend to every key", [](int, int, bool) { return true; }},
    MaskPreset{"Causal", "Each token and those before it", opens<MaskForm::causal>},
    MaskPreset{"Window", "Each token and its neighbors", opens<MaskForm::window, 1, 1>},
    MaskPreset{"Checkerboard", "Every other key", [](int i, int j, bool) { return (i + j) % 2 == 0; }},
    MaskPreset{"All closed", "All cells closed", [](int, int, bool) { return false; }},
    MaskPreset{"Invert", "Open closed cells and close open ones", [](int, int, bool now) { return !now; }},
};

/// The custom mask, if it has this size.
const Matrix* fitting_mask(const Experiment& experiment, int queries, int keys) {
    const CustomMatrix* given = experiment.weights.find_custom("mask");
    if (!given) return nullptr;
    const Matrix& values = given->values();
    return values.rows() == queries && values.cols() == keys ? &values : nullptr;
}

/// The rules with the custom mask, if that has this size. Throws as MaskKind::check_fit.
op::Mask rules_and_custom(const Experiment& experiment, int queries, int keys) {
    op::Mask mask{.queries = queries, .keys = keys, .rules = experiment.weighting.mask};
    for (const MaskRule& rule : mask.rules) mask_kind(rule.kind).check_fit(rule, queries);
    if (fitting_mask(experiment, queries, keys))
        mask.custom = experiment.weights.find_custom("mask")->shared();
    return mask;
}

}  // namespace

const StageInfo* mask_stage(const Experiment& experiment) { return mechanism_of(experiment).mask; }

std::string custom_name_of(const StageKey& stage) {
    if (info_of(stage).role == StageRole::mask) return "mask";
    const std::string name = stage_name(stage);
    return find_overridable(name) ? name : "";
}

std::string closed_beyond_mask(const Trace& trace, int head, int query, int key) {
    const Experiment& e = trace.experiment;
    op::Mask beyond{.queries = query + 1, .keys = key + 1, .rules = {}, .window = e.weighting.local_window};
    const CustomMatrix* bias = e.weights.find_custom("mask_additive");
    if (bias && !mechanism_rule(e.mechanism).is_recurrent) beyond.bias = bias->shared();
    std::vector<std::string> closing = beyond.closing(query, key);
    const Stage* center = trace.find(mechanism_of(e).center);
    if (closing.empty() && center) {
        const int last = center->shape().heads - 1, only = std::min(head, last);
        for (int h = head < 0 ? 0 : only; h <= (head < 0 ? last : only); ++h) {
            closing = beyond.closing(query, key, center->buffer.at(h, query, 0));
            if (closing.empty()) return "";
        }
    }
    return closing.empty() ? "" : "the " + closing.front();
}

std::span<const MaskPreset> mask_presets() { return k_presets; }

Matrix editable_mask(const Experiment& experiment, int queries, int keys) {
    const Matrix* given = fitting_mask(experiment, queries, keys);
    if (given && experiment.weighting.mask.empty()) return *given;
    return rules_and_custom(experiment, queries, keys).without_window();
}

bool may_attend(const Experiment& experiment, int queries, int keys, int query, int key) {
    return rules_and_custom(experiment, queries, keys).closing(query, key).empty();
}

void paint_mask(Document& document, Matrix mask, const std::string& gesture) {
    document.change(
        [&](Session& session) {
            session.experiment.weights.set_custom("mask", std::move(mask));
            session.experiment.weighting.mask.clear();
        },
        gesture);
}

std::vector<std::string> names_to_override(const Trace* trace, const Experiment& experiment) {
    std::vector<std::string> names;
    if (trace)
        for (const Overridable& each : trace->overridable) names.push_back(each.name);
    else
        for (const OverridableMatrix& each : overridable_matrices()) names.emplace_back(each.name);
    for (const auto& [name, matrix] : experiment.weights.custom)
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    return names;
}

CustomSize custom_size(const Trace& trace, std::string_view name) {
    const auto found = std::ranges::find(trace.overridable, name, &Overridable::name);
    return found == trace.overridable.end() ? CustomSize{1, 1} : CustomSize{found->rows, found->columns};
}

Matrix custom_start(const Trace* trace, const Experiment& experiment, const std::string& name) {
    if (const CustomMatrix* given = experiment.weights.find_custom(name)) return given->values();
    if (!trace) return Matrix::Zero(1, 1);
    if (const CustomSize size = custom_size(*trace, name);
        static_cast<std::size_t>(size.rows) * static_cast<std::size_t>(size.columns) > k_max_matrix_numbers)
        throw Error(ErrorKind::too_large,
                    fmt::format("a custom {} would be {} × {}, and up to {} numbers are supported", name,
                                size.rows, size.columns, k_max_matrix_numbers));
    const Stage* stage = trace->find_named(name);
    // The mask stage includes the local window and a closing bias, which are not part of the custom mask.
    if (CustomName(name) == CustomName("mask") && trace->find(mask_stage(experiment))) {
        const CustomSize size = custom_size(*trace, name);
        return editable_mask(experiment, size.rows, size.columns);
    }
    if (stage && (stage->shape().heads == 1 || stage->info == "dropout_keep"_stage)) {
        const Shape& shape = stage->shape();
        Matrix values(shape.heads * shape.rows, shape.columns);
        for (int h = 0; h < shape.heads; ++h)
            values.middleRows(Eigen::Index{h} * shape.rows, shape.rows) =
                stage->buffer.rows(h, 0, shape.rows);
        return values;
    }
    const CustomSize size = custom_size(*trace, name);
    const OverridableMatrix* known = find_overridable(name);
    return Matrix::Constant(size.rows, size.columns, known ? known->start : 0.0f);
}

int head_width(const Trace& trace, StageKey heads, StageKey whole) {
    for (const StageKey& key : {heads, whole})
        if (const Stage* found = trace.find_chosen(key)) return found->shape().columns;
    return 0;
}

int key_width(const Experiment& experiment, const Trace* trace) {
    const int width = trace ? head_width(*trace, "key_heads"_stage, "key"_stage) : 0;
    return width > 0 ? width : experiment.key_width();
}

void set_custom(Document& document, const std::string& name, Matrix values, const std::string& gesture) {
    document.change(
        [&](Session& session) {
            Experiment& e = session.experiment;
            if (CustomName(name) == CustomName("scores") && e.attention.scale.kind == Scale::Kind::sqrt)
                e.attention.scale = {Scale::Kind::number,
                                     e.attention.scale.factor(key_width(e, document.trace().get()))};
            e.weights.set_custom(name, std::move(values));
        },
        gesture);
}

void discard_custom(Document& document, const std::string& name) {
    document.change([&](Session& session) { session.experiment.weights.discard(name); });
}

float parse_cell(const std::string& text) {
    const Matrix cell = matrix_from_csv(text, "the cell");
    if (cell.size() != 1) throw Error(ErrorKind::bad_input, "a cell takes one number: " + text);
    return cell(0, 0);
}

}  // namespace attnscope
