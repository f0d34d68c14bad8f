// The hue of a head, on screen and in pictures.
#pragma once

#include "core/picture/theme.h"

namespace attnscope {

/// The color of head `head` (from 0) of `heads`: hues evenly apart, from that of the accent, of
/// one lightness that stands out from the theme's background. The mean over the heads (−1) has the color of
/// text, and a single head the accent.
Rgb8 head_color(const Theme& theme, int head, int heads);

}  // namespace attnscope
