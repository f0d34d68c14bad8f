#include "core/export/trace_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/export/export.h"
#include "core/graph/trace.h"
#include "core/memory.h"
#include "core/picture/shown_matrix.h"
#include "core/session/options.h"

namespace attnscope {
namespace {

void append_number(std::string& out, float value) {
    if (value == -INFINITY) {
        out += "null";
    } else if (!std::isfinite(value)) {
        out += std::isnan(value) ? "\"nan\"" : "\"inf\"";
    } else {
        std::array<char, 32> digits;
        const auto end =
            std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::general, 9);
        out.append(digits.data(), end.ptr);
        // Written as the integer -0, zero would lose its sign when JSON is read.
        if (value == 0 && std::signbit(value)) out += ".0";
    }
}

template <typename Each>
void append_list(std::string& out, int count, const Each& each) {
    out += '[';
    for (int i = 0; i < count; ++i) {
        if (i) out += ',';
        each(i);
    }
    out += ']';
}

void append_matrix(std::string& out, const Matrix& values, bool vector, int depth, bool nested) {
    append_list(out, static_cast<int>(values.rows()), [&](int i) {
        const auto number = [&](int j) { append_number(out, values(i, j)); };
        if (vector) return number(0);
        append_list(out, static_cast<int>(values.cols()) / depth, [&](int j) {
            if (!nested) return number(j);
            append_list(out, depth, [&](int k) { number(j * depth + k); });
        });
    });
}

/// The matrices that `choice` selects in a stage with heads.
std::vector<ShownMatrix> matrices_of(const Stage& stage, const HeadChoice& choice) {
    std::vector<ShownMatrix> matrices;
    for (const HeadChoice& head : heads_of(stage, choice)) matrices.push_back(shown_matrix(stage, head));
    return matrices;
}

/// Whether its numbers are left out: too many, and nothing says which.
bool is_left_out(const Stage& stage, const std::optional<Region>& region) {
    return stage.buffer.on_demand() && !(region && is_of_pairs(*stage.info));
}

/// Appends a stage's numbers under its name; a gradient has the name of its stage.
void append_stage(std::string& out, const Stage& stage, const HeadChoice& head,
                  const std::optional<Region>& chosen) {
    const Shape& shape = stage.shape();
    const Region region = exported_region(stage, chosen);
    const bool vector = stage.info->columns == Axis::single;
    const bool nested = stage.info->columns == Axis::key_hidden;
    const std::vector<ShownMatrix> matrices = matrices_of(stage, head);
    out += "\"" + stage_name(stage.key().as(StageKey::Part::value)) + "\":{\"shape\":[";
    if (shape.per_head) out += fmt::format("{},", matrices.size());
    out += fmt::format("{}{}{}],\"data\":", region.rows,
                       vector ? "" : "," + std::to_string(region.columns / shape.depth),
                       nested ? "," + std::to_string(shape.depth) : "");
    if (is_left_out(stage, chosen))
        out += "null";
    else if (shape.per_head)
        append_list(out, static_cast<int>(matrices.size()), [&](int h) {
            append_matrix(out, values_in(matrices[static_cast<std::size_t>(h)], region), vector, shape.depth,
                          nested);
        });
    else
        append_matrix(out, values_in(matrices.front(), region), vector, shape.depth, nested);
    out += '}';
}

/// A stage's key chooses its gradient, too; none chooses all.
bool is_chosen(const Stage& stage, std::span<const StageKey> keys) {
    return keys.empty() || std::ranges::any_of(keys, [&](const StageKey& key) {
               return may_mean(key, stage) || may_mean(key.as(StageKey::Part::gradient), stage);
           });
}

void append_stages(std::string& out, const std::vector<StagePtr>& stages, std::span<const StageKey> keys,
                   const HeadChoice& head, const std::optional<Region>& region) {
    bool first = true;
    out += '{';
    for (const StagePtr& stage : stages) {
        if (!is_chosen(*stage, keys)) continue;
        out += first ? "\n" : ",\n";
        first = false;
        append_stage(out, *stage, head, region);
    }
    out += '}';
}

/// Checks that the text, which is larger than the numbers themselves, fits in memory.
void require_memory(const Trace& trace, std::span<const StageKey> keys, const std::optional<Region>& region) {
    // Twice what the text needs, because it is copied as it grows.
    constexpr std::size_t k_bytes_per_number = std::size_t{2} * 16;
    std::size_t numbers = 0;
    for (const StageRecord& record : trace.records)
        if (is_chosen(*record.stage, keys) && !is_left_out(*record.stage, region))
            numbers += static_cast<std::size_t>(record.stage->shape().heads) *
                       exported_region(*record.stage, region).size();
    for (const StagePtr& gradient : trace.gradients)
        if (is_chosen(*gradient, keys)) numbers += gradient->shape().size();
    const std::size_t needed = numbers * k_bytes_per_number, free = available_memory();
    if (needed > free)
        throw Error(
            ErrorKind::too_large,
            fmt::format(
                "the text of {} numbers needs {} MiB and {} MiB are free: name fewer stages (--stage)",
                numbers, needed >> 20, free >> 20));
}

std::vector<StageKey> keys_of(const Trace& trace, std::span<const std::string> names) {
    std::vector<StageKey> keys;
    for (const std::string& name : names) {
        const auto key = find_stage_key(name);
        if (!key || !trace.find_chosen(*key))
            throw Error(ErrorKind::bad_input,
                        "this experiment has no stage " + name + ": see attnscope trace");
        keys.push_back(*key);
    }
    return keys;
}

}  // namespace

std::vector<std::string> names_left_out(const Trace& trace, std::span<const std::string> names,
                                        const std::optional<Region>& region) {
    const std::vector<StageKey> keys = keys_of(trace, names);
    std::vector<std::string> left_out;
    for (const StagePtr& stage : trace.stages())
        if (is_chosen(*stage, keys) && is_left_out(*stage, region)) left_out.emplace_back(stage->name());
    return left_out;
}

std::string trace_json(const Trace& trace, std::span<const std::string> names, const HeadChoice& head,
                       const std::optional<Region>& region) {
    const std::vector<StageKey> keys = keys_of(trace, names);
    require_memory(trace, keys, region);
    const Json session = Json::parse(to_json(Session{trace.experiment, {}, {}}));
    std::string out =
        "{\"format\":\"attnscope-trace\",\"version\":1,\n\"experiment\":" + session["experiment"].dump() +
        ",\n\"backend\":" + Json(name_of(trace.backend)).dump() + ",\n\"rows\":" + Json(trace.rows).dump() +
        ",\n\"columns\":" + Json(trace.columns).dump();
    if (region)
        out += fmt::format(",\n\"region\":\"{}:{},{}:{}\"", region->row + 1, region->end_row(),
                           region->column + 1, region->end_column());
    out += ",\n\"stages\":";
    append_stages(out, trace.stages(), keys, head, region);
    out += ",\n\"parameters\":";
    append_stages(out, trace.parameters(), keys, head, region);
    if (!trace.gradients.empty()) {
        out += ",\n\"gradients\":";
        append_stages(out, trace.gradients, keys, head, region);
    }
    return out + "}\n";
}

}  // namespace attnscope
