// What the table of options and their text share. Defined in option_text.cpp.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/io/options.h"

namespace attnscope::option_parts {

/// Throws Error(bad_input).
[[noreturn]] void refuse(const std::string& message);
/// Refuses what is no text, and no UTF-8.
std::string as_text(const Json& value);
Json seed_json(const Seed& seed);
/// The whole of `text` as a number in the C locale.
std::optional<double> parse_double(std::string_view text);
/// How the refusal of a name that is not known ends.
std::string instead_of(std::string_view name, std::span<const std::string> known);

}  // namespace attnscope::option_parts
