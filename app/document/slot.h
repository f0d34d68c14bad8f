// The experiments of a document, by name, each with its newest trace.
#pragma once

#include <memory>
#include <string>

#include "core/graph/trace.h"

namespace attnscope {

/// Slot A is the session's experiment, which the window shows; B, where it is open, one to compare with.
enum class SlotName { a, b };

struct Slot {
    Experiment experiment;                         ///< the newest one requested
    std::shared_ptr<const Trace> trace = nullptr;  ///< the newest one computed; nullptr before the first
    std::string problem = {};  ///< why the experiment has no trace; empty if it has or is being computed

    /// True while the trace belongs to another experiment, which is being computed, has no tokens, or failed.
    bool stale() const { return !trace || !(trace->experiment == experiment); }
};

}  // namespace attnscope
