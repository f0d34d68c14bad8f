#include "app/platform/system_clipboard.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "core/error.h"

namespace attnscope {
namespace {

struct ClipboardProgram {
    const char* display;  ///< the environment variable of the display that it serves
    std::array<const char*, 6> arguments;
};
constexpr std::array k_programs = {
    ClipboardProgram{"WAYLAND_DISPLAY", {"wl-copy", "--type", "image/png"}},
    ClipboardProgram{"DISPLAY", {"xclip", "-selection", "clipboard", "-t", "image/png"}},
};

using File = std::unique_ptr<std::FILE, decltype([](std::FILE* file) { std::fclose(file); })>;

[[noreturn]] void refuse(const std::string& why) {
    throw Error(ErrorKind::backend, why + ": export the picture instead (Ctrl+E)");
}

/// A file without a name that holds the bytes, at its start. A pipe would end the program with a signal if
/// the reader ends first.
File file_of(const std::string& bytes) {
    File file(std::tmpfile());
    const bool written = file && std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size() &&
                         std::fflush(file.get()) == 0;
    if (!written) refuse("the picture cannot be copied: there is no room for a temporary file");
    std::rewind(file.get());
    return file;
}

/// Whether the program is there, read the picture and offers it now.
bool offers(const ClipboardProgram& program, std::FILE* picture) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fileno(picture), STDIN_FILENO);
    // The copy that stays in the background must not keep a terminal or a pipe of ours open.
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    // Nor are the signals blocked there that this process waits for in a thread of its own.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    pid_t child = 0;
    const auto arguments = const_cast<char* const*>(program.arguments.data());  // as exec takes them
    const bool started =
        posix_spawnp(&child, program.arguments[0], &actions, &attributes, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    int status = 0;
    return started && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

void copy_png(const std::string& png) {
    const File file = file_of(png);
    for (const ClipboardProgram& program : k_programs) {
        if (!std::getenv(program.display)) continue;
        std::rewind(file.get());
        if (offers(program, file.get())) return;
    }
    refuse("copying a picture needs xclip, or wl-clipboard on Wayland");
}

}  // namespace attnscope
