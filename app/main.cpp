// The entry point: runs the command line, and reports every error that reaches the top.
#include <csignal>
#include <exception>

#include "app/cli/command_line.h"
#include "app/shell/open_window.h"
#include "core/error.h"
#include "core/memory.h"

int main(int argc, char** argv) {
    // Exceeding the file size limit becomes an error that is reported, instead of ending the program.
    std::signal(SIGXFSZ, SIG_IGN);
    attnscope::keep_freed_memory();
    try {
        return attnscope::run_command_line(argc, argv, attnscope::open_window);
    } catch (const std::exception& error) {
        attnscope::print_error(attnscope::problem_text(error));
        return 1;
    }
}
