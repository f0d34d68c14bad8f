// The interface without a display: for tests, and for pictures of the window.
#pragma once

#include <string_view>

#include "app/window/context.h"
#include "app/window/frame.h"

namespace attnscope {

/// Steps the same frames as Window does, each 1/60 s after the one before, whatever the clock says: the same
/// input gives the same bytes. Its clipboard is its own. One at a time on a thread.
class HeadlessWindow {
public:
    /// Throws Error(backend) where no OpenGL can be had without a display.
    HeadlessWindow(int width, int height, float scale = 1, ThemeKind theme = ThemeKind::dark);

    void push(InputEvent event) { host_.input().push(std::move(event)); }
    /// One frame. True if the window is to close.
    bool step(const FrameCallbacks& callbacks);
    /// Frames until all input is dealt out, then two more for ImGui to settle.
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

/// The events of typing `utf8` on a keyboard: for each character its key (where it has one) going down,
/// itself, the key going up.
std::vector<InputEvent> typing(std::string_view utf8);
/// The events of pressing a key and letting it go while `mods` are held.
std::vector<InputEvent> pressing(Key key, Mods mods = {});

}  // namespace attnscope
