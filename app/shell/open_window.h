// The window, from start to end.
#pragma once

#include <optional>
#include <string>

#include "core/gpu/shaders.h"
#include "core/graph/backend_kind.h"
#include "core/graph/run_options.h"
#include "core/session/session.h"

namespace attnscope {

/// Opens the window with `session`, which Save writes to `file` (empty: it asks), or with the session of the
/// last run (the defaults, if there is none), and returns 0 when it is closed. Without `backend`, the one
/// chosen last computes; `shaders` are those of card and heatmaps. The session is saved on every change, so
/// that the next start finds it even after a crash. Throws Error(backend) without a display or OpenGL 3.3.
int open_window(std::optional<Session> session, const std::string& file, const EvaluateOptions& options,
                std::optional<BackendWish> backend, const ShaderSource& shaders);

}  // namespace attnscope
