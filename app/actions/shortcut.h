// A key that runs an action.
#pragma once

#include <string>

#include "app/platform/input_event.h"

namespace attnscope {

struct Shortcut {
    Key key = Key::none;
    Mods mods;
    bool operator==(const Shortcut&) const = default;
};

/// "Ctrl+Shift+Z"; empty without a key.
std::string shortcut_text(const Shortcut& shortcut);

}  // namespace attnscope
