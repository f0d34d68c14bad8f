// The compute shaders, compiled when they are first needed.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/gpu/gl.h"

namespace attnscope {

/// One shader with its defines. On the device's thread only.
class GpuProgram {
public:
    /// Throws Error(backend) with the file's name and the compiler's log.
    GpuProgram(std::string_view file, std::span<const std::string> defines);

    void use() const { shader_.use(); }
    /// Of the program in use. A name that the compiler dropped is ignored.
    void set(const char* name, std::uint32_t value);
    void set(const char* name, float value);

    /// Work that it does in a second, in units of its own, as measured so far; a guess before.
    double rate = 4e8;

private:
    GLint at(const char* name);

    gl::Shader shader_;
    std::map<std::string, GLint, std::less<>> uniforms_;
};

/// By file and defines. On the device's thread only.
class GpuPrograms {
public:
    GpuProgram& get(std::string_view file, const std::vector<std::string>& defines);

private:
    std::map<std::string, GpuProgram> programs_;
};

}  // namespace attnscope
