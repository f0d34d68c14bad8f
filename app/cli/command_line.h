// What the arguments ask for.
#pragma once

#include <string_view>

namespace attnscope {

/// Runs the program. Returns 0 when done and 2 for wrong usage (one line on standard error); throws Error for
/// what fails (main turns it into exit code 1).
int run_command_line(int argc, char** argv);

/// "attnscope: MESSAGE" on standard error, always one line, whatever text of the person's the message quotes.
void print_error(std::string_view message);

}  // namespace attnscope
