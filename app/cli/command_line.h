// What the arguments ask for.
#pragma once

namespace attnscope {

/// Runs the program. Returns 0 when done and 2 for wrong usage (one line on standard error); throws Error for
/// what fails (main turns it into exit code 1).
int run_command_line(int argc, char** argv);

}  // namespace attnscope
