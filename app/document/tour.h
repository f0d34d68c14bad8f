// A tour of what the window can do: a few steps, each with something to try. A step points at a control by
// the name that light() (app/ui/ui.h) gives it where the control is drawn.
#pragma once

#include <span>
#include <string_view>

#include "core/session/session.h"

namespace attnscope {

struct Interaction;
struct SavedState;

struct TourStep {
    std::string_view title, text;
    std::string_view control;  ///< the name of what it points at
    std::string_view option;   ///< whose row it brings into sight; "" if none
    /// Whether it was tried since the step began.
    bool (*tried)(const Session& begun, const Session& now, const Interaction& state);
};

std::span<const TourStep> tour_steps();

/// The state of the tour: the step it is at.
struct Tour {
    int step = -1;       ///< of tour_steps(); −1: it is not on
    Session begun;       ///< as the step began
    bool tried = false;  ///< the control of this step

    /// The name of the control it points at; "" if none.
    std::string_view control() const;
    void go_to(int to, const Session& now) { *this = {to, now, false}; }
};

/// Ends the tour, which is then no longer offered.
void leave_tour(Tour& tour, SavedState& saved);

}  // namespace attnscope
