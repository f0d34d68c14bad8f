// The colours and measures of the interface.
#pragma once

#include <imgui.h>

#include <string_view>

namespace attnscope {

/// Every colour that the interface draws with; data have their colour maps.
struct UiColors {
    ImU32 background;  ///< surfaces from back to front
    ImU32 panel;
    ImU32 control;
    ImU32 control_hovered;
    ImU32 control_active;
    ImU32 line;
    ImU32 text;
    ImU32 secondary;
    ImU32 faint;
    ImU32 accent;
    ImU32 selection;         ///< fill of what is selected
    ImU32 selection_strong;  ///< and under the pointer
    ImU32 warning;
    ImU32 error;
    ImU32 hatch_background;  ///< cells that the mask closes
    ImU32 hatch_line;
    ImU32 mark_background;  ///< cells that are NaN or ±∞
    ImU32 mark;
    ImU32 dot;  ///< open cells of a mask
};

/// "dark", "light", "print" (on white) or "high-contrast"; any other name is dark.
UiColors ui_colors(std::string_view theme);

/// ImGui's style for a scale of 1 = 100 %: flat, a grid of 4 px, controls 26 px high around `body_size` px of
/// text.
void apply_style(const UiColors& colors, float scale, float body_size);

}  // namespace attnscope
