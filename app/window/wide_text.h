// Keeps characters that the text widget cannot hold out of its hands.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

/// The code point at the start of `text`, and its length in bytes; 0 bytes where it is no UTF-8.
struct DecodedCharacter {
    char32_t code = 0;
    std::size_t bytes = 0;
};
DecodedCharacter decode_utf8(std::string_view text);
std::string encode_utf8(char32_t code);

/// Dear ImGui with 16-bit characters turns everything above U+FFFF into U+FFFD, and any build does so with
/// bytes that are no UTF-8. This maps each such character, byte or NUL one-to-one to a private-use code
/// point, and back; private- use characters of the text itself are mapped too. With 32-bit characters
/// everything else stays as it is. One object serves one field for its whole life: what it has mapped once
/// keeps its code point.
class WideText {
public:
    WideText();
    /// As if ImGui's characters were 16 or 32 bits wide.
    explicit WideText(bool wide_characters) : wide_characters_(wide_characters) {}

    /// UTF-8 that the widget can hold. Throws Error(too_large) after 6,400 different characters of this kind.
    std::string encode(std::string_view bytes);
    /// What `widget` stands for, to the byte.
    std::string decode(std::string_view widget) const;

private:
    std::string stand_in(std::string_view bytes);

    bool wide_characters_;
    std::vector<std::string> originals_;  ///< by code point - U+E000
    std::map<std::string, char32_t, std::less<>> stand_ins_;
};

/// ImGui drops these when they are typed; a TextField puts them in itself.
bool is_typed_apart(char32_t code);

}  // namespace attnscope
