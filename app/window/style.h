// ImGui's style from a theme.
#pragma once

#include <imgui.h>

#include <string_view>

#include "core/picture/theme.h"

namespace attnscope {

/// ImGui's style for a scale of 1 = 100 %: flat, a grid of 4 px, controls 26 px high around `body_size` px of
/// text.
void apply_style(const Theme& theme, float scale, float body_size);

}  // namespace attnscope
