// Values to try of every option of an experiment, for walks over all settings.
#pragma once

#include <string>
#include <vector>

#include "core/session/options.h"

namespace attnscope::test {

/// The choices that the table names, and some of each kind of number; not all fit the experiment.
std::vector<std::string> other_values(const Option& option, const Experiment& e);

}  // namespace attnscope::test
