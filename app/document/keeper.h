// When what is open is written down for the next start.
#pragma once

#include <string>

#include "app/document/saved_state.h"

namespace attnscope {

/// Writes the state a moment after it last changed, in steady change now and then, and again after a failure.
class Keeper {
public:
    static constexpr double k_quiet_seconds = 0.7;      ///< without a change, then it is written
    static constexpr double k_longest_seconds = 2;      ///< that a change waits at most
    static constexpr double k_again_after_seconds = 3;  ///< a failure

    /// `kept` is what `folder` holds; an empty folder keeps nothing.
    Keeper(std::string folder, SavedState kept);

    /// The state at a time in seconds. Returns the seconds until it wants to be asked again; 0: there is
    /// nothing to keep. Does not throw: problem() says what failed.
    double look(const SavedState& state, double now);
    /// Writes what is not yet written, whatever the time. Throws Error(io).
    void keep();

    /// Why the newest attempt failed; empty if it did not.
    const std::string& problem() const { return problem_; }

private:
    bool unsaved() const;

    std::string folder_;
    SavedState kept_, seen_;
    double since_ = 0, changed_ = 0, failed_ = 0;
    std::string problem_;
};

}  // namespace attnscope
