// The compute shaders, compiled when they are first needed.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/gpu/gl.h"

namespace attnscope {

/// One shader with its defines. On the device's thread only.
class GpuProgram {
public:
    /// Throws Error(backend) with the file's name and the compiler's log.
    GpuProgram(std::string_view file, std::string_view text, std::span<const std::string> defines);

    void use() const { shader_.use(); }
    /// Of the program in use. A name that the compiler dropped is ignored.
    void set(const char* name, std::uint32_t value);
    void set(const char* name, float value);
    void set(const char* name, double value);

    /// Work that it does in a second, in units of its own, as measured so far; a guess before.
    double rate = 4e8;

private:
    GLint at(const char* name);

    gl::Shader shader_;
    std::map<std::string, GLint, std::less<>> uniforms_;
};

/// By file and defines. On the device's thread only, but for problem().
class GpuPrograms {
public:
    /// A shader that was saved since is compiled again. If it does not compile the last good one stays, or is
    /// compiled with these defines: what compiled last of that file, else the built-in one. Throws
    /// Error(backend) if that does not compile either.
    GpuProgram& get(std::string_view file, const std::vector<std::string>& defines);
    /// Why a saved shader is not in use: file, line and what the compiler says; empty if all are.
    std::string problem() const;

private:
    struct Entry {
        std::unique_ptr<GpuProgram> program;
        std::uint64_t stamp = 0;
    };
    std::unique_ptr<GpuProgram> last_good(std::string_view file, const std::vector<std::string>& defines,
                                          const Error& error) const;

    std::map<std::string, Entry> programs_;
    std::map<std::string, std::string, std::less<>> good_texts_;  ///< by file
    std::vector<std::unique_ptr<GpuProgram>> replaced_;           ///< who asked for one may still use it
    mutable std::mutex mutex_;
    struct Problem {
        std::string file, text;
        std::uint64_t stamp;
    };
    std::map<std::string, Problem> problems_;  ///< likewise; of the files as they are now
};

}  // namespace attnscope
