#include "core/gpu/shaders.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "core/error.h"
#include "core/gpu/embedded_shaders.h"

namespace attnscope {

namespace {

namespace fs = std::filesystem;

std::optional<std::string> file_text(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// The path of the folder's own version of a shader; empty if it has none.
fs::path edited_file(const std::string& folder, std::string_view name) {
    if (folder.empty()) return {};
    std::error_code error;
    const fs::path path = fs::path(folder) / name;
    return fs::is_regular_file(path, error) ? path : fs::path();
}

}  // namespace

ShaderSource::ShaderSource(std::string folder) : folder_(std::move(folder)) {
    const auto is_there = [&](const EmbeddedFile& shader) {
        return !edited_file(folder_, shader.name).empty();
    };
    if (!folder_.empty() && std::ranges::none_of(embedded_shaders(), is_there))
        throw Error(ErrorKind::bad_input, "no shader found in " + folder_ +
                                              ": name a folder with files such as " +
                                              std::string(embedded_shaders().front().name));
}

std::string ShaderSource::text(std::string_view name) const {
    if (const fs::path file = edited_file(folder_, name); !file.empty())
        if (const std::optional<std::string> text = file_text(file)) return *text;
    return built_in_shader_text(name);
}

std::uint64_t ShaderSource::stamp(std::string_view name) const {
    const fs::path file = edited_file(folder_, name);
    std::error_code error;
    const auto saved = file.empty() ? fs::file_time_type() : fs::last_write_time(file, error);
    if (file.empty() || error) return 0;
    const auto size = static_cast<std::uint64_t>(fs::file_size(file, error));
    return (static_cast<std::uint64_t>(saved.time_since_epoch().count()) * 31 + size) | 1;
}

std::uint64_t ShaderSource::stamp() const {
    std::uint64_t all = 0;
    if (!folder_.empty())
        for (const EmbeddedFile& shader : embedded_shaders()) all = all * 1099511628211U + stamp(shader.name);
    return all;
}

std::string built_in_shader_text(std::string_view name) {
    for (const EmbeddedFile& file : embedded_shaders())
        if (file.name == name) return std::string(file.text);
    throw Error(ErrorKind::backend, "unknown shader " + std::string(name));
}

}  // namespace attnscope
