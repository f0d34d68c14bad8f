#include "core/error.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <new>

#include "core/utf8.h"

namespace attnscope {
namespace {

/// Marks, embeddings, overrides and isolates of the bidirectional algorithm (UAX #9).
bool turns_direction(utf8proc_int32_t c) {
    return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
           (c >= 0x2066 && c <= 0x2069);
}

bool breaks_line(utf8proc_int32_t c) { return c == 0x2028 || c == 0x2029; }

std::string escaped(utf8proc_int32_t c) {
    return fmt::format("\\u{:04x}", static_cast<unsigned>(c) & 0xFFFFU);
}

std::string one_line(std::string_view text) {
    std::string line;
    while (!text.empty()) {
        const DecodedCharacter next = decode_utf8(text);
        const auto c = static_cast<utf8proc_int32_t>(next.code);
        const std::size_t taken = next.bytes ? next.bytes : 1;
        if (next.bytes == 0)
            line += "\uFFFD";
        else if (c == '\n' || c == '\r' || c == '\t')
            line += ' ';
        else if (utf8proc_category(c) == UTF8PROC_CATEGORY_CC || turns_direction(c) || breaks_line(c))
            line += escaped(c);
        else
            line += text.substr(0, taken);
        text.remove_prefix(taken);
    }
    return line;
}

}  // namespace

std::string message_text(std::string_view text, std::size_t most) {
    std::string line = one_line(text);
    if (line.size() <= most) return line;
    const std::size_t head = code_point_begin(line, most - most / 4);
    std::size_t tail = code_point_begin(line, line.size() - most / 4);
    if (tail < line.size() - most / 4) tail += decode_utf8(std::string_view(line).substr(tail)).bytes;
    return line.replace(head, tail - head, "…");
}

std::string problem_text(const std::exception& exception, std::string_view purpose) {
    // A standard container throws length_error for what no memory holds.
    if (dynamic_cast<const std::bad_alloc*>(&exception) || dynamic_cast<const std::length_error*>(&exception))
        return fmt::format(
            "not enough memory{}{}: shorten the sentence, use fewer heads or close other programs",
            purpose.empty() ? "" : " ", purpose);
    return exception.what();
}

}  // namespace attnscope
