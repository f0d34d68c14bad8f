// Which window may save its session in the state folder, and whether the last run ended well.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace attnscope {

/// A lock that says that a window saves its session in a folder. The system releases it when the process
/// ends, however that happens. If the file system has no locks, every window holds it.
class StateLock {
public:
    /// Creates the folder; the lock of an empty folder name is always held.
    explicit StateLock(const std::string& folder);
    /// Removes the lock, and the folder if nothing is in it.
    ~StateLock();
    StateLock(const StateLock&) = delete;
    StateLock& operator=(const StateLock&) = delete;

    /// False if another window saves its session there.
    bool held() const { return held_; }

private:
    std::filesystem::path path_;
    int file_ = -1;
    bool held_ = true;
};

/// A file beside the state that exists while it is unknown whether the session can be shown: a start that
/// finds it knows that the previous one failed before that.
class TrialMark {
public:
    explicit TrialMark(const std::string& folder);
    /// Removes the mark.
    ~TrialMark();
    TrialMark(const TrialMark&) = delete;
    TrialMark& operator=(const TrialMark&) = delete;

    bool is_set() const;
    /// Sets or removes the mark, best effort: a folder that cannot be written to has none.
    void set(bool on);

private:
    std::filesystem::path file_;
    std::optional<bool> known_;  ///< the last value set
};

}  // namespace attnscope
