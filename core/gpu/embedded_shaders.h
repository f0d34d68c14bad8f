// The shaders embedded in the program.
#pragma once

#include <span>

#include "core/embedded_file.h"

namespace attnscope {

/// The files of shaders/, by name: `heatmap.frag`.
std::span<const EmbeddedFile> embedded_shaders();

}  // namespace attnscope
