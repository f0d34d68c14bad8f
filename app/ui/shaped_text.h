// Text that ImGui cannot draw: it supports neither joined letters, combining marks nor right-to-left text,
// and its fonts contain only the characters requested. Such text is drawn as in pictures, by TextFace, into
// textures.
#pragma once

#include <imgui.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "app/ui/fonts.h"
#include "core/gpu/gl.h"
#include "core/picture/text.h"

namespace attnscope {

/// Whether the character looks the same in any context: it does not join, combine or reorder, and is visible.
/// Text fields hold only such characters as they are; a script that ImGui may draw itself is one whose
/// characters are all simple.
bool is_simple(char32_t code);

/// An OpenGL context must be current in every call, and when the frame is drawn.
class ShapedText {
public:
    /// A character as a font atlas stores it.
    struct Glyph {
        TextShades shades;
        float top;  ///< pixels from the line's top to the top of the picture
    };

    /// Sets the fonts of the text drawn from now on, at `scale`.
    void set_fonts(const Fonts& fonts, float scale);
    /// Drops what previous frames no longer drew.
    void begin_frame();

    /// Whether ImGui draws the text correctly; true for any text if no font file was found.
    bool is_plain(ImFont& font, std::string_view text);
    /// See TextFace for the function of this name; the text itself if no font file was found.
    std::string displayable(std::string_view text, Spaces spaces);
    /// Whether a text field may hold the character as it is: a simple one that a font has.
    bool may_hold(char32_t code);

    /// The size of the text in pixels; if `wrap` is not 0, of the text in lines of at most `wrap` pixels.
    ImVec2 size(const ImFont& font, const std::string& text, float wrap = 0);
    void draw(ImDrawList& list, const ImFont& font, ImVec2 top_left, ImU32 color, const std::string& text,
              float wrap = 0);
    /// The text as a line for a caret, valid until the next frame; nullptr if it is too long for one
    /// (TextFace::line) or no font file was found.
    const TextLine* line(const ImFont& font, const std::string& text);
    /// Draws the part of such a line from `left` on, `width` pixels wide.
    void draw_part(ImDrawList& list, const ImFont& font, ImVec2 top_left, ImU32 color,
                   const std::string& text, int left, int width);
    /// A single character in a font of `pixels` per em, for a font atlas: the character itself if all it
    /// needs is a font, else its code point.
    std::optional<Glyph> glyph(std::string_view character, Font font, double pixels);

private:
    struct Bitmap {
        gl::Texture2D texture;
        float top;                                 ///< pixels from the line's top to the texture's
        std::optional<gl::Texture2D> colors = {};  ///< of its emoji
    };
    struct Part {
        int left, width;  ///< pixels of the line
        Bitmap bitmap;
    };
    struct Entry {
        std::string shown;  ///< as it is displayed
        TextExtent extent;
        std::optional<Bitmap> bitmap = {};
        std::optional<TextLine> line = {};
        std::optional<Part> part = {};  ///< of the line, as it was drawn last
        int unused = 0;                 ///< frames since it was last drawn
    };
    using Key = std::tuple<std::string, const ImFont*, float>;

    const TextFace* face();
    TextStyle style(const ImFont& font, float wrap) const;
    Entry& entry(const ImFont& font, const std::string& text, float wrap);
    Bitmap bitmap(const TextShades& shades, const TextStyle& style);
    static void draw(ImDrawList& list, const Bitmap& bitmap, ImVec2 top_left, ImU32 color);
    double ascent(const TextStyle& style);

    std::optional<TextFace> face_;            ///< before the lines, which must not outlive it
    std::optional<TextFace> face_of_glyphs_;  ///< in one color, as an atlas is
    bool no_fonts_ = false;
    std::map<const ImFont*, TextStyle> styles_;
    std::map<Key, Entry> entries_;
};

/// `text` as every picture writes it: spaces as "␣", and characters that no font has as code points: U+1F469.
std::string legible(std::string_view text);

/// What draws the texts of the window whose frame it is.
ShapedText& shaped();

}  // namespace attnscope
