// What the table of options shares with its text conversions. Defined in option_text.cpp.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/session/options.h"

namespace attnscope::option_parts {

/// Throws Error(bad_input).
[[noreturn]] void refuse(const std::string& message);
/// The text of a JSON string. Throws Error(bad_input) for anything else, and for text that is not UTF-8.
std::string as_text(const OptionValue& value);
Json seed_json(const Seed& seed);
/// Parses the whole of `text` as a number in the C locale.
std::optional<double> parse_double(std::string_view text);
/// The end of the message for an unknown name: the nearest known name, or all of them.
std::string instead_of(std::string_view name, std::span<const std::string> known);

}  // namespace attnscope::option_parts
