#include "app/ui/style.h"

#include <algorithm>
#include <initializer_list>

#include "app/platform/imgui_compat.h"

namespace attnscope {

namespace {

constexpr float k_dim = 0.45F;  ///< of what a dialog covers

ImVec4 opaque(Rgb8 color, float alpha = 1) {
    return {static_cast<float>(color.red) / 255, static_cast<float>(color.green) / 255,
            static_cast<float>(color.blue) / 255, alpha};
}

/// The color of `over` blended on `under` with opacity `part`.
ImVec4 mix(Rgb8 under, Rgb8 over, float part) {
    const auto channel = [&](std::uint8_t a, std::uint8_t b) {
        return (static_cast<float>(a) * (1 - part) + static_cast<float>(b) * part) / 255;
    };
    return {channel(under.red, over.red), channel(under.green, over.green), channel(under.blue, over.blue),
            1};
}

void apply_colors(ImGuiStyle& style, const Theme& theme) {
    const auto set = [&](std::initializer_list<ImGuiCol> slots, const ImVec4& color) {
        for (const ImGuiCol slot : slots) style.Colors[slot] = color;
    };
    set({ImGuiCol_FrameBg, ImGuiCol_Button, ImGuiCol_TitleBg, ImGuiCol_TitleBgActive,
         ImGuiCol_TitleBgCollapsed, ImGuiCol_TableHeaderBg, ImGuiCol_PopupBg},
        opaque(theme.raised));
    set({ImGuiCol_FrameBgHovered, ImGuiCol_ButtonHovered, ImGuiCol_ScrollbarGrabHovered},
        mix(theme.raised, theme.text, 0.07F));
    set({ImGuiCol_FrameBgActive, ImGuiCol_Header, ImGuiCol_HeaderHovered, ImGuiCol_HeaderActive,
         ImGuiCol_TextSelectedBg},
        mix(theme.panel, theme.accent, 0.2F));
    set({ImGuiCol_ButtonActive, ImGuiCol_SliderGrab, ImGuiCol_TabHovered},
        mix(theme.panel, theme.accent, 0.28F));
    set({ImGuiCol_CheckMark, ImGuiCol_SliderGrabActive, ImGuiCol_SeparatorActive, ImGuiCol_PlotHistogram,
         ImGuiCol_DragDropTarget},
        opaque(theme.accent));
    set({ImGuiCol_Border, ImGuiCol_Separator, ImGuiCol_SeparatorHovered, ImGuiCol_TableBorderLight,
         ImGuiCol_TableBorderStrong, ImGuiCol_ScrollbarGrab, ImGuiCol_ScrollbarGrabActive},
        opaque(theme.line));
    set({ImGuiCol_BorderShadow, ImGuiCol_ScrollbarBg, ImGuiCol_Tab, ImGuiCol_ResizeGrip, ImGuiCol_ChildBg},
        ImVec4(0, 0, 0, 0));
    set({ImGuiCol_Text}, opaque(theme.text));
    set({ImGuiCol_TextDisabled}, opaque(theme.secondary));
    set({ImGuiCol_WindowBg, ImGuiCol_MenuBarBg}, opaque(theme.panel));
    set({ImGuiCol_ModalWindowDimBg}, ImVec4(0, 0, 0, k_dim));
    compat::set_focus_colors(style, opaque(theme.accent), mix(theme.panel, theme.accent, 0.2F));
}

}  // namespace

void apply_style(const Theme& theme, float scale, float body_size) {
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
    style.DisabledAlpha = 0.7F;  // a sentence that is not read can still be read
    style.WindowMinSize = ImVec2(16, 16);
    style.WindowTitleAlign = ImVec2(0, 0.5F);
    style.ScaleAllSizes(scale);
    style.FramePadding = ImVec2(10 * scale, std::max(0.0F, (26 * scale - body_size) / 2));
    apply_colors(style, theme);
    ImGui::GetStyle() = style;
}

void dim_behind_dialogs(bool dims) {
    ImGui::GetStyle().Colors[ImGuiCol_ModalWindowDimBg].w = dims ? k_dim : 0;
}

}  // namespace attnscope
