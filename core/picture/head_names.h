// The names that a person gave to heads.
#pragma once

#include <string>

#include "core/picture/presentation.h"

namespace attnscope {

/// The name of a head, counted from 0, in Presentation::head_names; its first 60 bytes; "" if it has none.
/// `layer` is from 1, or 0 outside a stack.
std::string head_name(const Presentation& presentation, int heads, int layer, int head);

/// The number of a head with its name: "head 2", "head 2: adjective → noun".
std::string head_title(const Presentation& presentation, int heads, int layer, int head);

}  // namespace attnscope
