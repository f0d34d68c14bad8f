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

/// A matrix is a list of rows; of one column a list of numbers; of columns of `depth` numbers each, if
/// `nested`, a list of rows of columns.
void write_matrix(const ByteSink& to, const ShownMatrix& shown, const Region& region, bool vector, int depth,
                  bool nested) {
    to("[");
    for_each_row(shown, region, [&](int row, std::span<const float> values) {
        std::string line = row == 0 ? "" : ",";
        const auto number = [&](int j) { append_number(line, values[static_cast<std::size_t>(j)]); };
        if (vector)
            number(0);
        else
            append_list(line, static_cast<int>(values.size()) / depth, [&](int j) {
                if (!nested) return number(j);
                append_list(line, depth, [&](int k) { number(j * depth + k); });
            });
        to(line);
    });
    to("]");
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

/// Throws what write_stage() will, before anything is written.
void require_written(const Stage& stage, const HeadChoice& head, const std::optional<Region>& chosen) {
    matrices_of(stage, head);
    const Region region = exported_region(stage, chosen);
    if (!is_left_out(stage, chosen)) require_written(region);
}

/// Writes a stage's numbers under its name; a gradient has the name of its stage.
void write_stage(const ByteSink& to, const Stage& stage, const HeadChoice& head,
                 const std::optional<Region>& chosen) {
    const Shape& shape = stage.shape();
    const Region region = exported_region(stage, chosen);
    const bool vector = stage.info->columns == Axis::single;
    const bool nested = stage.info->columns == Axis::key_hidden;
    const std::vector<ShownMatrix> matrices = matrices_of(stage, head);
    to("\"" + stage_name(stage.key().as(StageKey::Part::value)) + "\":{\"shape\":[");
    if (shape.per_head) to(fmt::format("{},", matrices.size()));
    to(fmt::format("{}{}{}],\"data\":", region.rows,
                   vector ? "" : "," + std::to_string(region.columns / shape.depth),
                   nested ? "," + std::to_string(shape.depth) : ""));
    if (is_left_out(stage, chosen)) return to("null}");
    if (!shape.per_head) {
        write_matrix(to, matrices.front(), region, vector, shape.depth, nested);
        return to("}");
    }
    for (std::size_t m = 0; m < matrices.size(); ++m) {
        to(m == 0 ? "[" : ",");
        write_matrix(to, matrices[m], region, vector, shape.depth, nested);
    }
    to("]}");
}

/// A stage's key chooses its gradient, too; none chooses all.
bool is_chosen(const Stage& stage, std::span<const StageKey> keys) {
    return keys.empty() || std::ranges::any_of(keys, [&](const StageKey& key) {
               return may_mean(key, stage) || may_mean(key.as(StageKey::Part::gradient), stage);
           });
}

void write_stages(const ByteSink& to, const std::vector<StagePtr>& stages, std::span<const StageKey> keys,
                  const HeadChoice& head, const std::optional<Region>& region) {
    bool first = true;
    to("{");
    for (const StagePtr& stage : stages) {
        if (!is_chosen(*stage, keys)) continue;
        to(first ? "\n" : ",\n");
        first = false;
        write_stage(to, *stage, head, region);
    }
    to("}");
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

void write_trace_json(const Trace& trace, std::span<const std::string> names, const HeadChoice& head,
                      const std::optional<Region>& region, const ByteSink& to) {
    const std::vector<StageKey> keys = keys_of(trace, names);
    for (const std::vector<StagePtr>& all : {trace.stages(), trace.parameters(), trace.gradients})
        for (const StagePtr& stage : all)
            if (is_chosen(*stage, keys)) require_written(*stage, head, region);
    const Json session = Json::parse(to_json(Session{trace.experiment, {}, {}}));
    to("{\"format\":\"attnscope-trace\",\"version\":1,\n\"experiment\":" + session["experiment"].dump() +
       ",\n\"backend\":" + Json(name_of(trace.backend)).dump() + ",\n\"rows\":" + Json(trace.rows).dump() +
       ",\n\"columns\":" + Json(trace.columns).dump());
    if (region)
        to(fmt::format(",\n\"region\":\"{}:{},{}:{}\"", region->row + 1, region->end_row(),
                       region->column + 1, region->end_column()));
    to(",\n\"stages\":");
    write_stages(to, trace.stages(), keys, head, region);
    to(",\n\"parameters\":");
    write_stages(to, trace.parameters(), keys, head, region);
    if (!trace.gradients.empty()) {
        to(",\n\"gradients\":");
        write_stages(to, trace.gradients, keys, head, region);
    }
    to("}\n");
}

}  // namespace attnscope
