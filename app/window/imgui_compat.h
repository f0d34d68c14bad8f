// Every difference between Dear ImGui 1.86 and later releases that attnscope meets.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "app/window/input_event.h"
#include "app/window/wide_text.h"

namespace attnscope {

class ShapedText;

/// Where copied text goes and pasted text comes from, as UTF-8.
struct Clipboard {
    std::function<std::string()> get;
    std::function<void(const std::string&)> set;
};
/// A clipboard of the process's own.
Clipboard memory_clipboard();

/// What ImGui's hooks and the text fields of one context share.
struct TextBridge {
    Clipboard clipboard;
    ShapedText* shaped = nullptr;  ///< draws what ImGui cannot
    WideText wide = {};            ///< of all text fields
    bool in_field = false;         ///< a TextField is being drawn
    bool one_line = true;          ///< pasted line breaks become blanks
    std::vector<char32_t> typed;   ///< this frame's characters that ImGui would drop
    std::string wanted;            ///< characters to have in the fonts from the next frame on
    std::string pasted;            ///< kept alive for ImGui
};

namespace compat {

/// ImGui's characters hold all of Unicode.
bool has_wide_characters();

/// For the current context: keys, clipboard through `bridge` (which must outlive it), no ini file, no
/// blinking caret.
void set_up_io(TextBridge& bridge);
/// The one given to set_up_io.
TextBridge& text_bridge();

/// Feed the current context, before its frame begins. `mods` are those held with the key.
void set_key(Key key, bool down, bool repeat, const Mods& mods);
void set_mods(const Mods& mods);
void add_character(char32_t code);
void set_mouse(float x, float y);
void set_mouse_outside();
void set_mouse_button(int button, bool down);
void add_wheel(float x, float y);
void set_focus(bool focused);

/// As ImGui sees it in the current frame.
bool key_pressed(Key key, bool repeat = false);
bool key_down(Key key);

/// A menu, a list or a dialog is open.
bool popup_is_open();
/// The arrows move in menus and lists, from the next frame on.
void set_keyboard_navigation(bool on);
/// Presses what the arrows are on in the open menu or list; false if that is nothing. Between frames.
bool press_focused_item();
/// The field that is typed into lets go of the keyboard. Between frames.
void leave_field();

/// Closes the menus and lists that are open, and leaves dialogs. False if there are none. Between frames.
bool close_menus();

/// Ends what was begun in this frame and is not ended: drawing it threw.
void close_windows();

/// For ImDrawList::AddCallback after one that changed OpenGL's state.
ImDrawCallback reset_render_state();

/// For ImDrawList::AddImage: the name of an OpenGL texture.
ImTextureID texture_id(unsigned texture);

/// Colors whose names changed: the keyboard's focus, and the tab that is chosen.
void set_focus_colors(ImGuiStyle& style, const ImVec4& focus, const ImVec4& chosen_tab);

/// FreeType where ImGui was built with it.
void choose_font_builder(ImFontAtlas& atlas);
/// Height of a line in pixels.
float font_size(const ImFont& font);
/// Where a line of `text` that is at most `width` pixels wide ends: between words, where it can.
const char* line_end(const ImFont& font, const char* text, const char* end, float width);
/// False where a fallback is drawn.
bool has_glyph(ImFont& font, char32_t code);
/// Asks the atlas of the current context, before it is built, for a glyph of `width` × `height` pixels, which
/// stands `offset` from a line's top left; its index, or −1 where this release of ImGui has no such glyphs.
int add_glyph(ImFont& font, char32_t code, int width, int height, ImVec2 offset, float advance);
/// Its shades, once the atlas is built.
void set_glyph_pixels(int index, std::span<const std::uint8_t> alpha);
/// Uploads the atlas of the current context again after it was rebuilt.
void refresh_font_texture();

}  // namespace compat
}  // namespace attnscope
