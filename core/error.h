// The one exception that attnscope throws, caught once per user action; and how text from outside stands in a
// message.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace attnscope {

enum class ErrorKind {
    bad_input,  ///< what the person gave cannot be used
    too_large,  ///< it could, but not on this machine
    io,         ///< a file could not be read or written, or holds what cannot be used
    backend,    ///< OpenGL, a font, a device is missing or failed
};

/// Text from outside (a value, a name, a path) as a message shows it, always one line of valid UTF-8: line
/// breaks and tabs are blanks; other control characters (C0, C1) and those that turn the direction of
/// writing are escaped ("\u202e"); a byte that is not UTF-8 is U+FFFD. Of more than `most` bytes the middle
/// is left out ("…"), for what is wrong stands at the beginning and what to do about it at the end.
std::string message_text(std::string_view text, std::size_t most);

/// Bytes of a whole message: several lines of a window.
inline constexpr std::size_t k_longest_message = 1000;
/// Bytes of a value that a message quotes.
inline constexpr std::size_t k_longest_quotation = 60;

/// An error that a person can act on. The message is one line: what is wrong, where, and what to do. It is
/// kept as message_text() makes it.
class Error : public std::runtime_error {
public:
    Error(ErrorKind kind, const std::string& message) : Error(kind, "", message) {}
    ErrorKind kind() const { return kind_; }
    /// The flag or the control that it is told of; empty: none.
    const std::string& where() const { return where_; }
    /// The same error told of `where`, "WHERE: MESSAGE", in place of what it was told of before.
    Error at(const std::string& where) const { return {kind_, where, message_}; }

private:
    Error(ErrorKind kind, const std::string& where, const std::string& message)
        : std::runtime_error(
              message_text(where.empty() ? message : where + ": " + message, k_longest_message)),
          kind_(kind),
          where_(where),
          message_(message) {}

    ErrorKind kind_;
    std::string where_;
    std::string message_;  ///< without it
};

}  // namespace attnscope
