// The compute shaders, compiled on first use.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/gpu/gl.h"
#include "core/gpu/shaders.h"

namespace attnscope {

/// A shader compiled with its defines. For the device's thread only.
class GpuProgram {
public:
    /// Throws Error(backend) with the file's name and the compiler's log.
    GpuProgram(std::string_view file, std::string_view text, std::span<const std::string> defines);

    void use() const { shader_.use(); }
    /// Sets a uniform of the program in use. A name that the compiler removed is ignored.
    void set(const char* name, std::uint32_t value);
    void set(const char* name, float value);
    void set(const char* name, double value);

    /// Measured speed, in work units per second; a guess before the first measurement.
    double rate = 4e8;

private:
    GLint at(const char* name);

    gl::Shader shader_;
    std::map<std::string, GLint, std::less<>> uniforms_;
};

/// The programs, by file and defines. For the device's thread only, except problem().
class GpuPrograms {
public:
    explicit GpuPrograms(ShaderSource shaders) : shaders_(std::move(shaders)) {}

    /// A shader that has been edited since is compiled again. If that fails, the last good program stays in
    /// use, or is compiled with these defines from the last good text of that file, else from the built-in
    /// one. Throws Error(backend) if that does not compile either.
    GpuProgram& get(std::string_view file, const std::vector<std::string>& defines);
    /// Why an edited shader is not in use: file, line and the compiler's message; empty if all are in use.
    std::string problem() const;

private:
    struct Entry {
        std::unique_ptr<GpuProgram> program;
        std::uint64_t stamp = 0;
    };
    std::unique_ptr<GpuProgram> last_good(std::string_view file, const std::vector<std::string>& defines,
                                          const Error& error) const;

    ShaderSource shaders_;
    std::map<std::string, Entry> programs_;
    std::map<std::string, std::string, std::less<>> good_texts_;  ///< by file
    std::vector<std::unique_ptr<GpuProgram>> replaced_;           ///< whoever requested one may still use it
    mutable std::mutex mutex_;
    struct Problem {
        std::string file, text;
        std::uint64_t stamp;
    };
    std::map<std::string, Problem> problems_;  ///< by file, of the files as they are now
};

}  // namespace attnscope
