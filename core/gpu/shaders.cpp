#include "core/gpu/shaders.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <sstream>

#include "core/error.h"
#include "core/gpu/embedded_shaders.h"

namespace attnscope {

namespace {

namespace fs = std::filesystem;

std::mutex the_mutex;
std::string& the_folder() {
    static std::string folder = [] {
        const char* named = std::getenv("ATTNSCOPE_SHADERS");
        return std::string(named ? named : "");
    }();
    return folder;
}

std::optional<std::string> file_text(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// The path of the folder's own version of a shader; empty if it has none.
fs::path edited_file(std::string_view name) {
    const std::string folder = shader_folder();
    if (folder.empty()) return {};
    std::error_code error;
    const fs::path path = fs::path(folder) / name;
    return fs::is_regular_file(path, error) ? path : fs::path();
}

}  // namespace

void use_shader_folder(const std::string& folder) {
    const auto is_there = [&](const EmbeddedFile& shader) {
        std::error_code error;
        return fs::is_regular_file(fs::path(folder) / shader.name, error);
    };
    if (!folder.empty() && std::ranges::none_of(embedded_shaders(), is_there))
        throw Error(ErrorKind::bad_input, "no shader found in " + folder +
                                              ": name a folder with files such as " +
                                              std::string(embedded_shaders().front().name));
    const std::lock_guard lock(the_mutex);
    the_folder() = folder;
}

std::string shader_folder() {
    const std::lock_guard lock(the_mutex);
    return the_folder();
}

std::string shader_text(std::string_view name) {
    if (const fs::path file = edited_file(name); !file.empty())
        if (const std::optional<std::string> text = file_text(file)) return *text;
    return built_in_shader_text(name);
}

std::string built_in_shader_text(std::string_view name) {
    for (const EmbeddedFile& file : embedded_shaders())
        if (file.name == name) return std::string(file.text);
    throw Error(ErrorKind::backend, "unknown shader " + std::string(name));
}

std::uint64_t shader_stamp(std::string_view name) {
    const fs::path file = edited_file(name);
    std::error_code error;
    const auto saved = file.empty() ? fs::file_time_type() : fs::last_write_time(file, error);
    if (file.empty() || error) return 0;
    const auto size = static_cast<std::uint64_t>(fs::file_size(file, error));
    return (static_cast<std::uint64_t>(saved.time_since_epoch().count()) * 31 + size) | 1;
}

std::uint64_t shaders_stamp() {
    std::uint64_t all = 0;
    if (!shader_folder().empty())
        for (const EmbeddedFile& shader : embedded_shaders())
            all = all * 1099511628211U + shader_stamp(shader.name);
    return all;
}

}  // namespace attnscope
