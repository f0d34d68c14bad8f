// What the arguments ask for.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/attention/evaluate_options.h"
#include "core/io/session.h"

namespace attnscope {

/// Opens the window on a session and the file that Save writes, or on the last session if there is none, and
/// returns the exit code. `backend` is --backend's word, empty where it is not given.
using OpenWindow = std::function<int(std::optional<Session>, const std::string& file, const EvaluateOptions&,
                                     const std::string& backend)>;

/// Runs the program. Returns 0 when done and 2 for wrong usage (one line on standard error): a flag, or a
/// value that cannot be used and does not come from FILE. Throws Error for what fails (main turns it into
/// exit code 1): a file or what it holds, what is too large, the display.
int run_command_line(int argc, char** argv, const OpenWindow& open_window);

/// "attnscope: MESSAGE" on standard error, always one line, whatever text of the person's the message quotes.
void print_error(std::string_view message);

}  // namespace attnscope
