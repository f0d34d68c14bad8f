// Walks UTF-8 and changes its case, with utf8proc.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace attnscope {

/// The code point at the start of `text`, and its length in bytes; 0 bytes if it is not valid UTF-8.
struct DecodedCharacter {
    char32_t code = 0;
    std::size_t bytes = 0;
};
DecodedCharacter decode_utf8(std::string_view text);
std::string encode_utf8(char32_t code);

bool is_utf8(std::string_view text);
/// Whether a code point is a letter, or a decimal digit, of any script.
bool is_letter(char32_t code);
bool is_digit(char32_t code);
/// The text in small letters, or in capitals, code point by code point; a byte that is not valid UTF-8 stays.
std::string lower(std::string_view text);
std::string upper(std::string_view text);
/// The text with a capital first letter, if that is one of ASCII: a formula that begins with a Greek letter
/// stays.
std::string capitalized(std::string text);
/// How many code points `text` has. A byte that is not valid UTF-8 counts as one.
std::size_t count_code_points(std::string_view text);
/// Where the code point starts that holds this byte; text.size() from the end on.
std::size_t code_point_begin(std::string_view text, std::size_t byte);

}  // namespace attnscope
