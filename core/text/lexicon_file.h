// The lexicon embedded in the program.
#pragma once

#include <span>

#include "core/embedded_file.h"

namespace attnscope {

/// assets/lexicon.txt alone.
std::span<const EmbeddedFile> embedded_lexicon();

}  // namespace attnscope
