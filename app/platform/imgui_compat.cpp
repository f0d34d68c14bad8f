#include "app/platform/imgui_compat.h"

#include <backends/imgui_impl_opengl3.h>
#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <memory>
#include <utility>

#if __has_include(<imgui_freetype.h>)
#include <imgui_freetype.h>
#define ATTNSCOPE_IMGUI_FREETYPE 1
#elif __has_include(<misc/freetype/imgui_freetype.h>)
#include <misc/freetype/imgui_freetype.h>
#define ATTNSCOPE_IMGUI_FREETYPE 1
#else
#define ATTNSCOPE_IMGUI_FREETYPE 0
#endif

namespace attnscope {

Clipboard memory_clipboard() {
    const auto text = std::make_shared<std::string>();
    return {.get = [text] { return *text; },
            .set = [text](const std::string& copied) { *text = copied; },
            .set_png = [text](const std::string& png) { *text = png; }};
}

namespace compat {

namespace {

/// A pasted text as one line: line breaks become spaces.
std::string on_one_line(std::string_view text) {
    std::string line;
    for (const char c : text) {
        const bool breaks = c == '\n' || c == '\r' || c == '\t';
        if (!breaks) {
            line += c;
        } else if (line.empty() || line.back() != ' ') {
            line += ' ';
        }
    }
    return line;
}

const char* paste_from(TextBridge& bridge) {
    bridge.pasted = bridge.clipboard.get ? bridge.clipboard.get() : std::string();
    if (bridge.one_line) bridge.pasted = on_one_line(bridge.pasted);
    if (bridge.in_field) bridge.pasted = bridge.wide.encode(bridge.pasted);
    return bridge.pasted.c_str();
}

void copy_to(TextBridge& bridge, const char* text) {
    if (bridge.clipboard.set) bridge.clipboard.set(bridge.in_field ? bridge.wide.decode(text) : text);
}

struct KeyName {
    Key ours;
    ImGuiKey theirs;
};

#if IMGUI_VERSION_NUM < 18700
// The 22 keys that this release has names for.
constexpr KeyName k_keys[] = {
    {Key::tab, ImGuiKey_Tab},
    {Key::left, ImGuiKey_LeftArrow},
    {Key::right, ImGuiKey_RightArrow},
    {Key::up, ImGuiKey_UpArrow},
    {Key::down, ImGuiKey_DownArrow},
    {Key::page_up, ImGuiKey_PageUp},
    {Key::page_down, ImGuiKey_PageDown},
    {Key::home, ImGuiKey_Home},
    {Key::end, ImGuiKey_End},
    {Key::insert, ImGuiKey_Insert},
    {Key::del, ImGuiKey_Delete},
    {Key::backspace, ImGuiKey_Backspace},
    {Key::space, ImGuiKey_Space},
    {Key::enter, ImGuiKey_Enter},
    {Key::escape, ImGuiKey_Escape},
    {Key::keypad_enter, ImGuiKey_KeyPadEnter},
    {Key::a, ImGuiKey_A},
    {Key::c, ImGuiKey_C},
    {Key::v, ImGuiKey_V},
    {Key::x, ImGuiKey_X},
    {Key::y, ImGuiKey_Y},
    {Key::z, ImGuiKey_Z},
};
#else
constexpr KeyName k_keys[] = {
    {Key::tab, ImGuiKey_Tab},
    {Key::left, ImGuiKey_LeftArrow},
    {Key::right, ImGuiKey_RightArrow},
    {Key::up, ImGuiKey_UpArrow},
    {Key::down, ImGuiKey_DownArrow},
    {Key::page_up, ImGuiKey_PageUp},
    {Key::page_down, ImGuiKey_PageDown},
    {Key::home, ImGuiKey_Home},
    {Key::end, ImGuiKey_End},
    {Key::insert, ImGuiKey_Insert},
    {Key::del, ImGuiKey_Delete},
    {Key::backspace, ImGuiKey_Backspace},
    {Key::space, ImGuiKey_Space},
    {Key::enter, ImGuiKey_Enter},
    {Key::keypad_enter, ImGuiKey_KeypadEnter},
    {Key::escape, ImGuiKey_Escape},
    {Key::comma, ImGuiKey_Comma},
    {Key::period, ImGuiKey_Period},
    {Key::minus, ImGuiKey_Minus},
    {Key::equal, ImGuiKey_Equal},
    {Key::slash, ImGuiKey_Slash},
    {Key::backslash, ImGuiKey_Backslash},
    {Key::semicolon, ImGuiKey_Semicolon},
    {Key::apostrophe, ImGuiKey_Apostrophe},
    {Key::left_bracket, ImGuiKey_LeftBracket},
    {Key::right_bracket, ImGuiKey_RightBracket},
    {Key::grave, ImGuiKey_GraveAccent},
    {Key::ctrl, ImGuiKey_LeftCtrl},
    {Key::shift, ImGuiKey_LeftShift},
    {Key::alt, ImGuiKey_LeftAlt},
    {Key::super, ImGuiKey_LeftSuper},
};

/// ImGuiKey_None for a key that ImGui has no name for.
ImGuiKey named(Key key) {
    const auto run = [&](Key first, Key last, ImGuiKey start) -> ImGuiKey {
        if (key < first || key > last) return ImGuiKey_None;
        return static_cast<ImGuiKey>(start + (static_cast<int>(key) - static_cast<int>(first)));
    };
    if (const ImGuiKey found = run(Key::a, Key::z, ImGuiKey_A)) return found;
    if (const ImGuiKey found = run(Key::digit_0, Key::digit_9, ImGuiKey_0)) return found;
    if (const ImGuiKey found = run(Key::f1, Key::f12, ImGuiKey_F1)) return found;
    for (const KeyName& name : k_keys) {
        if (name.ours == key) return name.theirs;
    }
    return ImGuiKey_None;
}
#endif

#if IMGUI_VERSION_NUM < 19110
void hook_clipboard(TextBridge& bridge) {
    ImGuiIO& io = ImGui::GetIO();
    io.ClipboardUserData = &bridge;
    io.GetClipboardTextFn = [](void* data) { return paste_from(*static_cast<TextBridge*>(data)); };
    io.SetClipboardTextFn = [](void* data, const char* text) {
        copy_to(*static_cast<TextBridge*>(data), text);
    };
}
#else
void hook_clipboard(TextBridge& bridge) {
    ImGuiPlatformIO& platform = ImGui::GetPlatformIO();
    platform.Platform_ClipboardUserData = &bridge;
    platform.Platform_GetClipboardTextFn = [](ImGuiContext*) { return paste_from(text_bridge()); };
    platform.Platform_SetClipboardTextFn = [](ImGuiContext*, const char* text) {
        copy_to(text_bridge(), text);
    };
}
#endif

}  // namespace

bool has_wide_characters() { return sizeof(ImWchar) > 2; }

TextBridge& text_bridge() {
#if IMGUI_VERSION_NUM < 19110
    return *static_cast<TextBridge*>(ImGui::GetIO().ClipboardUserData);
#else
    return *static_cast<TextBridge*>(ImGui::GetPlatformIO().Platform_ClipboardUserData);
#endif
}

void set_up_io(TextBridge& bridge) {
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.LogFilename = nullptr;
    io.ConfigInputTextCursorBlink = false;
    io.BackendFlags |= ImGuiBackendFlags_HasMouseCursors;
    // The system repeats held keys; ImGui would repeat them by frame time, however long a frame takes.
    io.KeyRepeatDelay = FLT_MAX;
#if IMGUI_VERSION_NUM < 18700
    for (const KeyName& name : k_keys) io.KeyMap[name.theirs] = static_cast<int>(name.ours);
#else
    io.ConfigInputTrickleEventQueue = false;  // InputQueue does this
#endif
    hook_clipboard(bridge);
}

#if IMGUI_VERSION_NUM < 18700

void set_key(Key key, bool down, bool repeat, const Mods& mods) {
    ImGuiIO& io = ImGui::GetIO();
    const auto index = static_cast<std::size_t>(key);
    io.KeysDown[index] = down;
    if (repeat) io.KeysDownDuration[index] = -1;  // as if just pressed
    set_mods(mods);
}

void set_mods(const Mods& mods) {
    ImGuiIO& io = ImGui::GetIO();
    io.KeyCtrl = mods.ctrl;
    io.KeyShift = mods.shift;
    io.KeyAlt = mods.alt;
    io.KeySuper = mods.super;
}

void set_mouse(float x, float y) { ImGui::GetIO().MousePos = ImVec2(x, y); }
void set_mouse_outside() { ImGui::GetIO().MousePos = ImVec2(-FLT_MAX, -FLT_MAX); }
void set_mouse_button(int button, bool down) { ImGui::GetIO().MouseDown[button] = down; }
void add_wheel(float x, float y) {
    ImGui::GetIO().MouseWheelH += x;
    ImGui::GetIO().MouseWheel += y;
}

bool key_pressed(Key key, bool repeat) { return ImGui::IsKeyPressed(static_cast<int>(key), repeat); }
bool key_down(Key key) { return ImGui::IsKeyDown(static_cast<int>(key)); }

#else

void set_key(Key key, bool down, bool repeat, const Mods& mods) {
    ImGuiIO& io = ImGui::GetIO();
    set_mods(mods);
    const ImGuiKey name = named(key);
    if (name == ImGuiKey_None) return;
    io.AddKeyEvent(name, down);
    if (repeat) ImGui::GetKeyData(name)->DownDuration = -1;  // as if just pressed
}

void set_mods(const Mods& mods) {
#if IMGUI_VERSION_NUM < 18900
    const ImGuiKey names[] = {ImGuiKey_ModCtrl, ImGuiKey_ModShift, ImGuiKey_ModAlt, ImGuiKey_ModSuper};
#else
    const ImGuiKey names[] = {ImGuiMod_Ctrl, ImGuiMod_Shift, ImGuiMod_Alt, ImGuiMod_Super};
#endif
    ImGuiIO& io = ImGui::GetIO();
    io.AddKeyEvent(names[0], mods.ctrl);
    io.AddKeyEvent(names[1], mods.shift);
    io.AddKeyEvent(names[2], mods.alt);
    io.AddKeyEvent(names[3], mods.super);
}

void set_mouse(float x, float y) { ImGui::GetIO().AddMousePosEvent(x, y); }
void set_mouse_outside() { ImGui::GetIO().AddMousePosEvent(-FLT_MAX, -FLT_MAX); }
void set_mouse_button(int button, bool down) { ImGui::GetIO().AddMouseButtonEvent(button, down); }
void add_wheel(float x, float y) { ImGui::GetIO().AddMouseWheelEvent(x, y); }

bool key_pressed(Key key, bool repeat) {
    const ImGuiKey name = named(key);
    return name != ImGuiKey_None && ImGui::IsKeyPressed(name, repeat);
}
bool key_down(Key key) {
    const ImGuiKey name = named(key);
    return name != ImGuiKey_None && ImGui::IsKeyDown(name);
}

#endif

float rest_time() { return ImGui::GetCurrentContext()->HoveredIdTimer; }

bool popup_is_open() { return ImGui::GetCurrentContext()->OpenPopupStack.Size > 0; }

bool list_is_open() {
    const ImVector<ImGuiPopupData>& open = ImGui::GetCurrentContext()->OpenPopupStack;
    return std::any_of(open.begin(), open.end(), [](const ImGuiPopupData& each) {
        return each.Window && !(each.Window->Flags & ImGuiWindowFlags_Modal);
    });
}

void set_keyboard_navigation(bool on) {
    ImGuiConfigFlags& flags = ImGui::GetIO().ConfigFlags;
    flags = on ? flags | ImGuiConfigFlags_NavEnableKeyboard : flags & ~ImGuiConfigFlags_NavEnableKeyboard;
}

bool press_focused_item() {
    ImGuiContext& imgui = *ImGui::GetCurrentContext();
    // In the previous frame an arrow has chosen another item, which ImGui selects in the next one.
    if (imgui.NavMoveSubmitted) ImGui::NavMoveRequestApplyResult();
    imgui.NavMoveSubmitted = imgui.NavMoveScoringItems = false;
    if (imgui.NavId == 0 || !imgui.NavWindow || !(imgui.NavWindow->Flags & ImGuiWindowFlags_Popup))
        return false;
    imgui.NavNextActivateId = imgui.NavId;
    imgui.NavNextActivateFlags =
        ImGuiActivateFlags_None;  // not those of a field that got the keyboard before
    return true;
}

void leave_field() { ImGui::ClearActiveID(); }

bool close_menus() {
    const ImVector<ImGuiPopupData>& open = ImGui::GetCurrentContext()->OpenPopupStack;
    for (int level = 0; level < open.Size; ++level) {
        const ImGuiWindow* popup = open[level].Window;
        if (!popup || !popup->Active || (popup->Flags & ImGuiWindowFlags_Modal)) continue;
        ImGui::ClosePopupToLevel(level, true);
        return true;
    }
    return false;
}

void add_character(char32_t code) {
    if (!text_bridge().wide.holds(code)) {
        text_bridge().typed.push_back(code);
    } else {
        ImGui::GetIO().AddInputCharacter(code);
    }
}

void set_focus(bool focused) { ImGui::GetIO().AddFocusEvent(focused); }

void close_windows() {
#if IMGUI_VERSION_NUM < 19130
    ImGui::ErrorCheckEndFrameRecover(nullptr);
#else
    const bool asserts = std::exchange(ImGui::GetIO().ConfigErrorRecoveryEnableAssert, false);
    ImGui::ErrorRecoveryTryToRecoverState(&ImGui::GetCurrentContext()->StackSizesInNewFrame);
    ImGui::GetIO().ConfigErrorRecoveryEnableAssert = asserts;
#endif
}

ImDrawCallback reset_render_state() {
#if IMGUI_VERSION_NUM < 19280
    return ImDrawCallback_ResetRenderState;
#else
    return ImGui::GetPlatformIO().DrawCallback_ResetRenderState;
#endif
}

// A pointer in 1.86, a number later: only a C-style cast produces either.
ImTextureID texture_id(unsigned texture) {
    return (ImTextureID)(std::uintptr_t)texture;  // NOLINT(performance-no-int-to-ptr)
}

std::span<const ImGuiCol> field_colors() {
    static constexpr ImGuiCol k_colors[] = {
        ImGuiCol_Text,
        ImGuiCol_TextSelectedBg,
#if IMGUI_VERSION_NUM >= 19200
        ImGuiCol_InputTextCursor,
#endif
    };
    return k_colors;
}

void set_focus_colors(ImGuiStyle& style, const ImVec4& focus, const ImVec4& chosen_tab) {
#if IMGUI_VERSION_NUM < 19110
    style.Colors[ImGuiCol_NavHighlight] = focus;
    style.Colors[ImGuiCol_TabActive] = chosen_tab;
#else
    style.Colors[ImGuiCol_NavCursor] = focus;
    style.Colors[ImGuiCol_TabSelected] = chosen_tab;
#endif
}

void choose_font_builder(ImFontAtlas& atlas) {
#if ATTNSCOPE_IMGUI_FREETYPE && IMGUI_VERSION_NUM < 19200
    atlas.FontBuilderIO = ImGuiFreeType::GetBuilderForFreeType();
    atlas.FontBuilderFlags = ImGuiFreeTypeBuilderFlags_LightHinting;
#else
    (void)atlas;
#endif
}

ImFont* add_font(ImFontAtlas& atlas, std::span<const unsigned char> file, float pixels, ImFontConfig config,
                 const ImWchar* ranges) {
    auto* bytes = const_cast<unsigned char*>(file.data());  // only read
    const int size = static_cast<int>(file.size());
#if IMGUI_VERSION_NUM < 19200
    // ImGui copies a file that it does not own: several megabytes for each size.
    config.FontDataOwnedByAtlas = true;
    ImFont* font = atlas.AddFontFromMemoryTTF(bytes, size, pixels, &config, ranges);
    atlas.ConfigData.back().FontDataOwnedByAtlas = false;
    return font;
#else
    config.FontDataOwnedByAtlas = false;
    return atlas.AddFontFromMemoryTTF(bytes, size, pixels, &config, ranges);
#endif
}

float font_size(const ImFont& font) {
#if IMGUI_VERSION_NUM < 19200
    return font.FontSize;
#else
    return std::floor(font.LegacySize + 0.5F);  // the size it is rounded to in use
#endif
}

const char* line_end(const ImFont& font, const char* text, const char* end, float width) {
#if IMGUI_VERSION_NUM < 19200
    const char* at = font.CalcWordWrapPositionA(1, text, end, width);
#else
    const char* at = const_cast<ImFont&>(font).CalcWordWrapPosition(font_size(font), text, end, width);
#endif
    return at > text ? at : text + 1;
}

bool has_glyph(ImFont& font, char32_t code) {
    if (code > IM_UNICODE_CODEPOINT_MAX) return false;
#if IMGUI_VERSION_NUM < 19200
    return font.FindGlyphNoFallback(static_cast<ImWchar>(code)) != nullptr;
#else
    return font.IsGlyphInFont(static_cast<ImWchar>(code));
#endif
}

int add_glyph(ImFont& font, char32_t code, int width, int height, ImVec2 offset, float advance) {
#if IMGUI_VERSION_NUM < 19200
    return ImGui::GetIO().Fonts->AddCustomRectFontGlyph(&font, static_cast<ImWchar>(code), width, height,
                                                        advance, offset);
#else
    (void)font, (void)code, (void)width, (void)height, (void)offset, (void)advance;
    return -1;
#endif
}

void set_glyph_pixels(int index, std::span<const std::uint8_t> alpha) {
#if IMGUI_VERSION_NUM < 19200
    ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
    const ImFontAtlasCustomRect& place = *atlas.GetCustomRectByIndex(index);
    unsigned char* pixels = nullptr;
    int width = 0, height = 0;
    atlas.GetTexDataAsAlpha8(&pixels, &width, &height);
    const std::size_t columns = place.Width, stride = static_cast<std::size_t>(width);
    for (std::size_t y = 0; y < place.Height; ++y)
        std::ranges::copy(alpha.subspan(y * columns, columns), pixels + (place.Y + y) * stride + place.X);
#else
    (void)index, (void)alpha;
#endif
}

void refresh_font_texture() {
#if IMGUI_VERSION_NUM < 19200
    ImGui_ImplOpenGL3_DestroyFontsTexture();
    ImGui_ImplOpenGL3_CreateFontsTexture();
#endif
}

}  // namespace compat
}  // namespace attnscope
