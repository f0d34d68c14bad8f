#include "core/gpu/programs.h"

#include <utility>

#include "core/error.h"

namespace attnscope {

GpuProgram::GpuProgram(std::string_view file, std::string_view text, std::span<const std::string> defines)
    : shader_({file, text}, defines) {}

GLint GpuProgram::at(const char* name) {
    const auto found = uniforms_.find(name);
    if (found != uniforms_.end()) return found->second;
    return uniforms_[name] = shader_.uniform(name);
}

void GpuProgram::set(const char* name, std::uint32_t value) { glUniform1ui(at(name), value); }
void GpuProgram::set(const char* name, float value) { glUniform1f(at(name), value); }
void GpuProgram::set(const char* name, double value) { glUniform1d(at(name), value); }

GpuProgram& GpuPrograms::get(std::string_view file, const std::vector<std::string>& defines) {
    std::string key(file);
    for (const std::string& define : defines) key += '\n' + define;
    Entry& entry = programs_[key];
    const std::uint64_t stamp = shaders_.stamp(file);
    if (entry.program && entry.stamp == stamp) return *entry.program;
    std::string problem;
    try {
        const std::string text = shaders_.text(file);
        auto program = std::make_unique<GpuProgram>(file, text, defines);
        good_texts_.insert_or_assign(std::string(file), text);
        replaced_.push_back(std::exchange(entry.program, std::move(program)));
    } catch (const Error& error) {
        if (!entry.program) entry.program = last_good(file, defines, error);
        problem = error.what();
    }
    entry.stamp = stamp;
    const std::lock_guard lock(mutex_);
    std::erase_if(problems_, [&](const auto& each) {
        return each.second.file == file && (each.second.stamp != stamp || each.first == key);
    });
    if (!problem.empty()) problems_.insert_or_assign(key, Problem{std::string(file), problem, stamp});
    return *entry.program;
}

std::unique_ptr<GpuProgram> GpuPrograms::last_good(std::string_view file,
                                                   const std::vector<std::string>& defines,
                                                   const Error& error) const {
    if (shaders_.stamp(file) == 0) throw error;  // the built-in one does not compile
    const auto good = good_texts_.find(file);
    const std::string text = good != good_texts_.end() ? good->second : built_in_shader_text(file);
    return std::make_unique<GpuProgram>(file, text, defines);
}

std::string GpuPrograms::problem() const {
    const std::lock_guard lock(mutex_);
    return problems_.empty() ? "" : problems_.begin()->second.text;
}

}  // namespace attnscope
