// The entry point: runs the command line, and reports every error that reaches the top.
#include <csignal>
#include <exception>
#include <new>

#include "app/cli/command_line.h"
#include "app/shell/open_window.h"

int main(int argc, char** argv) {
    // Exceeding the file size limit becomes an error that is reported, instead of ending the program.
    std::signal(SIGXFSZ, SIG_IGN);
    try {
        return attnscope::run_command_line(argc, argv, attnscope::open_window);
    } catch (const std::bad_alloc&) {
        attnscope::print_error("out of memory: shorten the sentence or use fewer heads");
        return 1;
    } catch (const std::exception& error) {
        attnscope::print_error(error.what());
        return 1;
    }
}
