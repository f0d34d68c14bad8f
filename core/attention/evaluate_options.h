// How an evaluation is run.
#pragma once

#include <cstddef>
#include <stop_token>

#include "core/cancelled.h"

namespace attnscope {

class Backend;

/// What decides how, never what, evaluate computes.
struct EvaluateOptions {
    int threads = 0;               ///< 0: one for each core
    Backend* backend = nullptr;    ///< nullptr: the processor computes every step
    std::size_t memory_limit = 0;  ///< bytes, of this machine; 0: most of available_memory()
    std::stop_token cancel = {};   ///< looked at between stages
};

}  // namespace attnscope
