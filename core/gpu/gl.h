// The OpenGL objects of the program: move-only owners, one class per kind. A context must be current.
#pragma once

#include <epoxy/gl.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attnscope::gl {

/// Owns the name of an OpenGL object; 0 is none.
template <void (*free)(GLuint)>
class Name {
public:
    Name() = default;
    explicit Name(GLuint id) : id_(id) {}
    Name(Name&& other) noexcept : id_(std::exchange(other.id_, 0)) {}
    Name& operator=(Name&& other) noexcept {
        std::swap(id_, other.id_);
        return *this;
    }
    ~Name() {
        if (id_) free(id_);
    }
    GLuint id() const { return id_; }

private:
    GLuint id_ = 0;
};

void free_buffer(GLuint id);
void free_program(GLuint id);
void free_shader(GLuint id);
void free_texture(GLuint id);
void free_vertex_array(GLuint id);
void free_framebuffer(GLuint id);

/// A compiler's log as one line that starts with its first error, written "FILE:LINE: what is wrong" where
/// the driver's format is known (Mesa, NVIDIA, AMD, Intel, Apple).
std::string located_log(std::string_view file, std::string_view log);

/// A vertex and a fragment shader, or a compute shader, linked.
class Shader {
public:
    struct Source {
        std::string_view name;  ///< for messages: "heatmap.vert"
        std::string_view text;  ///< may begin with a #version line
    };
    /// `defines` ("NAME value") are inserted after the #version line. Throws Error(backend) with the file's
    /// name and the compiler's log.
    Shader(Source vertex, Source fragment, std::span<const std::string> defines = {});
    Shader(Source compute, std::span<const std::string> defines);

    void use() const;
    /// -1 if the compiler removed it; setting it then does nothing.
    GLint uniform(const char* name) const;

private:
    void link(std::span<const Name<free_shader>> shaders, const std::string& names);
    Name<free_program> program_;
};

/// Numbers in the card's memory, uninitialized.
class Storage {
public:
    /// Throws Error(too_large) if the card's memory does not suffice.
    explicit Storage(std::size_t floats);

    std::size_t size() const { return size_; }  ///< floats
    GLuint id() const { return buffer_.id(); }
    void write(std::size_t first, std::span<const float> numbers);
    /// Waits for the commands that compute them.
    void read(std::size_t first, std::span<float> numbers) const;

private:
    Name<free_buffer> buffer_;
    std::size_t size_;
};

/// A fence after the commands issued so far.
class Fence {
public:
    Fence();
    ~Fence();
    Fence(const Fence&) = delete;
    Fence& operator=(const Fence&) = delete;
    /// Waits up to `seconds`; true if they are done. Throws Error(backend) if they can never finish.
    bool wait(double seconds) const;

private:
    GLsync sync_;
};

/// A texture of one level, with nearest sampling (unless smooth) and clamped edges.
class Texture2D {
public:
    enum class Format { r32f, rgba8 };
    Texture2D(Format format, int width, int height);

    int width() const { return width_; }
    int height() const { return height_; }
    std::size_t bytes() const;
    GLuint id() const { return texture_.id(); }

    /// Uploads all pixels, row by row from the first.
    void upload(std::span<const float> numbers);
    void upload(std::span<const std::uint8_t> rgba);
    /// Builds smaller levels of what was uploaded, and blends texels and levels from now on.
    void smooth();
    void bind(int unit) const;

private:
    void upload_as(GLenum layout, GLenum type, const void* data);

    Name<free_texture> texture_;
    Format format_;
    int width_;
    int height_;
};

/// Needed for drawing without vertex buffers: a core context draws nothing without a vertex array bound.
class VertexArray {
public:
    VertexArray();
    void bind() const;

private:
    Name<free_vertex_array> array_;
};

/// Pixels as in image files: RGBA, the top row first.
struct Pixels {
    int width = 0;
    int height = 0;
    std::vector<std::uint8_t> rgba;

    /// 0xRRGGBBAA, counted from the top left corner.
    std::uint32_t at(int x, int y) const;
    bool operator==(const Pixels&) const = default;
};

/// A color image to draw into without a window.
class Framebuffer {
public:
    /// Throws Error(backend) if the driver refuses the size.
    Framebuffer(int width, int height);

    void bind() const;
    Pixels read() const;

private:
    Texture2D color_;
    Name<free_framebuffer> framebuffer_;
};

/// The lower left rectangle of the bound framebuffer.
Pixels read_pixels(int width, int height);

/// Whether the graphics card was reset since the current context was made, so that everything on it is lost.
/// Known from OpenGL 4.5 on, else false.
bool was_reset();

/// "0x0502" if the driver has recorded an error since the last call; else empty. Works even if the driver
/// reports nothing to a DebugLog.
std::string take_error();

/// Collects the driver's complaints while this object lives (KHR_debug; none if the driver lacks it).
class DebugLog {
public:
    DebugLog();
    ~DebugLog();
    DebugLog(const DebugLog&) = delete;
    DebugLog& operator=(const DebugLog&) = delete;

    /// Errors and undefined behavior, not performance hints.
    const std::vector<std::string>& errors() const { return errors_; }

private:
    std::vector<std::string> errors_;
};

}  // namespace attnscope::gl
