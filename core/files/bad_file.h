// What the readers of files share: how they refuse one, and numbers of four bytes.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.h"

namespace attnscope {

/// Throws Error(bad_input) whose text is `source`, the file's name, followed by a predicate: "is cut off".
[[noreturn]] inline void throw_bad(std::string_view source, const std::string& what) {
    throw Error(ErrorKind::bad_input, std::string(source) + " " + what);
}

/// Throws Error(bad_input) whose text is `source`, a colon and what is wrong.
[[noreturn]] inline void refuse(std::string_view source, const std::string& what) {
    throw Error(ErrorKind::bad_input, std::string(source) + ": " + what);
}

// What is wrong with pictures that carry a session.

[[noreturn]] inline void throw_cut_off(std::string_view source) {
    throw_bad(source, "is cut off: copy it again, or export the picture again");
}
[[noreturn]] inline void throw_no_session(std::string_view source) {
    throw_bad(source, "is a picture without an attnscope session: open one that attnscope exported");
}
/// Throws Error(too_large).
[[noreturn]] inline void throw_large_session(std::string_view source, std::size_t most) {
    throw Error(ErrorKind::too_large,
                fmt::format("{} holds a session of more than {} bytes: open the session's own file (.json)",
                            source, most));
}

/// A part of the file in quotation marks, as messages quote it: at most `most` characters, none that controls
/// a terminal.
inline std::string in_quotes(std::string_view text, std::size_t most = k_longest_quotation) {
    return "\"" + message_text(text, most) + "\"";
}

/// The number in the first four bytes, the highest byte first.
inline std::uint32_t big_endian(std::string_view bytes) {
    std::uint32_t value = 0;
    for (const char c : bytes.substr(0, 4)) value = value << 8 | static_cast<std::uint8_t>(c);
    return value;
}

}  // namespace attnscope
