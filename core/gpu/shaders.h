// The texts of the files in shaders/.
#pragma once

#include <string>
#include <string_view>

namespace attnscope {

/// The text of shaders/`name` ("heatmap.frag"): from the folder that the environment variable
/// ATTNSCOPE_SHADERS names, if it is set, for editing without building; else the copy inside the program.
/// Throws Error(backend) if there is none.
std::string shader_text(std::string_view name);

}  // namespace attnscope
