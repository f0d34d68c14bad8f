// The examples, which are built into the program.
#pragma once

#include <span>

#include "core/embedded_file.h"

namespace attnscope {

/// assets/examples/*.json, in the order `attnscope examples` lists them.
std::span<const EmbeddedFile> embedded_examples();

}  // namespace attnscope
