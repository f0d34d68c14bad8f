// One frame of the interface, identical with and without a window.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/heatmap/heatmap_renderer.h"
#include "app/heatmap/image_textures.h"
#include "app/platform/input_queue.h"
#include "app/ui/imgui_layer.h"
#include "core/gpu/shaders.h"

namespace attnscope {

/// What the interface needs to draw a frame.
struct FrameInput {
    int width = 0;  ///< in pixels, as are all of ImGui's coordinates
    int height = 0;
    float scale = 1;                         ///< of the interface: layout units to pixels
    double seconds = 0;                      ///< since the previous frame
    double last_frame_milliseconds = 0;      ///< that the last frame took that was drawn, and those before it
    double last_frame_cpu_milliseconds = 0;  ///< of their thread, until the frame was handed to OpenGL
    std::span<const KeyPress> pressed;       ///< keys pressed that `on_key` did not handle
    const Fonts& fonts;
    const Theme& theme;
    HeatmapRenderer& heatmaps;
    ImageTextures& images;
};

/// The interface that a window hosts. All functions but `draw` may be empty.
struct FrameCallbacks {
    /// Called when a key goes down, before ImGui sees it. Returning true consumes the key and the characters
    /// it types. ImGui's flags (WantTextInput …) are those of the previous frame.
    std::function<bool(const KeyPress&)> on_key;
    /// Called between ImGui's NewFrame and Render.
    std::function<void(FrameInput&)> draw;
    /// Called after `draw`: true if the next frame waits for the result of what this one changed, and is
    /// displayed instead.
    std::function<bool()> is_superseded = {};
    std::function<void(const std::vector<std::string>& paths)> on_drop;
    /// True if the window may close now.
    std::function<bool()> on_close_request;
    /// Called after each frame: true requests another one at the next screen refresh (for animation).
    std::function<bool()> wants_redraw;
};

/// Owns what lives across frames and distributes the input over them. An OpenGL context is current
/// throughout.
class FrameHost {
public:
    FrameHost(Clipboard clipboard, ThemeKind theme, ShaderSource shaders,
              std::shared_ptr<FontLibrary> library = nullptr);

    InputQueue& input() { return input_; }
    const InputQueue& input() const { return input_; }
    ImguiLayer& layer() { return layer_; }
    HeatmapRenderer& heatmaps() { return heatmaps_; }
    void set_theme(ThemeKind theme);
    /// What frames will be told (FrameInput).
    double last_milliseconds() const { return last_milliseconds_; }
    double last_cpu_milliseconds() const { return last_cpu_milliseconds_; }

    struct Size {
        int width;
        int height;
        float scale;
    };
    enum class Drawing { never, unless_superseded, always };
    struct Stepped {
        bool closes = false;  ///< the window should close
        bool is_drawn = false;
    };
    /// Runs one frame with one portion of the pending input, and draws it into the bound framebuffer or not.
    Stepped step(const FrameCallbacks& callbacks, Size size, double seconds, Drawing drawing);

private:
    bool take(const FrameCallbacks& callbacks, std::vector<InputEvent>& events);

    ImguiLayer layer_;
    HeatmapRenderer heatmaps_;
    ImageTextures images_;
    InputQueue input_;
    std::vector<KeyPress> pressed_;
    bool key_taken_ = false;  ///< the last key pressed was a shortcut, so the character it types is not text
    double last_milliseconds_ = 0, last_cpu_milliseconds_ = 0;
    double unseen_milliseconds_ = 0, unseen_cpu_milliseconds_ = 0;  ///< of frames since then
};

}  // namespace attnscope
