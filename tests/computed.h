// Which stages a trace did not reuse from the one before it.
#pragma once

#include <set>
#include <string>

#include "core/graph/trace.h"

namespace attnscope::test {

inline std::set<std::string> computed(const Trace& trace) {
    std::set<std::string> names;
    for (const StageRecord& record : trace.records)
        if (record.computed) names.emplace(record.stage->name());
    return names;
}

}  // namespace attnscope::test
