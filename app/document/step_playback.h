// Where the view of steps stands: how much of a row's computation is shown, and which keys of a long row.
#pragma once

#include <optional>

#include "core/picture/presentation.h"

namespace attnscope {

/// Counts in steps: 2.5 are two steps and half of the third. No part of a session.
struct StepPlayback {
    int steps = 0;                   ///< of the row that was drawn last
    std::optional<double> position;  ///< steps taken, at least 0; nullopt: all of them
    bool playing = false;
    int first_key = 0;             ///< of a row that is longer than the view
    std::optional<Cell> in_sight;  ///< the query and key that were brought into sight last

    double shown() const { return position && *position < steps ? *position : steps; }
    /// The step that is being taken or was taken last, from 0; −1 before the first.
    int current() const;
    /// How much of a step has been taken, 0 … 1.
    double share(int step) const;

    /// Plays on, from the start if all steps have been taken, or pauses.
    void play_or_pause();
    /// Goes to the end of the next step, or to the start of this one or the one before; pauses.
    void step(int by);
    /// Goes to a position; pauses.
    void go_to(double to);
    /// Plays on for so long; the first step takes `first_seconds`.
    void advance(double seconds, double first_seconds);
};

/// Every step but the first takes this long.
inline constexpr double k_step_seconds = 0.6;

}  // namespace attnscope
