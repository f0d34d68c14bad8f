// Ctrl-C while files are written: the one in hand is given up, those that are whole stay.
#pragma once

namespace attnscope {

/// While it lives, SIGINT, SIGTERM and SIGHUP only leave a note and end what waits in the system (EINTR); one
/// that was ignored stays so. One at a time.
class Interruption {
public:
    Interruption();
    ~Interruption();
    Interruption(const Interruption&) = delete;
    Interruption& operator=(const Interruption&) = delete;

    static bool asked();
    /// Ends the program as the signal would have, if one came.
    static void obey();
};

}  // namespace attnscope
