// The experiments of a document, by name, each with its newest trace.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "core/graph/trace.h"

namespace attnscope {

/// The part an experiment has in the document. live: the session's experiment, which the window shows, and B
/// of a comparison. pinned: A of the comparison, a copy that the session froze (Session::pinned). beside:
/// that of the run trained beside the session's.
enum class SlotName { live, pinned, beside };
inline constexpr std::array k_slots = {SlotName::live, SlotName::pinned, SlotName::beside};

struct Slot {
    Experiment experiment;                         ///< the newest one requested
    std::shared_ptr<const Trace> trace = nullptr;  ///< the newest one computed; nullptr before the first
    bool on_cpu = false;       ///< computed by the CPU, even where the GPU computes the others
    std::string problem = {};  ///< why the experiment has no trace; empty if it has or is being computed

    /// True while the trace belongs to another experiment, which is being computed, has no tokens, or failed.
    bool stale() const { return !trace || !(trace->experiment == experiment); }
};

}  // namespace attnscope
