#include "app/document/given.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.h"
#include "core/experiment/masks.h"
#include "core/files/read_matrix.h"
#include "core/graph/trace.h"
#include "core/op/normalizers.h"

namespace attnscope {
namespace {

constexpr std::array k_presets = {
    MaskPreset{"All open", "Every query may look at every key", [](int, int, bool) { return true; }},
    MaskPreset{"Causal", "Itself and what comes before it", [](int i, int j, bool) { return j <= i; }},
    MaskPreset{"Window", "Itself and its neighbors",
               [](int i, int j, bool) { return i - 1 <= j && j <= i + 1; }},
    MaskPreset{"Checker", "Every other key", [](int i, int j, bool) { return (i + j) % 2 == 0; }},
    MaskPreset{"All closed", "No key may be looked at", [](int, int, bool) { return false; }},
    MaskPreset{"Invert", "Open closed cells and close open ones", [](int, int, bool now) { return !now; }},
};

int rows_of(const Trace& trace, std::string_view stage, const std::vector<std::string>& tokens) {
    const Stage* found = trace.find(stage);
    return found ? found->shape().rows : static_cast<int>(tokens.size());
}

/// The custom mask, if it has this size.
const Matrix* fitting_mask(const Experiment& experiment, int queries, int keys) {
    const auto given = experiment.given.find("mask");
    if (given == experiment.given.end()) return nullptr;
    const Matrix& values = given->second.values();
    return values.rows() == queries && values.cols() == keys ? &values : nullptr;
}

/// Whether the key is outside the window around the center; always true if the center is NaN.
bool outside_window(const Trace& trace, const Stage& center, int head, int query, int key) {
    const double distance = std::abs(key - static_cast<double>(center.buffer.at(head, query, 0)));
    return !(distance <= trace.experiment.local_window);
}

}  // namespace

std::string_view mask_stage(const Experiment& experiment) {
    return experiment.mechanism == MechanismKind::seq2seq ? "alignment_mask" : "mask";
}

std::string given_name_of(std::string_view stage) {
    const std::string_view name = stage == "alignment_mask" ? "mask" : stage;
    const bool known = std::ranges::find(given_names(), name, &GivenName::name) != given_names().end();
    return known ? std::string(name) : "";
}

std::string closed_beyond_mask(const Trace& trace, int head, int query, int key) {
    const Experiment& e = trace.experiment;
    const auto bias = e.given.find("mask_additive");
    if (bias != e.given.end() && e.mechanism == MechanismKind::attention &&
        bias->second.values()(query, key) == -INFINITY)
        return "the custom bias of −∞";
    const Stage* center = trace.find(e.mechanism == MechanismKind::seq2seq ? "alignment_center" : "center");
    if (!center) return "";
    const int last = center->shape().heads - 1;
    for (int h = head < 0 ? 0 : std::min(head, last); h <= (head < 0 ? last : std::min(head, last)); ++h)
        if (!outside_window(trace, *center, h, query, key)) return "";
    return "the local window, D = " + fmt::format("{}", e.local_window);
}

std::span<const MaskPreset> mask_presets() { return k_presets; }

Matrix editable_mask(const Experiment& experiment, int queries, int keys) {
    const Matrix* given = fitting_mask(experiment, queries, keys);
    if (given && experiment.mask.empty()) return *given;
    Matrix mask = mask_matrix(experiment.mask, queries, keys).head(0);
    if (given) mask = (given->array() != 0).select(mask, 0);
    return mask;
}

bool may_look(const Experiment& experiment, int queries, int keys, int query, int key) {
    const Matrix* given = fitting_mask(experiment, queries, keys);
    bool open = !given || (*given)(query, key) != 0;
    for (const MaskRule& rule : experiment.mask) {
        const MaskKind& kind = mask_kind(rule.kind);
        kind.check_fit(rule, queries);
        open = open && kind.open(rule, query, key);
    }
    return open;
}

void paint_mask(Document& document, Matrix mask, const std::string& gesture) {
    document.change(
        [&](Session& session) {
            session.experiment.given.insert_or_assign("mask", GivenMatrix(std::move(mask)));
            session.experiment.mask.clear();
        },
        gesture);
}

GivenSize given_size(const Trace& trace, std::string_view name) {
    const Experiment& e = trace.experiment;
    const bool decodes = e.mechanism == MechanismKind::seq2seq;
    const Stage* mask = decodes ? &main_stage(trace) : trace.find("mask");
    // A greedy decoder may stop before its last step, but its mask covers all steps.
    const int N = decodes && e.decode == Decode::greedy ? e.max_steps
                  : mask                                ? mask->shape().rows
                                                        : rows_of(trace, "embedding", trace.rows);
    const int M = mask && !decodes ? mask->shape().columns : static_cast<int>(trace.columns.size());
    const int d = e.dim, h = e.heads, keys = e.key_columns(), values = e.value_columns();
    const int d_k = keys / h, hidden = e.hidden, units = e.feed_forward_columns();
    const Stage* table = trace.find("table");
    const int words = table ? table->shape().rows : static_cast<int>(trace.table.size());
    const std::pair<std::string_view, GivenSize> sizes[] = {
        {"embedding", {N, d}},     {"embedding_kv", {M, d}},
        {"embedding_v", {M, d}},   {"query", {N, keys}},
        {"key", {M, keys}},        {"value", {M, values}},
        {"scores", {N, M}},        {"mask", {N, M}},
        {"mask_additive", {N, M}}, {"dropout_keep", {h * N, M}},
        {"W_q", {keys, d}},        {"W_k", {keys, d}},
        {"W_v", {values, d}},      {"W_o", {d, values}},
        {"b_q", {1, keys}},        {"b_k", {1, keys}},
        {"b_v", {1, values}},      {"b_o", {1, d}},
        {"W_score", {d_k, d_k}},   {"W_aq", {hidden, d_k}},
        {"W_ak", {hidden, d_k}},   {"b_a", {1, hidden}},
        {"v_a", {1, hidden}},      {"W_c", {hidden, 2 * d_k}},
        {"v_c", {1, hidden}},      {"W_loc", {M, d_k}},
        {"W_p", {hidden, d_k}},    {"v_p", {1, hidden}},
        {"ln1_g", {1, d}},         {"ln1_b", {1, d}},
        {"W_1", {units, d}},       {"b_1", {1, units}},
        {"W_2", {d, units}},       {"b_2", {1, d}},
        {"ln2_g", {1, d}},         {"ln2_b", {1, d}},
        {"W_out", {words, d}},     {"b_out", {1, words}},
        {"targets", {1, N}},       {"loss_weights", {N, d}},
    };
    for (const auto& [each, size] : sizes)
        if (each == name) return {std::max(size.rows, 1), std::max(size.columns, 1)};
    return {1, 1};
}

Matrix given_start(const Trace* trace, const Experiment& experiment, const std::string& name) {
    const auto given = experiment.given.find(name);
    if (given != experiment.given.end()) return given->second.values();
    if (!trace) return Matrix::Zero(1, 1);
    const Stage* stage = trace->find(name);
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

int head_width(const Trace& trace, const std::string& stage) {
    for (const std::string& name : {stage + "_heads", stage})
        if (const Stage* found = trace.find(name)) return found->shape().columns;
    return 0;
}

int key_width(const Experiment& experiment, const Trace* trace) {
    const int width = trace ? head_width(*trace, "key") : 0;
    return width > 0 ? width : experiment.key_columns() / std::max(experiment.heads, 1);
}

void give(Document& document, const std::string& name, Matrix values, const std::string& gesture) {
    document.change(
        [&](Session& session) {
            Experiment& e = session.experiment;
            if (name == "scores" && e.scale.kind == Scale::Kind::sqrt)
                e.scale = {Scale::Kind::number, e.scale.factor(key_width(e, document.trace().get()))};
            e.given.insert_or_assign(name, GivenMatrix(std::move(values)));
        },
        gesture);
}

void take_back(Document& document, const std::string& name) {
    document.change([&](Session& session) { session.experiment.given.erase(name); });
}

float parse_cell(const std::string& text) {
    const Matrix cell = matrix_from_csv(text, "the cell");
    if (cell.size() != 1) throw Error(ErrorKind::bad_input, "a cell takes one number: " + text);
    return cell(0, 0);
}

}  // namespace attnscope
