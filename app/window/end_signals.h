// Being asked to end from outside: what is open is kept first.
#pragma once

#include <signal.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

namespace attnscope {

/// While it lives, the first SIGINT, SIGTERM or SIGHUP only asks, and a second one ends the program at once;
/// one that was ignored stays so. To be made before any other thread begins, so that none of them gets the
/// signals.
class EndSignals {
public:
    EndSignals();
    ~EndSignals();
    EndSignals(const EndSignals&) = delete;
    EndSignals& operator=(const EndSignals&) = delete;

    /// `asked` is called once, from another thread, after asked() has become true; the newest one given.
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
