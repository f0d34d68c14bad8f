#include "app/document/given.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.h"
#include "core/experiment/masks.h"
#include "core/files/read_matrix.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/mechanisms.h"
#include "core/op/normalizers.h"

namespace attnscope {
namespace {

constexpr std::array k_presets = {
    MaskPreset{"All open", "Every query may look at every key", [](int, int, bool) { return true; }},
    MaskPreset{"Causal", "Each token and those before it", [](int i, int j, bool) { return j <= i; }},
    MaskPreset{"Window", "Each token and its neighbors",
               [](int i, int j, bool) { return i - 1 <= j && j <= i + 1; }},
    MaskPreset{"Checker", "Every other key", [](int i, int j, bool) { return (i + j) % 2 == 0; }},
    MaskPreset{"All closed", "All cells closed", [](int, int, bool) { return false; }},
    MaskPreset{"Invert", "Open closed cells and close open ones", [](int, int, bool now) { return !now; }},
};

/// The custom mask, if it has this size.
const Matrix* fitting_mask(const Experiment& experiment, int queries, int keys) {
    const auto given = experiment.weights.given.find("mask");
    if (given == experiment.weights.given.end()) return nullptr;
    const Matrix& values = given->second.values();
    return values.rows() == queries && values.cols() == keys ? &values : nullptr;
}

/// Whether the key is outside the window around the center; always true if the center is NaN.
bool outside_window(const Trace& trace, const Stage& center, int head, int query, int key) {
    const double distance = std::abs(key - static_cast<double>(center.buffer.at(head, query, 0)));
    return !(distance <= trace.experiment.weighting.local_window);
}

}  // namespace

const StageInfo* mask_stage(const Experiment& experiment) { return mechanism_of(experiment).mask; }

std::string given_name_of(std::string_view stage) {
    const std::string_view name = stage == "alignment_mask" ? "mask" : stage;
    const bool known = std::ranges::find(given_names(), name, &GivenName::name) != given_names().end();
    return known ? std::string(name) : "";
}

std::string closed_beyond_mask(const Trace& trace, int head, int query, int key) {
    const Experiment& e = trace.experiment;
    const auto bias = e.weights.given.find("mask_additive");
    if (bias != e.weights.given.end() && !mechanism_of(e).is_recurrent &&
        bias->second.values()(query, key) == -INFINITY)
        return "the custom bias of −∞";
    const Stage* center = trace.find(mechanism_of(e).center);
    if (!center) return "";
    const int last = center->shape().heads - 1;
    for (int h = head < 0 ? 0 : std::min(head, last); h <= (head < 0 ? last : std::min(head, last)); ++h)
        if (!outside_window(trace, *center, h, query, key)) return "";
    return fmt::format("the local window, D = {}", e.weighting.local_window);
}

std::span<const MaskPreset> mask_presets() { return k_presets; }

Matrix editable_mask(const Experiment& experiment, int queries, int keys) {
    const Matrix* given = fitting_mask(experiment, queries, keys);
    if (given && experiment.weighting.mask.empty()) return *given;
    Matrix mask = mask_matrix(experiment.weighting.mask, queries, keys).head(0);
    if (given) mask = (given->array() != 0).select(mask, 0);
    return mask;
}

bool may_look(const Experiment& experiment, int queries, int keys, int query, int key) {
    const Matrix* given = fitting_mask(experiment, queries, keys);
    bool open = !given || (*given)(query, key) != 0;
    for (const MaskRule& rule : experiment.weighting.mask) {
        const MaskKind& kind = mask_kind(rule.kind);
        kind.check_fit(rule, queries);
        open = open && kind.open(rule, query, key);
    }
    return open;
}

void paint_mask(Document& document, Matrix mask, const std::string& gesture) {
    document.change(
        [&](Session& session) {
            session.experiment.weights.given.insert_or_assign("mask", GivenMatrix(std::move(mask)));
            session.experiment.weighting.mask.clear();
        },
        gesture);
}

GivenSize given_size(const Trace& trace, std::string_view name) {
    const auto found = std::ranges::find(trace.givable, name, &Givable::name);
    return found == trace.givable.end() ? GivenSize{1, 1} : GivenSize{found->rows, found->columns};
}

Matrix given_start(const Trace* trace, const Experiment& experiment, const std::string& name) {
    const auto given = experiment.weights.given.find(name);
    if (given != experiment.weights.given.end()) return given->second.values();
    if (!trace) return Matrix::Zero(1, 1);
    const Stage* stage = trace->find_named(name);
    // The mask stage includes the local window and a closing bias, which are not part of the custom mask.
    if (name == "mask" && trace->find(mask_stage(experiment))) {
        const GivenSize size = given_size(*trace, name);
        return editable_mask(experiment, size.rows, size.columns);
    }
    if (stage && (stage->shape().heads == 1 || name == "dropout_keep")) {
        const Shape& shape = stage->shape();
        Matrix values(shape.heads * shape.rows, shape.columns);
        for (int h = 0; h < shape.heads; ++h)
            values.middleRows(Eigen::Index{h} * shape.rows, shape.rows) =
                stage->buffer.rows(h, 0, shape.rows);
        return values;
    }
    const GivenSize size = given_size(*trace, name);
    const bool ones = name == "mask" || name == "dropout_keep" || name.ends_with("_g");
    return Matrix::Constant(size.rows, size.columns, ones ? 1.0f : 0.0f);
}

int head_width(const Trace& trace, StageKey heads, StageKey whole) {
    for (const StageKey& key : {heads, whole})
        if (const Stage* found = trace.find(key)) return found->shape().columns;
    return 0;
}

int key_width(const Experiment& experiment, const Trace* trace) {
    const int width = trace ? head_width(*trace, "key_heads"_stage, "key"_stage) : 0;
    return width > 0 ? width : experiment.key_columns() / std::max(experiment.attention.heads, 1);
}

void give(Document& document, const std::string& name, Matrix values, const std::string& gesture) {
    document.change(
        [&](Session& session) {
            Experiment& e = session.experiment;
            if (name == "scores" && e.attention.scale.kind == Scale::Kind::sqrt)
                e.attention.scale = {Scale::Kind::number,
                                     e.attention.scale.factor(key_width(e, document.trace().get()))};
            e.weights.given.insert_or_assign(name, GivenMatrix(std::move(values)));
        },
        gesture);
}

void discard_custom(Document& document, const std::string& name) {
    document.change([&](Session& session) { session.experiment.weights.given.erase(name); });
}

float parse_cell(const std::string& text) {
    const Matrix cell = matrix_from_csv(text, "the cell");
    if (cell.size() != 1) throw Error(ErrorKind::bad_input, "a cell takes one number: " + text);
    return cell(0, 0);
}

}  // namespace attnscope
