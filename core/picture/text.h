// Text in pictures: measured and drawn from given font files, alike on every machine.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/picture/color.h"
#include "core/picture/fonts.h"

typedef struct _cairo cairo_t;

namespace attnscope {

enum class Font { sans, sans_semibold, mono, mono_semibold };

struct TextStyle {
    Font font = Font::sans;
    double size = 13;      ///< pixels per em
    double max_width = 0;  ///< pixels; 0: no limit
    double align = 0;      ///< where x is: 0 the left edge, 0.5 the middle, 1 the right edge
    bool wrap = false;     ///< what is wider than max_width: goes on in further lines, or ends in "…"
};

/// Pixels. `ascent` is from the top of the first line to its baseline.
struct TextExtent {
    double width = 0;
    double height = 0;
    double ascent = 0;
};

/// Text as a picture in shades of one colour: row by row, 255 where it covers a pixel.
struct TextShades {
    static constexpr int k_margin = 2;  ///< pixels around the text's box, for ink beyond it
    int width = 0;
    int height = 0;
    int baseline = 0;  ///< of the first line, from the top
    std::vector<std::uint8_t> alpha = {};
};

/// How letters are given to cairo. Outlines are the same bytes everywhere; glyphs stay text that can be
/// selected where the surface is a document.
enum class TextMode { outlines, glyphs };

/// Of a token every blank is shown, as "␣"; of a sentence they are kept, the ends of its lines as blanks.
enum class Blanks { shown, kept };

/// Fonts made ready for use. No font of the machine other than the given files is ever used, nor any of its
/// font settings: no hinting, grey antialiasing, subpixel positions. One thread at a time.
class TextFace {
public:
    /// Throws Error(backend) for a file that is no font.
    explicit TextFace(const FontFiles& files);
    TextFace() : TextFace(find_fonts()) {}
    ~TextFace();
    TextFace(TextFace&&) noexcept;
    TextFace& operator=(TextFace&&) noexcept;

    /// Of text longer than 4096 bytes the beginning is measured and drawn, and "…".
    TextExtent extent(std::string_view text, const TextStyle& style) const;
    /// At `x` as style.align says, `baseline` being the first line's; in the colour that `cairo` has as its
    /// source.
    void draw(cairo_t* cairo, std::string_view text, const TextStyle& style, double x, double baseline,
              TextMode mode) const;

    /// At most 8192 pixels a side: what is beyond is cut.
    TextShades shades(std::string_view text, const TextStyle& style) const;

    /// The text as it can be written: control characters, bytes that are no UTF-8 (U+FFFD) and what no font
    /// has as code points ("U+1F600"); joiners and variation selectors next to those are left out.
    std::string displayable(std::string_view text, Blanks blanks = Blanks::shown) const;
    bool has_glyph(char32_t code_point) const;

private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace attnscope
