#include "core/gpu/programs.h"

#include "core/gpu/shaders.h"

namespace attnscope {

GpuProgram::GpuProgram(std::string_view file, std::span<const std::string> defines)
    : shader_({file, shader_text(file)}, defines) {}

GLint GpuProgram::at(const char* name) {
    const auto found = uniforms_.find(name);
    if (found != uniforms_.end()) return found->second;
    return uniforms_[name] = shader_.uniform(name);
}

void GpuProgram::set(const char* name, std::uint32_t value) { glUniform1ui(at(name), value); }
void GpuProgram::set(const char* name, float value) { glUniform1f(at(name), value); }

GpuProgram& GpuPrograms::get(std::string_view file, const std::vector<std::string>& defines) {
    std::string key(file);
    for (const std::string& define : defines) key += '\n' + define;
    const auto found = programs_.find(key);
    if (found != programs_.end()) return found->second;
    return programs_.try_emplace(key, file, defines).first->second;
}

}  // namespace attnscope
