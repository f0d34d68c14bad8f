// Text in pictures: measured and drawn with given font files, the same on every machine.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/picture/color.h"
#include "core/picture/fonts.h"

using cairo_t = struct _cairo;

namespace attnscope {

enum class Font { sans, sans_semibold, mono, mono_semibold };

struct TextStyle {
    Font font = Font::sans;
    double size = 13;      ///< pixels per em
    double max_width = 0;  ///< pixels; 0: no limit
    double align = 0;      ///< the position of x: 0 the left edge, 0.5 the middle, 1 the right edge
    bool wrap = false;     ///< text wider than max_width is wrapped, or else ends in "…"
    bool formula = false;  ///< "d_k" is typeset as d with a subscript k; so after any single letter
};

/// Pixels. `ascent` is from the top of the first line to its baseline.
struct TextExtent {
    double width = 0;
    double height = 0;
    double ascent = 0;
};

/// Text as a bitmap of one color: row by row, 255 where it covers a pixel.
struct TextShades {
    static constexpr int k_margin = 2;  ///< pixels around the text's box, for ink beyond it
    int width = 0;
    int height = 0;
    int baseline = 0;  ///< of the first line, from the top
    std::vector<std::uint8_t> alpha = {};
};

/// How text is passed to cairo. Outlines give the same bytes everywhere; glyphs remain selectable text in a
/// vector file.
enum class TextMode { outlines, glyphs };

/// In a token every space is shown as "␣"; in a sentence spaces are kept, and line ends become spaces.
enum class Spaces { shown, kept };

/// Fonts ready for use. Neither the machine's other fonts nor its font settings are ever used: no hinting,
/// gray antialiasing, subpixel positions. For one thread at a time.
class TextFace {
public:
    /// Throws Error(backend) for a file that is not a font.
    explicit TextFace(const FontFiles& files);
    TextFace() : TextFace(find_fonts()) {}
    ~TextFace();
    TextFace(TextFace&&) noexcept;
    TextFace& operator=(TextFace&&) noexcept;

    /// The size of a text on one line or wrapped. Only the start of a text longer than 4096 bytes is measured
    /// and drawn, followed by "…".
    TextExtent extent(std::string_view text, const TextStyle& style) const;
    /// Draws with `x` as in style.align and `baseline` that of the first line, in the current color of
    /// `cairo`.
    void draw(cairo_t* cairo, std::string_view text, const TextStyle& style, double x, double baseline,
              TextMode mode) const;

    /// The text as a bitmap of at most 8192 pixels per side; the rest is cut off.
    TextShades shades(std::string_view text, const TextStyle& style) const;

    /// The text as it can be drawn: control characters, bytes that are not UTF-8 (U+FFFD) and characters
    /// missing in all fonts become code points ("U+1F600"); joiners and variation selectors next to those are
    /// left out.
    std::string displayable(std::string_view text, Spaces spaces = Spaces::shown) const;
    bool has_glyph(char32_t code_point) const;

private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace attnscope
