// Modifier keys that tests press.
#pragma once

#include "app/platform/input_event.h"

namespace attnscope::test {

inline constexpr Mods k_ctrl{.ctrl = true}, k_ctrl_shift{.ctrl = true, .shift = true};

}  // namespace attnscope::test
