// How an evaluation is run.
#pragma once

#include <cstddef>
#include <stop_token>

#include "core/canceled.h"

namespace attnscope {

class Backend;

/// Settings that decide how evaluate computes, never what.
struct EvaluateOptions {
    int threads = 0;               ///< 0: one per core
    Backend* backend = nullptr;    ///< nullptr: the CPU computes everything
    std::size_t memory_limit = 0;  ///< bytes of this machine's memory; 0: most of available_memory()
    std::stop_token cancel = {};   ///< checked between stages, and between blocks of their rows
};

}  // namespace attnscope
