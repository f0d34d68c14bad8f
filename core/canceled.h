// How work that is no longer needed is stopped.
#pragma once

#include <stop_token>

namespace attnscope {

/// Thrown by a computation whose std::stop_token asks it to stop.
struct Canceled {};

inline void stop_if_canceled(const std::stop_token& cancel) {
    if (cancel.stop_requested()) throw Canceled{};
}

}  // namespace attnscope
