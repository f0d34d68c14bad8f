// The window, from start to end.
#pragma once

#include <optional>
#include <string>

#include "core/attention/evaluate_options.h"
#include "core/io/session.h"

namespace attnscope {

/// Opens the window with `session`, which Save writes to `file` (empty: it asks), or with the one that was
/// left the last time (the defaults, if there is none), and returns 0 when it is closed. `backend` is a word
/// of parse_backend, or empty: what was chosen the last time. The session is kept on every change, so that
/// the next start finds it, also after a crash. Throws Error(backend) without a display or OpenGL 3.3.
int open_window(std::optional<Session> session, const std::string& file, const EvaluateOptions& options,
                const std::string& backend);

}  // namespace attnscope
