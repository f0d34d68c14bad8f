// The type of JSON values, in the order in which their fields were written.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace attnscope {

using Json = nlohmann::ordered_json;

/// A value as quoted in an error message: one line of about 60 characters at most, a list or an object only
/// by its kind.
std::string quoted_value(const Json& value);

}  // namespace attnscope
