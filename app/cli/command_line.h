// What the arguments ask for.
#pragma once

#include <functional>
#include <optional>

#include "core/attention/evaluate.h"
#include "core/io/session.h"

namespace attnscope {

/// Opens the window on a session, or on the last one if there is none, and returns the exit code.
using OpenWindow = std::function<int(std::optional<Session>, const EvaluateOptions&)>;

/// Runs the program. Returns 0 when done and 2 for wrong usage (one line on standard error); throws Error for
/// what fails (main turns it into exit code 1).
int run_command_line(int argc, char** argv, const OpenWindow& open_window);

}  // namespace attnscope
