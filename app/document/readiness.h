// Whether everything that drawing a trace asks for (ranges, pooled levels, means) is cached, so that the
// window does not have to compute it.
#pragma once

#include <memory>
#include <stop_token>

#include "core/graph/trace.h"
#include "core/picture/difference.h"
#include "core/picture/presentation.h"

namespace attnscope {

/// The pictures of a trace that are drawn.
struct WantedPictures {
    HeadChoice head = {};              ///< one head, or the mean over heads
    bool percentiles = false;          ///< whether their colors go from the 1st to the 99th percentile
    bool other_heads = false;          ///< whether all other heads are read as well
    const StageInfo* stage = nullptr;  ///< of stages of pairs this one, in every layer; nullptr: all
    bool operator==(const WantedPictures&) const = default;
};

/// Whether these pictures can be drawn at once.
bool is_ready(const Trace& trace, const WantedPictures& wanted);
/// Computes and caches what drawing them, and the status bar, asks for. Throws Canceled.
void make_ready(const Trace& trace, const WantedPictures& wanted, const std::stop_token& cancel);

/// Computes and caches what drawing one stage, hatched by its mask, asks for. Throws Canceled.
void make_ready(const Trace& trace, const Stage& stage, const WantedPictures& wanted,
                const std::stop_token& cancel);

/// Computes and caches what drawing one matrix, a head of a buffer, asks for.
void make_ready(const Buffer& buffer, int head);

/// A matrix that no stage holds, ready to be drawn as a difference is: hatched where `count` is 0.
std::shared_ptr<const Difference> drawable(const Matrix& values, const Matrix& count);

}  // namespace attnscope
