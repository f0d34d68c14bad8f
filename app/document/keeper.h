// Saves what is open in the background, so that the next start can restore it.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "app/document/saved_state.h"

namespace attnscope {

/// Decides when to write a changing state: shortly after the last change, from time to time during steady
/// change, and again after a failure. Times are seconds of any one clock.
class KeepingTimes {
public:
    static constexpr double k_quiet_seconds = 0.5;      ///< without a change, before writing
    static constexpr double k_longest_seconds = 1;      ///< that a change waits at most
    static constexpr double k_again_after_seconds = 3;  ///< retry after a failure

    void changed(double now);
    /// The current state is being written.
    void taken();
    void failed(double now);
    /// When to write next; nothing if everything is written.
    std::optional<double> due() const;

private:
    std::optional<double> first_, last_;  ///< changes not yet written
    std::optional<double> failed_;        ///< the last attempt, if it failed
};

/// Writes the state on its own thread, so that the caller never waits. If the process is killed, at most the
/// last two seconds are lost, on a disk that writes within one.
class Keeper {
public:
    /// `kept` is what `folder` holds; with an empty folder nothing is saved.
    Keeper(std::string folder, SavedState kept);
    /// Discards what is not yet written.
    ~Keeper();
    Keeper(const Keeper&) = delete;
    Keeper& operator=(const Keeper&) = delete;

    /// `wake` is called from the keeper's thread when problem() has changed. A new function replaces the
    /// last.
    void watch(std::function<void()> wake);
    /// Passes the current state. Always from the same thread.
    void look(const SavedState& state);
    /// Writes at once what is not yet written, and waits for it; from any thread. Throws Error(io).
    void keep();

    /// Why the last attempt failed; empty if it succeeded.
    std::string problem() const;

private:
    void run(std::stop_token stop);
    void write(std::unique_lock<std::mutex>& lock);

    StateWriter writer_;  ///< used by the keeper's thread alone
    const bool keeps_;
    mutable std::mutex mutex_;
    std::function<void()> wake_;
    std::condition_variable_any changed_;
    SavedState newest_;
    KeepingTimes times_;
    bool at_once_ = false;  ///< keep() is waiting
    std::string problem_;
    std::jthread thread_;
};

/// Saves the session and ends the process without destroying anything, as something may still be using it. If
/// saving fails, reports that on standard error and exits with code 1.
[[noreturn]] void keep_and_leave(Keeper& keeper, int code);

/// Saves one last time if a library ends the program by exit(), as Xlib does when the display is gone; the
/// exit code is then 1. One instance at a time, destroyed before its keeper.
class SaveAtExit {
public:
    explicit SaveAtExit(Keeper& keeper);
    ~SaveAtExit();
    SaveAtExit(const SaveAtExit&) = delete;
    SaveAtExit& operator=(const SaveAtExit&) = delete;
};

}  // namespace attnscope
