// The one exception that attnscope throws; caught once per user action.
#pragma once

#include <stdexcept>
#include <string>

namespace attnscope {

enum class ErrorKind {
    bad_input,  ///< what the person gave cannot be used
    too_large,  ///< it could, but not on this machine
    io,         ///< a file could not be read or written, or holds what cannot be used
    backend,    ///< OpenGL, a font, a device is missing or failed
};

/// An error that a person can act on. The message is one line: what is wrong, where, and what to do.
class Error : public std::runtime_error {
public:
    Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
    ErrorKind kind() const { return kind_; }

private:
    ErrorKind kind_;
};

}  // namespace attnscope
