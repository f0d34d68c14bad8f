// Text in pictures: measured and drawn with given font files, the same on every machine.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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

/// Text as a bitmap of one color, row by row, 255 where it covers a pixel; and over it what has colors of its
/// own, emoji.
struct TextShades {
    static constexpr int k_margin = 2;  ///< pixels around the text's box, for ink beyond it
    int width = 0;
    int height = 0;
    int baseline = 0;  ///< of the first line, from the top
    std::vector<std::uint8_t> alpha = {};
    std::vector<std::uint8_t> rgba = {};  ///< of the emoji, not multiplied by alpha; empty if there are none
};

/// A line of text with the places of a caret in it. `byte` counts the text as it was given; it is shown as
/// TextFace::displayable with Spaces::kept writes it. A caret stands between grapheme clusters (UAX #29)
/// only. Must not outlive its TextFace.
class TextLine {
public:
    ~TextLine();
    TextLine(TextLine&&) noexcept;
    TextLine& operator=(TextLine&&) noexcept;

    TextExtent extent() const;
    /// Where a caret before `byte` stands, in pixels from the left end: `strong` for letters of the direction
    /// that the line begins with, `weak` for those of the other one.
    struct Caret {
        double strong = 0;
        double weak = 0;
    };
    Caret caret(std::size_t byte) const;
    /// The place of a caret that is nearest to `x`.
    std::size_t byte_at(double x) const;
    /// The places of a caret next to that at `byte`: as seen, and in the order of the text. `byte` itself at
    /// the end of the line.
    std::size_t left_of(std::size_t byte) const { return beside(byte, -1); }
    std::size_t right_of(std::size_t byte) const { return beside(byte, 1); }
    std::size_t before(std::size_t byte) const;
    std::size_t after(std::size_t byte) const;
    /// The start of what Backspace deletes at `byte`: the last mark or letter in scripts whose marks are
    /// typed one by one (Arabic, Hindi, Thai), else the whole cluster (an emoji, an accented letter).
    std::size_t backspace_begin(std::size_t byte) const;
    /// Whether the letters around a caret at `byte` run from right to left.
    bool runs_leftward(std::size_t byte) const;
    /// What the bytes from `begin` to `end` cover: pieces in pixels, each its left and its right end.
    std::vector<std::pair<double, double>> ranges(std::size_t begin, std::size_t end) const;
    /// The part of the line from `left` on that is `width` pixels wide, as a bitmap with margins.
    TextShades shades(int left, int width) const;

private:
    friend class TextFace;
    struct Implementation;
    explicit TextLine(std::unique_ptr<Implementation> implementation);
    std::size_t beside(std::size_t byte, int direction) const;

    std::unique_ptr<Implementation> implementation_;
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

    /// The text on one line, for a caret; nothing if that is longer than 4096 bytes as it is shown.
    /// `style` must be without formula and max_width.
    std::optional<TextLine> line(std::string_view text, const TextStyle& style) const;

    /// The text as it can be drawn: control characters, bytes that are not UTF-8 (U+FFFD) and characters
    /// missing in all fonts become code points ("U+1F600"); joiners and variation selectors next to those are
    /// left out.
    std::string displayable(std::string_view text, Spaces spaces = Spaces::shown) const;
    bool has_glyph(char32_t code_point) const;

private:
    struct Implementation;
    std::string displayed(std::string_view text, Spaces spaces, std::vector<std::size_t>* places) const;

    struct Return {
        void operator()(Implementation* face) const;
    };
    std::unique_ptr<Implementation, Return> implementation_;
};

}  // namespace attnscope
