#include "core/gpu/gl.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <regex>
#include <sstream>

#include "core/error.h"

namespace attnscope::gl {

namespace {

/// The text with the defines after its #version line, which must come first in GLSL.
std::string with_defines(std::string_view text, std::span<const std::string> defines) {
    std::string out;
    if (text.starts_with("#version")) {
        const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
        out = text.substr(0, end);
        text.remove_prefix(end);
    }
    for (const std::string& define : defines) out += "#define " + define + "\n";
    out += "#line 2\n";
    return out.append(text);
}

template <class Get>
std::string log_of(GLuint id, GLint length, Get get) {
    std::string log(static_cast<std::size_t>(std::max(length, 1)), '\0');
    get(id, length, nullptr, log.data());
    while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
    return log;
}

Name<free_shader> compile(GLenum kind, const Shader::Source& source, std::span<const std::string> defines) {
    Name<free_shader> shader(glCreateShader(kind));
    const std::string text = with_defines(source.text, defines);
    const char* data = text.data();
    const auto size = static_cast<GLint>(text.size());
    glShaderSource(shader.id(), 1, &data, &size);
    glCompileShader(shader.id());
    GLint done = 0;
    GLint length = 0;
    glGetShaderiv(shader.id(), GL_COMPILE_STATUS, &done);
    glGetShaderiv(shader.id(), GL_INFO_LOG_LENGTH, &length);
    if (!done) {
        throw Error(ErrorKind::backend,
                    "a shader does not compile: " +
                        located_log(source.name, log_of(shader.id(), length, glGetShaderInfoLog)));
    }
    return shader;
}

void GLAPIENTRY on_message(GLenum source, GLenum type, GLuint, GLenum, GLsizei length, const GLchar* text,
                           const void* user) {
    // Compiler output is queried and thrown instead.
    if (source == GL_DEBUG_SOURCE_SHADER_COMPILER) return;
    if (type != GL_DEBUG_TYPE_ERROR && type != GL_DEBUG_TYPE_UNDEFINED_BEHAVIOR) return;
    // epoxy's C interface returns a pointer that is not const.
    auto* errors = static_cast<std::vector<std::string>*>(const_cast<void*>(user));
    errors->emplace_back(text, static_cast<std::size_t>(std::max(length, 0)));
}

bool has_debug_output() { return epoxy_gl_version() >= 43 || epoxy_has_gl_extension("GL_KHR_debug"); }

}  // namespace

std::string located_log(std::string_view file, std::string_view log) {
    // "0:12(3): error: …", "0(12) : error C1008: …", "ERROR: 0:12: …"
    static const std::regex place(R"((ERROR: )?\d+[:(](\d+)(?:\(\d+\))?\)?\s*:\s*(.*))");
    std::istringstream lines{std::string(log)};
    std::smatch match;
    for (std::string line; std::getline(lines, line);) {
        const bool is_error = line.find("error") != line.npos || line.find("ERROR") != line.npos;
        if (is_error && std::regex_match(line, match, place))
            return std::string(file) + ":" + match[2].str() + ": " + match[3].str();
    }
    std::string line(log);
    std::replace(line.begin(), line.end(), '\n', '|');
    return line;
}

void free_buffer(GLuint id) { glDeleteBuffers(1, &id); }
void free_program(GLuint id) { glDeleteProgram(id); }
void free_shader(GLuint id) { glDeleteShader(id); }
void free_texture(GLuint id) { glDeleteTextures(1, &id); }
void free_vertex_array(GLuint id) { glDeleteVertexArrays(1, &id); }
void free_framebuffer(GLuint id) { glDeleteFramebuffers(1, &id); }

Shader::Shader(Source vertex, Source fragment, std::span<const std::string> defines)
    : program_(glCreateProgram()) {
    const std::array shaders = {compile(GL_VERTEX_SHADER, vertex, defines),
                                compile(GL_FRAGMENT_SHADER, fragment, defines)};
    link(shaders, "shaders " + std::string(vertex.name) + " and " + std::string(fragment.name) + " do");
}

Shader::Shader(Source compute, std::span<const std::string> defines) : program_(glCreateProgram()) {
    const std::array shaders = {compile(GL_COMPUTE_SHADER, compute, defines)};
    link(shaders, "shader " + std::string(compute.name) + " does");
}

void Shader::link(std::span<const Name<free_shader>> shaders, const std::string& names) {
    for (const auto& shader : shaders) glAttachShader(program_.id(), shader.id());
    glLinkProgram(program_.id());
    for (const auto& shader : shaders) glDetachShader(program_.id(), shader.id());
    GLint done = 0;
    GLint length = 0;
    glGetProgramiv(program_.id(), GL_LINK_STATUS, &done);
    glGetProgramiv(program_.id(), GL_INFO_LOG_LENGTH, &length);
    if (!done)
        throw Error(
            ErrorKind::backend,
            names + " not link: " + located_log("", log_of(program_.id(), length, glGetProgramInfoLog)));
}

void Shader::use() const { glUseProgram(program_.id()); }
GLint Shader::uniform(const char* name) const { return glGetUniformLocation(program_.id(), name); }

Storage::Storage(std::size_t floats) : size_(floats) {
    GLuint id = 0;
    glGenBuffers(1, &id);
    buffer_ = Name<free_buffer>(id);
    glBindBuffer(GL_SHADER_STORAGE_BUFFER, id);
    if (const std::string error = take_error(); !error.empty())
        throw Error(ErrorKind::backend, "the graphics driver reports the error " + error);
    glBufferData(GL_SHADER_STORAGE_BUFFER,
                 static_cast<GLsizeiptr>(std::max<std::size_t>(floats, 1) * sizeof(float)), nullptr,
                 GL_DYNAMIC_COPY);
    if (!take_error().empty())
        throw Error(ErrorKind::too_large,
                    fmt::format("the GPU does not have {} MiB free: use a smaller experiment or backend cpu",
                                floats * sizeof(float) >> 20));
}

void Storage::write(std::size_t first, std::span<const float> numbers) {
    assert(first + numbers.size() <= size_);
    glBindBuffer(GL_SHADER_STORAGE_BUFFER, buffer_.id());
    glBufferSubData(GL_SHADER_STORAGE_BUFFER, static_cast<GLintptr>(first * sizeof(float)),
                    static_cast<GLsizeiptr>(numbers.size_bytes()), numbers.data());
}

void Storage::read(std::size_t first, std::span<float> numbers) const {
    assert(first + numbers.size() <= size_);
    glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
    glBindBuffer(GL_SHADER_STORAGE_BUFFER, buffer_.id());
    glGetBufferSubData(GL_SHADER_STORAGE_BUFFER, static_cast<GLintptr>(first * sizeof(float)),
                       static_cast<GLsizeiptr>(numbers.size_bytes()), numbers.data());
}

Fence::Fence() : sync_(glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0)) {}
Fence::~Fence() { glDeleteSync(sync_); }

std::string take_error() {
    std::string first;
    constexpr int k_most = 16;  // a lost context may report errors forever
    for (int i = 0; i < k_most; ++i) {
        const GLenum error = glGetError();
        if (error == GL_NO_ERROR) break;
        if (first.empty()) first = fmt::format("{:#06x}", error);
    }
    return first;
}

bool was_reset() { return epoxy_gl_version() >= 45 && glGetGraphicsResetStatus() != GL_NO_ERROR; }

bool Fence::wait(double seconds) const {
    const GLenum state =
        glClientWaitSync(sync_, GL_SYNC_FLUSH_COMMANDS_BIT, static_cast<GLuint64>(seconds * 1e9));
    if (state == GL_WAIT_FAILED)
        throw Error(ErrorKind::backend, "the GPU is lost: use backend cpu, or start again");
    return state != GL_TIMEOUT_EXPIRED;
}

Texture2D::Texture2D(Format format, int width, int height) : format_(format), width_(width), height_(height) {
    GLuint id = 0;
    glGenTextures(1, &id);
    texture_ = Name<free_texture>(id);
    bind(0);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    if (format == Format::r32f) {
        glTexImage2D(GL_TEXTURE_2D, 0, GL_R32F, width, height, 0, GL_RED, GL_FLOAT, nullptr);
    } else {
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
    }
}

std::size_t Texture2D::bytes() const {
    constexpr std::size_t k_texel = 4;  // bytes, in either format
    return k_texel * static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_);
}

void Texture2D::upload(std::span<const float> numbers) {
    assert(format_ == Format::r32f && numbers.size_bytes() == bytes());
    upload_as(GL_RED, GL_FLOAT, numbers.data());
}

void Texture2D::upload(std::span<const std::uint8_t> rgba) {
    assert(format_ == Format::rgba8 && rgba.size_bytes() == bytes());
    upload_as(GL_RGBA, GL_UNSIGNED_BYTE, rgba.data());
}

void Texture2D::smooth() {
    bind(0);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 16);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glGenerateMipmap(GL_TEXTURE_2D);
}

void Texture2D::upload_as(GLenum layout, GLenum type, const void* data) {
    bind(0);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, width_, height_, layout, type, data);
}

void Texture2D::bind(int unit) const {
    glActiveTexture(GL_TEXTURE0 + static_cast<GLenum>(unit));
    glBindTexture(GL_TEXTURE_2D, texture_.id());
}

VertexArray::VertexArray() {
    GLuint id = 0;
    glGenVertexArrays(1, &id);
    array_ = Name<free_vertex_array>(id);
}

void VertexArray::bind() const { glBindVertexArray(array_.id()); }

std::uint32_t Pixels::at(int x, int y) const {
    const std::size_t first =
        4 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x));
    std::uint32_t color = 0;
    for (std::size_t i = 0; i < 4; ++i) color = (color << 8) | rgba.at(first + i);
    return color;
}

Framebuffer::Framebuffer(int width, int height) : color_(Texture2D::Format::rgba8, width, height) {
    GLuint id = 0;
    glGenFramebuffers(1, &id);
    framebuffer_ = Name<free_framebuffer>(id);
    bind();
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, color_.id(), 0);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) {
        throw Error(ErrorKind::backend,
                    fmt::format("OpenGL cannot draw a picture of {} × {} pixels: choose a smaller one", width,
                                height));
    }
}

void Framebuffer::bind() const { glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_.id()); }

Pixels Framebuffer::read() const {
    bind();
    return read_pixels(color_.width(), color_.height());
}

Pixels read_pixels(int width, int height) {
    Pixels pixels{.width = width, .height = height, .rgba = {}};
    const std::size_t row = std::size_t{4} * static_cast<std::size_t>(width);
    pixels.rgba.resize(row * static_cast<std::size_t>(height));
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, pixels.rgba.data());
    for (int y = 0; y < height / 2; ++y) {
        std::uint8_t* upper = pixels.rgba.data() + static_cast<std::size_t>(y) * row;
        std::swap_ranges(upper, upper + row,
                         pixels.rgba.data() + static_cast<std::size_t>(height - 1 - y) * row);
    }
    return pixels;
}

DebugLog::DebugLog() {
    if (!has_debug_output()) return;
    glEnable(GL_DEBUG_OUTPUT);
    glEnable(GL_DEBUG_OUTPUT_SYNCHRONOUS);
    glDebugMessageCallback(on_message, &errors_);
}

DebugLog::~DebugLog() {
    if (has_debug_output()) glDebugMessageCallback(nullptr, nullptr);
}

}  // namespace attnscope::gl
