#include "core/io/trace_json.h"

#include <array>
#include <charconv>
#include <cmath>

#include "core/attention/stages.h"
#include "core/error.h"
#include "core/io/options.h"

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

void append_stage(std::string& out, const Stage& stage) {
    const Shape& shape = stage.shape();
    const Tensor& values = stage.buffer.host();
    const bool vector = stage.info->columns == Axis::single;
    out += "\"" + std::string(stage.name()) + "\":{\"shape\":[";
    if (shape.per_head) out += std::to_string(shape.heads) + ",";
    out += std::to_string(shape.rows) + (vector ? "" : "," + std::to_string(shape.columns)) + "],\"data\":";
    const auto matrix = [&](int h) {
        append_list(out, shape.rows, [&](int i) {
            if (vector) return append_number(out, values.head(h)(i, 0));
            append_list(out, shape.columns, [&](int j) { append_number(out, values.head(h)(i, j)); });
        });
    };
    if (shape.per_head)
        append_list(out, shape.heads, matrix);
    else
        matrix(0);
    out += '}';
}

void append_stages(std::string& out, const std::vector<StagePtr>& stages,
                   std::span<const std::string> names) {
    bool first = true;
    out += '{';
    for (const StagePtr& stage : stages) {
        if (!names.empty() && std::ranges::find(names, stage->name()) == names.end()) continue;
        out += first ? "\n" : ",\n";
        first = false;
        append_stage(out, *stage);
    }
    out += '}';
}

}  // namespace

std::string trace_json(const Trace& trace, std::span<const std::string> names) {
    for (const std::string& name : names)
        if (!trace.find(name))
            throw Error(ErrorKind::bad_input,
                        "this experiment has no stage " + name + ": see attnscope trace");
    const Json session = Json::parse(to_json(Session{trace.experiment, {}, {}}));
    std::string out =
        "{\"format\":\"attnscope-trace\",\"version\":1,\n\"experiment\":" + session["experiment"].dump() +
        ",\n\"backend\":\"cpu\",\n\"rows\":" + Json(trace.rows).dump() +
        ",\n\"columns\":" + Json(trace.columns).dump() + ",\n\"stages\":";
    append_stages(out, trace.stages(), names);
    out += ",\n\"parameters\":";
    append_stages(out, trace.parameters(), names);
    return out + "}\n";
}

}  // namespace attnscope
