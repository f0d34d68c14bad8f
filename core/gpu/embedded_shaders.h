// Shaders that are built into the program.
#pragma once

#include <span>

#include "core/embedded_file.h"

namespace attnscope {

/// shaders/*, by name: `heatmap.frag`.
std::span<const EmbeddedFile> embedded_shaders();

}  // namespace attnscope
