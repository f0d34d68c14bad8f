// The differences between Dear ImGui 1.86 and later releases, all in one place.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "app/platform/input_event.h"
#include "app/platform/wide_text.h"

namespace attnscope {

class ShapedText;

/// The system clipboard; its text is UTF-8.
struct Clipboard {
    std::function<std::string()> get;
    std::function<void(const std::string&)> set;
    /// Puts a picture, the bytes of a PNG file, there. Throws Error(backend) where that is not possible.
    std::function<void(const std::string&)> set_png;
};
/// A clipboard private to the process; a picture is read back as text.
Clipboard memory_clipboard();

/// State shared by ImGui's callbacks and the text fields of one context.
struct TextBridge {
    Clipboard clipboard;
    ShapedText* shaped = nullptr;  ///< draws what ImGui cannot
    WideText wide = {};            ///< for all text fields
    bool in_field = false;         ///< a TextField is being drawn
    bool one_line = true;          ///< pasted line breaks become spaces
    std::vector<char32_t> typed;   ///< characters typed in this frame that ImGui would drop
    std::string wanted;            ///< characters that the fonts must have from the next frame on
    std::string pasted;            ///< kept alive for ImGui
};

namespace compat {

/// Whether ImGui's characters are 32 bits wide and hold all of Unicode.
bool has_wide_characters();

/// Sets up the current context: keys, clipboard through `bridge` (which must outlive it), no ini file, no
/// blinking caret.
void set_up_io(TextBridge& bridge);
/// The bridge passed to set_up_io.
TextBridge& text_bridge();

/// Pass events to the current context, before its frame begins. `mods` are those held with the key.
void set_key(Key key, bool down, bool repeat, const Mods& mods);
void set_mods(const Mods& mods);
void add_character(char32_t code);
void set_mouse(float x, float y);
void set_mouse_outside();
void set_mouse_button(int button, bool down);
void add_wheel(float x, float y);
void set_focus(bool focused);

/// Whether the key was pressed in the current frame, according to ImGui.
bool key_pressed(Key key, bool repeat = false);
bool key_down(Key key);

/// Whether a menu, a list or a dialog is open.
bool popup_is_open();
/// Whether a menu or a list is, which the arrows go through.
bool list_is_open();
/// Seconds that the pointer has rested on the item that it is on.
float rest_time();
/// Enables the arrow keys in menus and lists, from the next frame on.
void set_keyboard_navigation(bool on);
/// Activates the selected item of the open menu or list; false if there is none. Call between frames.
bool press_focused_item();
/// Takes the keyboard focus from the active text field. Call between frames.
void leave_field();

/// Closes open menus and lists, and leaves dialogs. False if there are none. Call between frames.
bool close_menus();

/// Ends whatever this frame began but did not end, because drawing threw.
void close_windows();

/// A callback for ImDrawList::AddCallback that restores ImGui's state after one that changed OpenGL's.
ImDrawCallback reset_render_state();

/// An OpenGL texture's name as ImDrawList::AddImage takes it.
ImTextureID texture_id(unsigned texture);

/// The colors of what a text field draws on its frame: the text, the selection, the caret.
std::span<const ImGuiCol> field_colors();
/// Colors that were renamed: keyboard focus and selected tab.
void set_focus_colors(ImGuiStyle& style, const ImVec4& focus, const ImVec4& chosen_tab);

/// Uses FreeType if ImGui was built with it.
void choose_font_builder(ImFontAtlas& atlas);
/// Adds a font whose file stays in memory for as long as the atlas uses it. `ranges` end in 0 and stay in
/// memory as long.
ImFont* add_font(ImFontAtlas& atlas, std::span<const unsigned char> file, float pixels, ImFontConfig config,
                 const ImWchar* ranges);
/// The height of a line in pixels.
float font_size(const ImFont& font);
/// The end of the first line when `text` is wrapped at `width` pixels, between words if possible.
const char* line_end(const ImFont& font, const char* text, const char* end, float width);
/// Whether the font has the character itself, rather than a fallback.
bool has_glyph(ImFont& font, char32_t code);
/// Requests a glyph of `width` × `height` pixels, `offset` from a line's top left, from the current context's
/// atlas before it is built. Returns its index, or −1 if this release of ImGui has no such glyphs.
int add_glyph(ImFont& font, char32_t code, int width, int height, ImVec2 offset, float advance);
/// The glyph's alpha values, once the atlas is built.
void set_glyph_pixels(int index, std::span<const std::uint8_t> alpha);
/// Uploads the current context's atlas again after a rebuild.
void refresh_font_texture();

}  // namespace compat
}  // namespace attnscope
