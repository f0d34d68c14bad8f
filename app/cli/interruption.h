// Ctrl-C while files are written: the current file is discarded, completed files stay.
#pragma once

#include <stop_token>
#include <thread>

namespace attnscope {

/// During its lifetime, SIGINT, SIGTERM and SIGHUP are only recorded, and interrupt blocking system calls
/// (EINTR). A signal that was ignored stays ignored. One instance at a time.
class Interruption {
public:
    Interruption();
    ~Interruption();
    Interruption(const Interruption&) = delete;
    Interruption& operator=(const Interruption&) = delete;

    static bool asked();
    /// If a signal arrived, ends the program as that signal would have.
    static void obey();
};

/// A token for long computations whose stop is requested within some 20 ms of a signal, while an Interruption
/// records them.
class StopOnSignal {
public:
    StopOnSignal();

    std::stop_token token() const { return source_.get_token(); }

private:
    std::stop_source source_;
    std::jthread watch_;  // a handler itself may not request a stop
};

}  // namespace attnscope
