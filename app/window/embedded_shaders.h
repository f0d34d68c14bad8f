// Shaders that are built into the program.
#pragma once

#include <span>

#include "core/io/embedded.h"

namespace attnscope {

/// shaders/*, by name. Here a name has its extension: `heatmap.frag`.
std::span<const EmbeddedFile> embedded_shaders();

}  // namespace attnscope
