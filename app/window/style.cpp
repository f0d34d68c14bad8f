#include "app/window/style.h"

#include <algorithm>

namespace attnscope {

namespace {

/// 0xRRGGBB as ImGui packs it.
constexpr ImU32 rgb(unsigned hex, unsigned alpha = 0xFF) {
    return IM_COL32((hex >> 16) & 0xFF, (hex >> 8) & 0xFF, hex & 0xFF, alpha);
}

constexpr UiColors k_dark{
    .background = rgb(0x101318),
    .panel = rgb(0x161a21),
    .control = rgb(0x1f252e),
    .control_hovered = rgb(0x28303b),
    .control_active = rgb(0x2b4460),
    .line = rgb(0x2b333e),
    .text = rgb(0xe8ebf0),
    .secondary = rgb(0x9aa5b4),
    .faint = rgb(0x5d6978),
    .accent = rgb(0x6cb6ff),
    .selection = rgb(0x22384f),
    .selection_strong = rgb(0x2b4460),
    .warning = rgb(0xffb454),
    .error = rgb(0xff7b72),
    .hatch_background = rgb(0x161a21),
    .hatch_line = rgb(0x3a4452),
    .mark_background = rgb(0x0b0d10),
    .mark = rgb(0xffb454),
    .dot = rgb(0x9aa5b4),
};

constexpr UiColors k_light{
    .background = rgb(0xf2f4f7),
    .panel = rgb(0xfafbfc),
    .control = rgb(0xe9edf2),
    .control_hovered = rgb(0xdfe5ec),
    .control_active = rgb(0xb9d7f5),
    .line = rgb(0xd3dae3),
    .text = rgb(0x161a21),
    .secondary = rgb(0x4d5866),
    .faint = rgb(0x76818f),
    .accent = rgb(0x1466b8),
    .selection = rgb(0xd6e8fb),
    .selection_strong = rgb(0xb9d7f5),
    .warning = rgb(0x9a5b00),
    .error = rgb(0xb42318),
    .hatch_background = rgb(0xfafbfc),
    .hatch_line = rgb(0xb8c2ce),
    .mark_background = rgb(0x161a21),
    .mark = rgb(0xffb454),
    .dot = rgb(0x4d5866),
};

constexpr UiColors on_white() {
    UiColors colors = k_light;
    colors.background = colors.panel = colors.hatch_background = rgb(0xffffff);
    return colors;
}

constexpr UiColors high_contrast() {
    UiColors colors = k_dark;
    colors.background = colors.panel = colors.hatch_background = rgb(0x000000);
    colors.control = rgb(0x141414);
    colors.line = rgb(0xb0b0b0);
    colors.text = colors.secondary = rgb(0xffffff);
    colors.faint = rgb(0xd0d0d0);
    colors.accent = rgb(0xffe100);
    colors.selection = rgb(0x003a75);
    colors.selection_strong = colors.control_active = rgb(0x0055aa);
    colors.hatch_line = rgb(0x8a8a8a);
    return colors;
}

void apply_colors(ImGuiStyle& style, const UiColors& colors) {
    const auto set = [&](ImGuiCol slot, ImU32 color) {
        style.Colors[slot] = ImGui::ColorConvertU32ToFloat4(color);
    };
    const ImU32 none = IM_COL32(0, 0, 0, 0);
    for (const ImGuiCol slot : {ImGuiCol_FrameBg, ImGuiCol_Button, ImGuiCol_TitleBg, ImGuiCol_TitleBgActive,
                                ImGuiCol_TitleBgCollapsed, ImGuiCol_TableHeaderBg}) {
        set(slot, colors.control);
    }
    for (const ImGuiCol slot :
         {ImGuiCol_FrameBgHovered, ImGuiCol_ButtonHovered, ImGuiCol_ScrollbarGrabHovered}) {
        set(slot, colors.control_hovered);
    }
    for (const ImGuiCol slot :
         {ImGuiCol_FrameBgActive, ImGuiCol_Header, ImGuiCol_TabActive, ImGuiCol_TextSelectedBg}) {
        set(slot, colors.selection);
    }
    for (const ImGuiCol slot : {ImGuiCol_ButtonActive, ImGuiCol_HeaderHovered, ImGuiCol_HeaderActive,
                                ImGuiCol_SliderGrab, ImGuiCol_TabHovered}) {
        set(slot, colors.selection_strong);
    }
    for (const ImGuiCol slot : {ImGuiCol_CheckMark, ImGuiCol_SliderGrabActive, ImGuiCol_NavHighlight,
                                ImGuiCol_SeparatorActive, ImGuiCol_PlotHistogram, ImGuiCol_DragDropTarget}) {
        set(slot, colors.accent);
    }
    for (const ImGuiCol slot :
         {ImGuiCol_Border, ImGuiCol_Separator, ImGuiCol_SeparatorHovered, ImGuiCol_TableBorderLight,
          ImGuiCol_TableBorderStrong, ImGuiCol_ScrollbarGrab, ImGuiCol_ScrollbarGrabActive}) {
        set(slot, colors.line);
    }
    for (const ImGuiCol slot : {ImGuiCol_BorderShadow, ImGuiCol_ScrollbarBg, ImGuiCol_Tab,
                                ImGuiCol_TabUnfocused, ImGuiCol_ResizeGrip, ImGuiCol_ChildBg}) {
        set(slot, none);
    }
    set(ImGuiCol_Text, colors.text);
    set(ImGuiCol_TextDisabled, colors.faint);
    set(ImGuiCol_WindowBg, colors.panel);
    set(ImGuiCol_MenuBarBg, colors.panel);
    set(ImGuiCol_PopupBg, colors.control);
    set(ImGuiCol_TabUnfocusedActive, colors.selection);
    set(ImGuiCol_ModalWindowDimBg, IM_COL32(0, 0, 0, 110));
}

}  // namespace

UiColors ui_colors(std::string_view theme) {
    if (theme == "light") return k_light;
    if (theme == "print") return on_white();
    if (theme == "high-contrast") return high_contrast();
    return k_dark;
}

void apply_style(const UiColors& colors, float scale, float body_size) {
    ImGuiStyle style;
    style.WindowRounding = 0;
    style.ChildRounding = 0;
    style.FrameRounding = style.PopupRounding = style.GrabRounding = style.TabRounding = 5;
    style.ScrollbarRounding = 4;
    style.ScrollbarSize = 10;
    style.WindowBorderSize = style.ChildBorderSize = style.FrameBorderSize = style.TabBorderSize = 0;
    style.PopupBorderSize = 1;
    style.WindowPadding = ImVec2(16, 12);
    style.ItemSpacing = ImVec2(8, 8);
    style.ItemInnerSpacing = ImVec2(8, 4);
    style.CellPadding = ImVec2(8, 4);
    style.IndentSpacing = 16;
    style.GrabMinSize = 8;
    style.WindowMinSize = ImVec2(16, 16);
    style.WindowTitleAlign = ImVec2(0, 0.5F);
    style.ScaleAllSizes(scale);
    style.FramePadding = ImVec2(10 * scale, std::max(0.0F, (26 * scale - body_size) / 2));
    apply_colors(style, colors);
    ImGui::GetStyle() = style;
}

}  // namespace attnscope
