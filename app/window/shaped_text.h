// Text that ImGui cannot draw: it knows no joined letters, no marks that combine and no direction but from
// left to right, and its fonts hold only what was asked for. This is drawn as pictures draw it, by TextFace,
// into textures.
#pragma once

#include <imgui.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "app/window/fonts.h"
#include "core/gpu/gl.h"
#include "core/picture/text.h"

namespace attnscope {

/// Whether the character stands for itself wherever it is: not one that joins, combines, is reordered or
/// invisible.
bool is_simple(char32_t code);

/// An OpenGL context is current in every call, and when the frame is drawn.
class ShapedText {
public:
    /// A character as a font atlas takes it in.
    struct Glyph {
        TextShades shades;
        float top;  ///< pixels from a line's top to the picture's
    };

    /// The fonts whose text is drawn from now on; at `scale`.
    void set_fonts(const Fonts& fonts, float scale);
    /// Forgets what the frames before no longer drew.
    void begin_frame();

    /// Whether ImGui draws it as it is written; true for everything where no font file was found.
    bool is_plain(ImFont& font, std::string_view text);
    /// TextFace's; the text itself where no font file was found.
    std::string displayable(std::string_view text, Blanks blanks);
    /// Whether a text field may hold the character as it is: a simple one that a font has.
    bool may_hold(char32_t code);

    /// Pixels; of the text in lines that are at most `wrap` wide, where that is given.
    ImVec2 size(const ImFont& font, const std::string& text, float wrap = 0);
    void draw(ImDrawList& list, const ImFont& font, ImVec2 top_left, ImU32 color, const std::string& text,
              float wrap = 0);
    /// A single character in a font of `pixels` per em, for a font atlas: itself if it is one that needs only
    /// a font, else its code point.
    std::optional<Glyph> glyph(std::string_view character, Font font, double pixels);

private:
    struct Entry {
        std::string shown;  ///< displayable
        TextExtent extent;
        std::optional<gl::Texture2D> texture;
        float top = 0;   ///< pixels from a line's top to the texture's
        int unused = 0;  ///< frames
    };
    using Key = std::tuple<std::string, const ImFont*, float>;

    const TextFace* face();
    TextStyle style(const ImFont& font, float wrap) const;
    Entry& entry(const ImFont& font, const std::string& text, float wrap);
    double ascent(const TextStyle& style);

    std::optional<TextFace> face_;
    bool no_fonts_ = false;
    std::map<const ImFont*, TextStyle> styles_;
    std::map<Key, Entry> entries_;
};

/// `text` as every picture writes it, blanks as "␣" and what no font has as its code point: U+1F469.
std::string legible(std::string_view text);

}  // namespace attnscope
