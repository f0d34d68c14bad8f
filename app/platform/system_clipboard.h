// Pictures on the system's clipboard, for which GLFW has no call.
#pragma once

#include <string>

namespace attnscope {

/// Puts a picture, the bytes of a PNG file, on the clipboard with wl-copy (Wayland) or xclip (X11), which
/// offer it to other programs until something else is copied. Throws Error(backend) with what to do if
/// neither can.
void copy_png(const std::string& png);

}  // namespace attnscope
