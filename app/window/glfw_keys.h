// GLFW's keys as ours.
#pragma once

#include "app/window/input_event.h"

namespace attnscope {

/// By what the keyboard layout prints on the key: Ctrl+Z is the key with a Z on it. Key::other where it has
/// no name.
Key key_from_glfw(int glfw_key, int scancode);
Mods mods_from_glfw(int glfw_mods);

}  // namespace attnscope
