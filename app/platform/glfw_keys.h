// Converts GLFW's keys to Key.
#pragma once

#include "app/platform/input_event.h"

namespace attnscope {

/// The key by its printed character in the current layout: Ctrl+Z is the key labeled Z. Key::other if it has
/// no name.
Key key_from_glfw(int glfw_key, int scancode);
Mods mods_from_glfw(int glfw_mods);

}  // namespace attnscope
