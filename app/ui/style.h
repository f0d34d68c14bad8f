// ImGui's style for a theme.
#pragma once

#include <imgui.h>

#include <string_view>

#include "core/picture/theme.h"

namespace attnscope {

/// ImGui's style at a scale of 1 = 100%: flat, on a grid of 4 px, controls 26 px high with text of
/// `body_size` px.
void apply_style(const Theme& theme, float scale, float body_size);

/// Whether an open dialog dims the rest of the window, from the next frame that is rendered.
void dim_behind_dialogs(bool dims);

}  // namespace attnscope
