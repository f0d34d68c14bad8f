// JSON of files that may come from anywhere: within limits, and refused in one line.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/limits.h"
#include "core/session/json_value.h"

namespace attnscope {

/// The number texts of a session, by path, because JSON keeps large numbers only as floating point.
using TypedNumbers = std::map<std::string, std::string>;

/// An object and the numbers in it that are not in a list, as typed.
struct ScannedJson {
    Json json;
    TypedNumbers typed;
};

/// The object of a session's file. Throws Error(bad_input) for text that is none, a repeated field, a
/// whole number that float32 cannot represent in a matrix, and beyond the limits of core/limits.h;
/// Error(too_large) for more than `most_elements` values.
ScannedJson json_from_text(std::string_view text, std::string_view source,
                           std::size_t most_elements = k_max_json_elements);

/// Throws Error(bad_input): "`source`: `where`: `what`".
[[noreturn]] void refuse_json(std::string_view source, const std::string& where, const std::string& what);
/// Throws Error(bad_input) unless it is an object; `where` is its path in the file, "" the file.
void require_object(const Json& json, std::string_view source, const std::string& where);
/// Throws Error(bad_input) for a number of a matrix, written as `whole`, that float32 rounds to `value`.
[[noreturn]] void refuse_rounded(std::string_view source, const std::string& where, const std::string& whole,
                                 float value);

}  // namespace attnscope
