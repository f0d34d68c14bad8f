// The sources of the shaders: built in, or read from a folder in which they are edited.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace attnscope {

/// Sets the folder whose shaders replace the built-in ones of the same name; empty: built-in ones only.
/// Initially the environment variable ATTNSCOPE_SHADERS names it. Any thread. Throws Error(bad_input) for a
/// folder that contains none of attnscope's shaders.
void use_shader_folder(const std::string& folder);
/// The current folder; empty if there is none.
std::string shader_folder();

/// The text of shaders/<name>. Throws Error(backend) if there is none.
std::string shader_text(std::string_view name);
/// The built-in text, even if the folder has its own.
std::string built_in_shader_text(std::string_view name);

/// Changes when the shader is saved in the folder; 0 for a built-in one.
std::uint64_t shader_stamp(std::string_view name);
/// Changes when any shader in the folder is saved.
std::uint64_t shaders_stamp();

}  // namespace attnscope
