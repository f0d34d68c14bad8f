// Which settings an experiment uses, and why the others are disabled.
#pragma once

#include <string>

#include "core/experiment/experiment.h"
#include "core/session/options.h"

namespace attnscope {

/// Why changing the option would not change any number of this experiment, as a clause to follow a colon
/// ("the scores are custom"); empty: it would. Options of the presentation always apply.
std::string why_unused(const Option& option, const Experiment& experiment);

/// The condition under which the option has an effect, for the help: "mechanism is attention, and score is
/// rbf"; empty if it always has, "never" if no mechanism uses it.
std::string when_used(const Option& option);

/// Whether it is a setting of exported pictures alone, which the export dialog has.
bool is_of_exports(const Option& option);

}  // namespace attnscope
