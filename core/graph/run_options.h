// How an evaluation is run.
#pragma once

#include <cstddef>
#include <optional>
#include <stop_token>
#include <vector>

#include "core/canceled.h"

namespace attnscope {

class Backend;
struct StageInfo;

/// When values are computed on demand, and how much of them is kept.
struct OnDemandSizes {
    std::size_t most_cells = std::size_t{1} << 24;  ///< of a head that is computed at once: 4096 × 4096
    std::size_t kept_cells = std::size_t{1} << 24;  ///< of the largest pooled level that a survey keeps
    std::size_t kept_surveys = 1;                   ///< how many heads are surveyed at the same time
    std::size_t least_cells_on_card = std::size_t{1}
                                      << 16;  ///< of a region; smaller ones are faster on the CPU
};

/// What is read right after the evaluation. Other heads of stages of pairs, and with a `stage` other stages
/// of pairs, are not kept unless an operation needs all of them. What the stage, masks and masked scores are
/// not computed from waits until something asks for it.
struct Watched {
    bool ranges = false;               ///< of masks and of stages that a pass computes
    std::optional<int> head = {};      ///< from 0; nullopt: all
    const StageInfo* stage = nullptr;  ///< in any layer; nullptr: all
};

/// Settings that decide how evaluate computes and which stages, never a number.
struct EvaluateOptions {
    /// The stages that are computed, in every layer, with those that they are computed from; empty: all.
    std::vector<const StageInfo*> stages = {};
    int threads = 0;               ///< 0: one per core
    Backend* backend = nullptr;    ///< nullptr: the CPU computes everything
    std::size_t memory_limit = 0;  ///< bytes of this machine's memory; 0: most of available_memory()
    OnDemandSizes on_demand = {};
    Watched watched = {};
    std::stop_token cancel = {};  ///< checked between stages, and between blocks of their rows
};

}  // namespace attnscope
