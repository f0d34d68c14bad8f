// Animated GIF files.
#pragma once

#include <span>
#include <string>

#include "core/files/png.h"

namespace attnscope {

/// The bytes of a GIF that shows the frames for `milliseconds` each, the last one four times as long, and
/// repeats them forever. A frame has at most 256 colors; where its pixels have more, similar ones become one.
/// Smaller frames stand at the upper left of the largest, on the color of their own first pixel. Throws
/// Error(bad_input) without a frame or for pixels that are not RGB, Error(too_large) beyond 65,535 pixels a
/// side, Error(backend) if giflib fails, Canceled.
std::string encode_gif(std::span<const Pixels> frames, int milliseconds, const Progress& progress = {});

}  // namespace attnscope
