// The OpenGL contexts: a window on the screen, or none at all.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/platform/imgui_compat.h"
#include "app/platform/input_event.h"
#include "core/gpu/context.h"
#include "core/gpu/gl.h"
#include "core/gpu/gl_version.h"

struct GLFWwindow;
struct GLFWcursor;

namespace attnscope {

struct SpareWindow;

/// A window and its OpenGL core context (3.3 or later), which is current once created. All input becomes
/// InputEvents in framebuffer pixels. One at a time, on the main thread.
class GlfwWindow {
public:
    struct Options {
        std::string title = "attnscope";
        int width = 1600;
        int height = 1000;
        std::optional<int> x;  ///< with y: the previous position
        std::optional<int> y;
        bool maximized = false;
    };
    struct Placement {
        int x = 0;
        int y = 0;
        int width = 0;
        int height = 0;
        bool maximized = false;
    };
    static constexpr int k_min_width = 1024;
    static constexpr int k_min_height = 700;

    /// Throws Error(backend): no display, or no OpenGL 3.3.
    explicit GlfwWindow(const Options& options);
    ~GlfwWindow();
    GlfwWindow(const GlfwWindow&) = delete;
    GlfwWindow& operator=(const GlfwWindow&) = delete;

    const GlVersion& gl_version() const { return version_; }
    int width() const;  ///< of the framebuffer, 0 while minimized
    int height() const;
    float content_scale() const;  ///< of the monitor: 1, 1.5, 2 …
    double refresh_seconds() const;
    Placement placement() const;
    void set_title(const std::string& title);
    void set_cursor(ImGuiMouseCursor cursor);
    void hide();
    Clipboard clipboard();

    /// Waits at most `seconds` (0: not at all) for input or a wake.
    void wait(double seconds);
    /// The events since the last call, in order.
    std::vector<InputEvent> take_events();
    /// True if the picture must be drawn again although there was no input: uncovered, resized, moved to
    /// another monitor.
    bool take_damage();
    void present();

    /// Another context that shares this one's buffers, textures and programs, for use on any thread. Call
    /// this on the main thread; the user of the context must be gone before the window. Throws
    /// Error(backend).
    std::unique_ptr<GlContext> share();

    /// Ends a wait; from any thread, while the window exists.
    static void wake();

private:
    struct Cursors;
    static void install_callbacks(GLFWwindow* window);
    void open(const Options& options);

    GLFWwindow* window_ = nullptr;
    std::string title_;
    GlVersion version_;
    std::unique_ptr<Cursors> cursors_;
    std::vector<std::shared_ptr<SpareWindow>> spares_;
    std::vector<InputEvent> events_;
    bool damaged_ = true;
    friend struct GlfwCallbacks;
};

/// An OpenGL core context (3.3 or later) without a display, drawing into an image of the given size. Current
/// on the thread that created it.
class HeadlessContext {
public:
    /// Throws Error(backend), naming what is missing.
    HeadlessContext(int width, int height);
    ~HeadlessContext();
    HeadlessContext(const HeadlessContext&) = delete;
    HeadlessContext& operator=(const HeadlessContext&) = delete;

    GlContext& context() { return *context_; }

    const GlVersion& gl_version() const { return version_; }
    int width() const { return width_; }
    int height() const { return height_; }
    void bind() const { framebuffer_->bind(); }
    gl::Pixels read_pixels() const { return framebuffer_->read(); }

private:
    std::unique_ptr<GlContext> context_;
    GlVersion version_;
    int width_;
    int height_;
    std::unique_ptr<gl::Framebuffer> framebuffer_;
};

}  // namespace attnscope
