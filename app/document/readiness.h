// Whether everything that drawing a trace asks for (ranges, pooled levels, means) is cached, so that the
// window does not have to compute it.
#pragma once

#include <stop_token>

#include "core/graph/trace.h"
#include "core/picture/presentation.h"

namespace attnscope {

/// Whether the pictures of a head, or of the mean over heads, can be drawn at once.
bool is_ready(const Trace& trace, const HeadChoice& head);
/// Computes and caches what drawing them, and the status bar, asks for. Throws Canceled.
void make_ready(const Trace& trace, const HeadChoice& head, const std::stop_token& cancel);

/// Computes and caches what drawing one matrix, a head of a buffer, asks for.
void make_ready(const Buffer& buffer, int head);

}  // namespace attnscope
