// A file that is embedded in the program.
#pragma once

#include <string_view>

namespace attnscope {

struct EmbeddedFile {
    std::string_view name;  ///< without folder; with its extension for shaders, without it for examples
    std::string_view text;
};

}  // namespace attnscope
