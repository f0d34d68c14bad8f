// What the steps of a proof mean, for those who read them for the first time.
#pragma once

#include <string_view>

namespace attnscope {

/// A sentence on a step with this label, "÷ √16" or "− row max 13.4"; "" for steps whose label says all.
std::string_view help_of_step(std::string_view label);

}  // namespace attnscope
