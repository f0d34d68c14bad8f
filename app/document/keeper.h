// When what is open is written down for the next start.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "app/document/saved_state.h"

namespace attnscope {

/// When a state that changes is written: a moment after its last change, in steady change now and then, and
/// again after a failure. Times in seconds of any one clock.
class KeepingTimes {
public:
    static constexpr double k_quiet_seconds = 0.5;      ///< without a change, then it is written
    static constexpr double k_longest_seconds = 1;      ///< that a change waits at most
    static constexpr double k_again_after_seconds = 3;  ///< a failure

    void changed(double now);
    /// It is being written as it is now.
    void taken();
    void failed(double now);
    /// When to write; nothing while all is written.
    std::optional<double> due() const;

private:
    std::optional<double> first_, last_;  ///< change that is not written
    std::optional<double> failed_;        ///< the newest attempt
};

/// Writes the state on a thread of its own, so that whoever shows it hands it over and never waits: what is
/// lost where the process is killed is younger than two seconds on a disk that takes less than one.
class Keeper {
public:
    /// `kept` is what `folder` holds; an empty folder keeps nothing.
    Keeper(std::string folder, SavedState kept);
    /// What is not yet written is not.
    ~Keeper();
    Keeper(const Keeper&) = delete;
    Keeper& operator=(const Keeper&) = delete;

    /// `wake` is called from the keeper's thread when problem() has changed; the newest one given.
    void watch(std::function<void()> wake);
    /// The state as it is now. Always by the same thread.
    void look(const SavedState& state);
    /// Writes what is not yet written, whatever the time, and waits for it; from any thread. Throws
    /// Error(io).
    void keep();

    /// Why the newest attempt failed; empty if it did not.
    std::string problem() const;

private:
    void run(std::stop_token stop);
    void write(std::unique_lock<std::mutex>& lock);

    StateWriter writer_;  ///< the keeper's thread's
    const bool keeps_;
    mutable std::mutex mutex_;
    std::function<void()> wake_;
    std::condition_variable_any changed_;
    SavedState newest_;
    KeepingTimes times_;
    bool at_once_ = false;  ///< keep() waits
    std::string problem_;
    std::jthread thread_;
};

/// Keeps the session and ends the process without destroying anything: something may still work on it.
/// Where it cannot be kept that is said on standard error, and the code is 1.
[[noreturn]] void keep_and_leave(Keeper& keeper, int code);

/// A last save where a library ends the program by exit(), as Xlib does when the display is gone; the code is
/// 1 then. One at a time, gone before its keeper.
class SaveAtExit {
public:
    explicit SaveAtExit(Keeper& keeper);
    ~SaveAtExit();
    SaveAtExit(const SaveAtExit&) = delete;
    SaveAtExit& operator=(const SaveAtExit&) = delete;
};

}  // namespace attnscope
