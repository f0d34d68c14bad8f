// Files that are built into the program.
#pragma once

#include <span>
#include <string_view>

namespace attnscope {

struct EmbeddedFile {
    std::string_view name;  ///< without folder and extension
    std::string_view text;
};

/// assets/examples/*.json, in the order `attnscope examples` lists them.
std::span<const EmbeddedFile> embedded_examples();

}  // namespace attnscope
