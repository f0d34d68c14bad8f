// Ctrl-C while files are written: the current file is discarded, completed files stay.
#pragma once

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

}  // namespace attnscope
