// Which settings an experiment uses: what the window disables, and why.
#pragma once

#include <string>

#include "core/attention/experiment.h"
#include "core/io/options.h"

namespace attnscope {

/// Why no other value of the option would change a number of this experiment, as a sentence without its full
/// stop; empty: one would. Options of the presentation always apply.
std::string why_unused(const Option& option, const Experiment& experiment);

}  // namespace attnscope
