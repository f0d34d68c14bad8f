#include "core/utf8.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>

namespace attnscope {

DecodedCharacter decode_utf8(std::string_view text) {
    // ASCII, without a call.
    if (!text.empty() && static_cast<unsigned char>(text.front()) < 0x80)
        return {static_cast<char32_t>(text.front()), 1};
    utf8proc_int32_t code = -1;
    const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                         static_cast<utf8proc_ssize_t>(text.size()), &code);
    if (length <= 0) return {};
    return {static_cast<char32_t>(code), static_cast<std::size_t>(length)};
}

std::string encode_utf8(char32_t code) {
    std::array<utf8proc_uint8_t, 4> bytes{};
    const auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), bytes.data());
    return {reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(length)};
}

namespace {

std::size_t next_length(std::string_view text) { return std::max<std::size_t>(decode_utf8(text).bytes, 1); }

std::string in_case(std::string_view text, utf8proc_int32_t (*change)(utf8proc_int32_t)) {
    std::string changed;
    while (!text.empty()) {
        const DecodedCharacter next = decode_utf8(text);
        if (next.bytes > 0)
            changed += encode_utf8(static_cast<char32_t>(change(static_cast<utf8proc_int32_t>(next.code))));
        else
            changed += text.front();
        text.remove_prefix(std::max<std::size_t>(next.bytes, 1));
    }
    return changed;
}

}  // namespace

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t bytes = decode_utf8(text).bytes;
        if (bytes == 0) return false;
        text.remove_prefix(bytes);
    }
    return true;
}

bool is_letter(char32_t code) {
    const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(code));
    return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

bool is_digit(char32_t code) {
    return utf8proc_category(static_cast<utf8proc_int32_t>(code)) == UTF8PROC_CATEGORY_ND;
}

std::string lower(std::string_view text) { return in_case(text, utf8proc_tolower); }

std::string upper(std::string_view text) { return in_case(text, utf8proc_toupper); }

std::string capitalized(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text;
}

std::size_t count_code_points(std::string_view text) {
    std::size_t count = 0;
    for (; !text.empty(); ++count) text.remove_prefix(next_length(text));
    return count;
}

std::size_t code_point_begin(std::string_view text, std::size_t byte) {
    if (byte >= text.size()) return text.size();
    std::size_t begin = 0;
    for (std::size_t length = 0; begin + (length = next_length(text.substr(begin))) <= byte;) begin += length;
    return begin;
}

}  // namespace attnscope
