// The command line: parses the arguments and runs what they ask for.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/gpu/shaders.h"
#include "core/graph/backend_kind.h"
#include "core/graph/run_options.h"
#include "core/session/session.h"

namespace attnscope {

/// Opens the window on a session and the file that Save writes to, or on the last session if there is none.
/// Returns the exit code. `backend` is that of --backend, if the flag is there; the shaders are those of
/// --shaders.
using OpenWindow = std::function<int(std::optional<Session>, const std::string& file, const EvaluateOptions&,
                                     std::optional<BackendWish> backend, const ShaderSource&)>;

/// Runs the program. Returns 0 for success and 2 for wrong usage (one line on standard error): a bad flag, or
/// a bad value that does not come from FILE. Throws Error for failures (main turns it into exit code 1): a
/// bad file, an experiment that is too large, no display.
int run_command_line(int argc, char** argv, const OpenWindow& open_window);

/// Prints "attnscope: MESSAGE" to standard error as a single line, whatever user text the message quotes.
void print_error(std::string_view message);

}  // namespace attnscope
