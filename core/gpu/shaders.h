// The sources of the shaders: built in, or read from a folder in which they are edited.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace attnscope {

/// Where shaders come from: a plain value. The files themselves may be saved at any time.
class ShaderSource {
public:
    /// The built-in ones.
    ShaderSource() = default;
    /// The shaders of a folder, which replace the built-in ones of the same name; empty: built-in ones only.
    /// Throws Error(bad_input) for a folder that contains none of attnscope's shaders.
    explicit ShaderSource(std::string folder);

    /// Empty if there is none.
    const std::string& folder() const { return folder_; }
    /// The text of shaders/<name>. Throws Error(backend) if there is none.
    std::string text(std::string_view name) const;
    /// Changes when the shader is saved in the folder; 0 for a built-in one.
    std::uint64_t stamp(std::string_view name) const;
    /// Changes when any shader is saved in the folder; 0 without one.
    std::uint64_t stamp() const;

private:
    std::string folder_;
};

/// The built-in text, even if a folder has its own. Throws Error(backend) if there is none.
std::string built_in_shader_text(std::string_view name);

}  // namespace attnscope
