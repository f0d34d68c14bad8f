// The examples embedded in the program.
#pragma once

#include <span>

#include "core/embedded_file.h"

namespace attnscope {

/// The files of assets/examples/, in the order in which `attnscope examples` lists them.
std::span<const EmbeddedFile> embedded_examples();

}  // namespace attnscope
