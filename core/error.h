// The one exception that attnscope throws, caught once per user action, and the escaping of outside text in
// messages.
#pragma once

#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

namespace attnscope {

enum class ErrorKind {
    bad_input,  ///< the user's input cannot be used
    too_large,  ///< the input is valid, but too large for this machine or a limit
    io,         ///< a file could not be read or written, or its content cannot be used
    backend,    ///< OpenGL, a font or a device is missing or failed
};

/// Text from outside (a value, a name, a path) as shown in a message, always one line of valid UTF-8: line
/// breaks and tabs become spaces; other control characters (C0, C1) and bidirectional controls are escaped
/// ("\u202e"); a byte that is not UTF-8 becomes U+FFFD. If it is longer than `most` bytes the middle is left
/// out ("…"), because the start says what is wrong and the end says what to do.
std::string message_text(std::string_view text, std::size_t most);

/// Limit of a whole message, in bytes: several lines of a window.
inline constexpr std::size_t k_longest_message = 1000;
/// Limit of a quoted value, in bytes.
inline constexpr std::size_t k_longest_quotation = 60;

/// What to tell the user about any exception: its message, or what to do if memory does not suffice for
/// `purpose` ("to compare"; empty: for anything).
std::string problem_text(const std::exception& exception, std::string_view purpose = "");

/// An error that the user can act on. The message is one line: what is wrong, where, and what to do, as
/// escaped by message_text().
class Error : public std::runtime_error {
public:
    Error(ErrorKind kind, const std::string& message) : Error(kind, "", message) {}
    ErrorKind kind() const { return kind_; }
    /// The flag or control that the error refers to; empty: none.
    const std::string& where() const { return where_; }
    /// This error attributed to `where`, as "WHERE: MESSAGE", instead of its previous place.
    Error at(const std::string& where) const { return {kind_, where, message_}; }
    /// This error found within `source`, a file or a field of one: "SOURCE: WHERE: MESSAGE".
    Error in(const std::string& source) const {
        return {kind_, where_.empty() ? source : source + ": " + where_, message_};
    }
    /// This error with another kind.
    Error as(ErrorKind kind) const { return {kind, where_, message_}; }

private:
    Error(ErrorKind kind, const std::string& where, const std::string& message)
        : std::runtime_error(
              message_text(where.empty() ? message : where + ": " + message, k_longest_message)),
          kind_(kind),
          where_(where),
          message_(message) {}

    ErrorKind kind_;
    std::string where_;
    std::string message_;  ///< without `where`
};

/// Whether `act` returns; false if it throws an Error.
template <typename Act>
bool succeeds(const Act& act) {
    try {
        act();
        return true;
    } catch (const Error&) {
        return false;
    }
}

}  // namespace attnscope
