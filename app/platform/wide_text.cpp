#include "app/platform/wide_text.h"

#include "app/platform/imgui_compat.h"
#include "core/error.h"
#include "core/utf8.h"

namespace attnscope {

namespace {

constexpr char32_t k_first_private = 0xE000;
constexpr char32_t k_last_private = 0xF8FF;

bool is_private(char32_t code) { return code >= k_first_private && code <= k_last_private; }

}  // namespace

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
