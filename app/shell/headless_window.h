// The interface without a display: for tests, and for images of the window.
#pragma once

#include <string_view>

#include "app/platform/context.h"
#include "app/shell/frame.h"

namespace attnscope {

/// Runs the same frames as Window, each 1/60 s after the previous one regardless of the clock, so that the
/// same input gives the same bytes. It has its own clipboard. One at a time per thread.
class HeadlessWindow {
public:
    /// `library`: one that windows share, one after the other; null for one of its own. Throws Error(backend)
    /// if OpenGL is not available without a display.
    HeadlessWindow(int width, int height, float scale = 1, ThemeKind theme = ThemeKind::dark,
                   ShaderSource shaders = {}, std::shared_ptr<FontLibrary> library = nullptr);

    void push(InputEvent event) { host_.input().push(std::move(event)); }
    /// Draws one frame. True if the window should close.
    bool step(const FrameCallbacks& callbacks);
    /// Draws frames until all input is consumed, then two more for ImGui to settle.
    void settle(const FrameCallbacks& callbacks);
    gl::Pixels pixels() const { return context_.read_pixels(); }

    void set_scale(float scale) { scale_ = scale; }
    void set_theme(ThemeKind theme) { host_.set_theme(theme); }
    FrameHost& host() { return host_; }
    const HeadlessContext& context() const { return context_; }
    const std::vector<std::string>& gl_errors() const { return log_.errors(); }

private:
    HeadlessContext context_;
    gl::DebugLog log_;
    FrameHost host_;
    float scale_;
};

/// The events of typing `utf8` on a keyboard: for each character its key going down (if it has one), the
/// character, and the key going up.
std::vector<InputEvent> typing(std::string_view utf8);
/// The events of pressing and releasing a key while `mods` are held.
std::vector<InputEvent> pressing(Key key, Mods mods = {});

}  // namespace attnscope
