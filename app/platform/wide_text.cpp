#include "app/platform/wide_text.h"

#include "app/platform/imgui_compat.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr char32_t k_first_private = 0xE000;
constexpr char32_t k_last_private = 0xF8FF;

bool is_private(char32_t code) { return code >= k_first_private && code <= k_last_private; }

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0u) == 0x80u; }

}  // namespace

DecodedCharacter decode_utf8(std::string_view text) {
    if (text.empty()) return {};
    const auto first = static_cast<unsigned char>(text[0]);
    if (first < 0x80) return {first, 1};
    const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return {};
    char32_t code = first & (0x7Fu >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
        if (!is_continuation(text[i])) return {};
        code = (code << 6) | (static_cast<unsigned char>(text[i]) & 0x3Fu);
    }
    const bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    if (overlong || surrogate || code > 0x10FFFF) return {};
    return {code, bytes};
}

std::string encode_utf8(char32_t code) {
    const auto tail = [&](int shift) { return static_cast<char>(0x80u | ((code >> shift) & 0x3Fu)); };
    const auto head = [&](unsigned mark, int shift) { return static_cast<char>(mark | (code >> shift)); };
    if (code < 0x80) return {static_cast<char>(code)};
    if (code < 0x800) return {head(0xC0, 6), tail(0)};
    if (code < 0x10000) return {head(0xE0, 12), tail(6), tail(0)};
    return {head(0xF0, 18), tail(12), tail(6), tail(0)};
}

WideText::WideText() : WideText(compat::has_wide_characters()) {}

std::string WideText::encode(std::string_view bytes) {
    std::string widget;
    widget.reserve(bytes.size());
    while (!bytes.empty()) {
        const DecodedCharacter next = decode_utf8(bytes);
        const std::string_view character = bytes.substr(0, next.bytes ? next.bytes : 1);
        if (next.bytes && holds(next.code)) {
            widget += character;
        } else {
            widget += stand_in(character);
        }
        bytes.remove_prefix(character.size());
    }
    return widget;
}

std::string WideText::decode(std::string_view widget) const {
    std::string bytes;
    bytes.reserve(widget.size());
    while (!widget.empty()) {
        const DecodedCharacter next = decode_utf8(widget);
        const std::string_view character = widget.substr(0, next.bytes ? next.bytes : 1);
        const std::size_t index = is_private(next.code) ? next.code - k_first_private : originals_.size();
        if (index < originals_.size()) {
            bytes += originals_[index];
        } else {
            bytes += character;
        }
        widget.remove_prefix(character.size());
    }
    return bytes;
}

std::string WideText::stand_in(std::string_view bytes) {
    if (const auto known = stand_ins_.find(bytes); known != stand_ins_.end())
        return encode_utf8(known->second);
    const char32_t code = code_of(originals_.size());
    if (code > k_last_private) {
        throw Error(ErrorKind::too_large,
                    "the text has more than 6,400 different rare characters, more than a field "
                    "can hold; open it from a session file instead");
    }
    originals_.emplace_back(bytes);
    stand_ins_.emplace(bytes, code);
    return encode_utf8(code);
}

bool WideText::holds(char32_t code) const {
    const char32_t largest = wide_characters_ ? 0x10FFFF : 0xFFFF;
    return code != 0 && code <= largest && !is_private(code) && (!drawable_ || drawable_(code));
}

char32_t WideText::code_of(std::size_t index) { return k_first_private + static_cast<char32_t>(index); }

}  // namespace attnscope
