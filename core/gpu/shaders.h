// The shaders' sources: built in, or read from a folder in which a person edits them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace attnscope {

/// From now on a shader is read from this folder if it has one of that name; empty: the built-in ones alone.
/// At the start it is the folder that the environment variable ATTNSCOPE_SHADERS names. Any thread. Throws
/// Error(bad_input) for a folder without any shader that attnscope has.
void use_shader_folder(const std::string& folder);
/// Empty if there is none.
std::string shader_folder();

/// The text of shaders/<name>. Throws Error(backend) if there is none.
std::string shader_text(std::string_view name);
/// The same, built in, whatever the folder has.
std::string built_in_shader_text(std::string_view name);

/// Changes when the shader is saved in the folder; 0 for a built-in one.
std::uint64_t shader_stamp(std::string_view name);
/// Changes when any of them is.
std::uint64_t shaders_stamp();

}  // namespace attnscope
