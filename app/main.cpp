// The entry point: runs the command line, and reports every error that reaches the top.
#include <csignal>
#include <exception>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "app/cli/command_line.h"
#include "app/shell/open_window.h"
#include "core/error.h"

int main(int argc, char** argv) {
    // Exceeding the file size limit becomes an error that is reported, instead of ending the program.
    std::signal(SIGXFSZ, SIG_IGN);
#ifdef __GLIBC__
    // Every evaluation and every step of training frees what the next one allocates: kept, its pages are
    // there.
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
#endif
    try {
        return attnscope::run_command_line(argc, argv, attnscope::open_window);
    } catch (const std::exception& error) {
        attnscope::print_error(attnscope::problem_text(error));
        return 1;
    }
}
