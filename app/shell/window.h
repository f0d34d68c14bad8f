// The window on the screen and its loop, which draws only when something changed.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "app/platform/context.h"
#include "app/shell/frame.h"
#include "app/shell/waker.h"

namespace attnscope {

/// Seconds on a clock that is never set back.
double seconds_now();

class Window {
public:
    struct Options {
        GlfwWindow::Options window;
        ThemeKind theme = ThemeKind::dark;
        float interface_scale = 1;  ///< times the monitor's own scale
        ShaderSource shaders = {};
    };

    /// `waker` wakes this window from now on. Throws Error(backend): no display, no OpenGL 3.3.
    Window(const Options& options, std::shared_ptr<Waker> waker);
    ~Window();

    /// Runs until the window closes. An idle window waits for input, a wake or a requested frame, and draws
    /// nothing.
    void run(const FrameCallbacks& callbacks);
    /// Draws one frame now, even if nothing changed; for measuring. Includes waiting for the screen. Returns
    /// true if the window should close.
    bool step(const FrameCallbacks& callbacks);

    /// Requests at least `n` more frames.
    void request_frames(int n);
    /// Requests one frame after at most `seconds`.
    void request_frame_in(double seconds);
    /// Ends run() after the current frame, without asking.
    void close() { closing_ = true; }
    /// The graphics card was reset: run() has ended, and only a new window can draw.
    bool lost() const { return lost_; }

    /// Adds an event as if it came from the user.
    void push(InputEvent event) { host_.input().push(std::move(event)); }

    /// Removes the window from the screen; what draws in it continues.
    void hide() { window_.hide(); }
    void set_title(const std::string& title) { window_.set_title(title); }
    void set_theme(ThemeKind theme);
    void set_interface_scale(float scale);
    /// The interface scale times the monitor's.
    float scale() const;
    /// The monitor's own scale.
    float content_scale() const { return window_.content_scale(); }
    GlfwWindow::Placement placement() const { return window_.placement(); }
    const GlVersion& gl_version() const { return window_.gl_version(); }
    std::unique_ptr<GlContext> share_context() { return window_.share(); }
    FrameHost& host() { return host_; }
    gl::Pixels pixels() const;

private:
    bool collect_input(double wait_seconds);
    double idle_seconds(const FrameCallbacks& callbacks) const;
    bool draw(const FrameCallbacks& callbacks);
    double seconds_since_last_frame();

    std::shared_ptr<FontLibrary> fonts_;  ///< drawn while the window opens
    GlfwWindow window_;
    FrameHost host_;
    std::shared_ptr<Waker> waker_;
    float interface_scale_;
    int frames_left_ = 0;
    std::optional<double> due_;
    double last_frame_ = 0;
    double showing_seconds_ = 0;  ///< the time that displaying the last visible frame took
    FrameHost::Size size_{.width = GlfwWindow::k_min_width, .height = GlfwWindow::k_min_height, .scale = 1};
    bool closing_ = false;
    bool lost_ = false;
};

}  // namespace attnscope
