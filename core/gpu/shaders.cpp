#include "core/gpu/shaders.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "core/error.h"
#include "core/gpu/embedded_shaders.h"

namespace attnscope {

namespace {

std::optional<std::string> file_text(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::optional<std::string> built_in_text(std::string_view name) {
    for (const EmbeddedFile& file : embedded_shaders()) {
        if (file.name == name) return std::string(file.text);
    }
    return std::nullopt;
}

}  // namespace

std::string shader_text(std::string_view name) {
    const char* folder = std::getenv("ATTNSCOPE_SHADERS");
    const auto text = folder ? file_text(std::filesystem::path(folder) / name) : built_in_text(name);
    if (!text) {
        throw Error(ErrorKind::backend, "the shader " + std::string(name) + " is missing" +
                                            (folder ? " in the folder that ATTNSCOPE_SHADERS names" : ""));
    }
    return *text;
}

}  // namespace attnscope
