// The OpenGL objects that the window needs: move-only owners, one class per kind. A context must be current.
#pragma once

#include <epoxy/gl.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attnscope::gl {

/// Owns the name of one object; 0 is none.
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

/// A compiler's log with its first complaint at the head, as "FILE:LINE: what is wrong", where the driver's
/// manner of naming a line is known (Mesa, NVIDIA, AMD, Intel, Apple); one line.
std::string located_log(std::string_view file, std::string_view log);

/// A vertex and a fragment shader, or a compute shader, linked.
class Shader {
public:
    struct Source {
        std::string_view name;  ///< "heatmap.vert": for messages
        std::string_view text;  ///< may begin with a #version line
    };
    /// `defines` ("NAME value") come right after the #version line. Throws Error(backend) with the file's
    /// name and the compiler's log.
    Shader(Source vertex, Source fragment, std::span<const std::string> defines = {});
    Shader(Source compute, std::span<const std::string> defines);

    void use() const;
    /// -1 where the compiler dropped it; setting that does nothing.
    GLint uniform(const char* name) const;

private:
    void link(std::span<const Name<free_shader>> shaders, const std::string& names);
    Name<free_program> program_;
};

/// Numbers in the card's memory, not initialised.
class Storage {
public:
    /// Throws Error(too_large) if the card has no room.
    explicit Storage(std::size_t floats);

    std::size_t size() const { return size_; }  ///< floats
    GLuint id() const { return buffer_.id(); }
    void write(std::size_t first, std::span<const float> numbers);
    /// Waits for what computes them.
    void read(std::size_t first, std::span<float> numbers) const;

private:
    Name<free_buffer> buffer_;
    std::size_t size_;
};

/// Stands behind the commands so far.
class Fence {
public:
    Fence();
    ~Fence();
    Fence(const Fence&) = delete;
    Fence& operator=(const Fence&) = delete;
    /// True once they are done, at the latest after `seconds`. Throws Error(backend) if they never will be.
    bool wait(double seconds) const;

private:
    GLsync sync_;
};

/// One level, nearest sampling (unless smooth), clamped edges.
class Texture2D {
public:
    enum class Format { r32f, rgba8 };
    Texture2D(Format format, int width, int height);

    int width() const { return width_; }
    int height() const { return height_; }
    std::size_t bytes() const;
    GLuint id() const { return texture_.id(); }

    /// All of it, row by row, the first row first.
    void upload(std::span<const float> numbers);
    void upload(std::span<const std::uint8_t> rgba);
    /// From now on drawn with smaller levels of what was uploaded, and blended between texels.
    void smooth();
    void bind(int unit) const;

private:
    void upload_as(GLenum layout, GLenum type, const void* data);

    Name<free_texture> texture_;
    Format format_;
    int width_;
    int height_;
};

/// For drawing without vertex buffers: a core context draws nothing while none is bound.
class VertexArray {
public:
    VertexArray();
    void bind() const;

private:
    Name<free_vertex_array> array_;
};

/// Pixels as files have them: RGBA, the top row first.
struct Pixels {
    int width = 0;
    int height = 0;
    std::vector<std::uint8_t> rgba;

    /// 0xRRGGBBAA, counted from the top left corner.
    std::uint32_t at(int x, int y) const;
    bool operator==(const Pixels&) const = default;
};

/// A color picture to draw into where there is no window.
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

/// The bound framebuffer's lower left rectangle, as Pixels.
Pixels read_pixels(int width, int height);

/// The graphics card was reset since the current context was made: nothing of what it held is left. Known
/// from OpenGL 4.5 on, else false.
bool was_reset();

/// "0x0502" if the driver has noticed an error since the last call; else empty. It does so also where it
/// tells a DebugLog nothing.
std::string take_error();

/// Collects what the driver complains about while this object lives (KHR_debug; nothing where it lacks that).
class DebugLog {
public:
    DebugLog();
    ~DebugLog();
    DebugLog(const DebugLog&) = delete;
    DebugLog& operator=(const DebugLog&) = delete;

    /// Errors and undefined behaviour, not hints on speed.
    const std::vector<std::string>& errors() const { return errors_; }

private:
    std::vector<std::string> errors_;
};

}  // namespace attnscope::gl
