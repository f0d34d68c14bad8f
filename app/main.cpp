// The program's entry: arguments in, exit code out, and the one place where every error ends.
#include <cstdio>
#include <exception>

#include "app/cli/command_line.h"
#include "app/window/open_window.h"

int main(int argc, char** argv) {
    try {
        return attnscope::run_command_line(argc, argv, attnscope::open_window);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "attnscope: %s\n", error.what());
        return 1;
    }
}
