// Whether all is known that drawing a trace asks for.
#pragma once

#include <stop_token>

#include "core/graph/trace.h"
#include "core/picture/presentation.h"

namespace attnscope {

/// Whether the pictures of a head, or of the mean over heads, can be drawn at once.
bool is_ready(const Trace& trace, const HeadChoice& head);
/// Finds out what these need, and the status bar of the trace. Throws Canceled.
void make_ready(const Trace& trace, const HeadChoice& head, const std::stop_token& cancel);

/// The same of one matrix, a head of a buffer.
void make_ready(const Buffer& buffer, int head);

}  // namespace attnscope
