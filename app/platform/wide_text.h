// Replaces characters that the text widget cannot hold by stand-ins.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attnscope {

/// Dear ImGui with 16-bit characters turns everything above U+FFFF into U+FFFD, and any build does so with
/// invalid UTF-8. This maps each such character, byte or NUL one-to-one to a private-use code point, and
/// back; so are private-use characters of the text itself, and characters that the widget cannot draw. With
/// 32-bit characters everything else stays as it is. One object serves all fields of a window for its whole
/// life: a character keeps its code point, for which the fonts have a glyph.
class WideText {
public:
    WideText();
    /// Works as if ImGui's characters were 16 or 32 bits wide.
    explicit WideText(bool wide_characters) : wide_characters_(wide_characters) {}

    /// Sets which characters the widget can draw; only these are held as they are.
    void set_drawable(std::function<bool(char32_t)> drawable) { drawable_ = std::move(drawable); }
    /// Whether the widget holds the character itself. ImGui may drop others as they are typed; a TextField
    /// then inserts them.
    bool holds(char32_t code) const;

    /// UTF-8 that the widget can hold. Throws Error(too_large) after 6,400 different replaced characters.
    std::string encode(std::string_view bytes);
    /// The original text of `widget`, to the byte.
    std::string decode(std::string_view widget) const;

    /// The original of each code point assigned, in the order of code_of().
    const std::vector<std::string>& originals() const { return originals_; }
    static char32_t code_of(std::size_t index);

private:
    std::string stand_in(std::string_view bytes);

    bool wide_characters_;
    std::function<bool(char32_t)> drawable_;
    std::vector<std::string> originals_;  ///< index: code point - U+E000
    std::map<std::string, char32_t, std::less<>> stand_ins_;
};

}  // namespace attnscope
