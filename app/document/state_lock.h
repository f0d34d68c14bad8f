// Who may keep a session in the state folder, and whether the last one who did came to an end.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace attnscope {

/// Says that a window keeps its session in a folder. The system takes it back when the process ends, however
/// it ends. Where a file system has no locks, everyone holds it.
class StateLock {
public:
    /// Makes the folder; an empty one is held by everyone.
    explicit StateLock(const std::string& folder);
    ~StateLock();
    StateLock(const StateLock&) = delete;
    StateLock& operator=(const StateLock&) = delete;

    /// False: another window keeps its session there.
    bool held() const { return held_; }

private:
    int file_ = -1;
    bool held_ = true;
};

/// A file beside the state while nobody knows whether its session can be shown: a start that finds it knows
/// that the one before did not come so far.
class TrialMark {
public:
    explicit TrialMark(const std::string& folder);
    /// Takes away what was set.
    ~TrialMark();
    TrialMark(const TrialMark&) = delete;
    TrialMark& operator=(const TrialMark&) = delete;

    bool is_set() const;
    /// Best effort: a folder that cannot be written to has none.
    void set(bool on);

private:
    std::filesystem::path file_;
    std::optional<bool> known_;  ///< as it was set
};

}  // namespace attnscope
