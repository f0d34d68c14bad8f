// The program's entry: arguments in, exit code out, and the one place where every error ends.
#include <csignal>
#include <exception>
#include <new>

#include "app/cli/command_line.h"
#include "app/window/open_window.h"

int main(int argc, char** argv) {
    // A file beyond the limit of its size is an error that is told, and no end of the program.
    std::signal(SIGXFSZ, SIG_IGN);
    try {
        return attnscope::run_command_line(argc, argv, attnscope::open_window);
    } catch (const std::bad_alloc&) {
        attnscope::print_error("the memory is used up: shorten the sentence or use fewer heads");
        return 1;
    } catch (const std::exception& error) {
        attnscope::print_error(error.what());
        return 1;
    }
}
