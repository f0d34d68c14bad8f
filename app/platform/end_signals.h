// Signals that end the program: what is open is saved first.
#pragma once

#include <signal.h>  // NOLINT(modernize-deprecated-headers): csignal promises no sigset_t

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

namespace attnscope {

/// During its lifetime, the first SIGINT, SIGTERM or SIGHUP only sets a request to end, and a second one ends
/// the program at once. A signal that was ignored stays ignored. Must be created before any other thread
/// starts, so that none of them receives the signals.
class EndSignals {
public:
    EndSignals();
    ~EndSignals();
    EndSignals(const EndSignals&) = delete;
    EndSignals& operator=(const EndSignals&) = delete;

    /// `asked` is called once, from another thread, after asked() has become true. A new function replaces
    /// the last.
    void watch(std::function<void()> asked);
    bool asked() const { return asked_; }

private:
    void wait();

    sigset_t signals_{}, before_{};
    std::atomic<bool> asked_ = false, ends_ = false;
    std::mutex mutex_;
    std::function<void()> call_;
    std::thread thread_;
};

}  // namespace attnscope
