// A setting that goes through values: what all of them share does not come from it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/session/session.h"

namespace attnscope {

/// One value of the setting, and the session that has it.
struct SweepStep {
    std::string value;  ///< as typed: "124"
    Session session;
    bool operator==(const SweepStep&) const = default;
};

/// What is swept: the setting that was chosen or, in the view of sweeps where none was, the first that
/// applies.
Sweep chosen_sweep(const Session& session);
/// The flag of the setting that goes through values; "" for Sweep::none.
std::string_view option_of(Sweep sweep);
/// Whether its values are numbers, over which a mean says something; functions to choose from have none.
bool sweeps_numbers(Sweep sweep);
/// What to look for in the pictures: "how the softmax sharpens and flattens".
std::string_view hint_of(Sweep sweep);
/// What kind an experiment's value is of, in a few words: "soft, global: over all keys"; "" where that says
/// nothing.
std::string kind_of(Sweep sweep, const Experiment& experiment);
/// "Seed 124", as a picture's title.
std::string step_title(Sweep sweep, const std::string& value);

/// Why a session has no such sweep, in one line; empty if it has.
std::string why_no_sweep(const Session& session, Sweep sweep);

/// At most `count` values in increasing order, each with its session; those that do not fit the experiment
/// are left out. Seeds: the session's and those after it. Temperature and the scale's factor: from an eighth
/// to eight times the session's, each the same factor above the one before. Dimensions: from a quarter to
/// four times, as far as heads divide them. Score and normalization: every function of theirs. Throws
/// Error(bad_input) with why_no_sweep().
std::vector<SweepStep> sweep_steps(const Session& session, Sweep sweep, int count);

}  // namespace attnscope
