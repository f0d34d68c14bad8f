// What is written part by part, as one string.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "core/export/matrix_files.h"
#include "core/export/trace_json.h"
#include "core/files/byte_sink.h"

namespace attnscope::test {

inline std::string written_csv(const Trace& trace, const Stage& stage, const HeadChoice& head,
                               const std::optional<Region>& region = {}) {
    return collected([&](const ByteSink& to) { write_csv(trace, stage, head, to, {}, region); });
}

inline std::string written_npy(const Stage& stage, const HeadChoice& head,
                               const std::optional<Region>& region = {}) {
    return collected([&](const ByteSink& to) { write_npy(stage, head, to, {}, region); });
}

inline std::string written_json(const Trace& trace, const Stage& stage, const HeadChoice& head,
                                const std::optional<Region>& region = {}) {
    return collected([&](const ByteSink& to) { write_json(trace, stage, head, to, {}, region); });
}

inline std::string written_trace_json(const Trace& trace, std::span<const std::string> names = {},
                                      const HeadChoice& head = {HeadChoice::Kind::all},
                                      const std::optional<Region>& region = {}) {
    return collected([&](const ByteSink& to) { write_trace_json(trace, names, head, region, to); });
}

}  // namespace attnscope::test
