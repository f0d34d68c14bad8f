// One frame of the interface, the same with a window and without.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/window/heatmap_renderer.h"
#include "app/window/image_textures.h"
#include "app/window/imgui_layer.h"
#include "app/window/input_queue.h"

namespace attnscope {

/// What the interface draws a frame with.
struct FrameInput {
    int width = 0;  ///< pixels; all of ImGui's coordinates are
    int height = 0;
    float scale = 1;                     ///< of the interface: sizes in pixels are the design's times this
    double seconds = 0;                  ///< since the frame before
    double last_frame_milliseconds = 0;  ///< what drawing the frame before took
    std::span<const KeyPress> pressed;   ///< keys that went down and that `on_key` did not take
    const Fonts& fonts;
    const Theme& theme;
    HeatmapRenderer& heatmaps;
    ImageTextures& images;
};

/// The interface that a window hosts. All but `draw` may be empty.
struct FrameCallbacks {
    /// A key goes down, before ImGui sees it: true takes it, and the characters it types. ImGui's flags
    /// (WantTextInput …) are those of the frame before.
    std::function<bool(const KeyPress&)> on_key;
    /// Between ImGui's NewFrame and Render.
    std::function<void(FrameInput&)> draw;
    std::function<void(const std::vector<std::string>& paths)> on_drop;
    /// True: the window may close now.
    std::function<bool()> on_close_request;
    /// Asked after each frame: true wants another one at the next refresh of the screen (an animation).
    std::function<bool()> wants_redraw;
};

/// Owns what lives between frames and deals the input out to them. An OpenGL context is current throughout.
class FrameHost {
public:
    FrameHost(Clipboard clipboard, ThemeKind theme);

    InputQueue& input() { return input_; }
    const InputQueue& input() const { return input_; }
    ImguiLayer& layer() { return layer_; }
    HeatmapRenderer& heatmaps() { return heatmaps_; }
    void set_theme(ThemeKind theme);

    struct Size {
        int width;
        int height;
        float scale;
    };
    /// One frame with one helping of the waiting input, drawn into the bound framebuffer if `visible`.
    /// Returns true if the window is to close.
    bool step(const FrameCallbacks& callbacks, Size size, double seconds, bool visible);

private:
    bool take(const FrameCallbacks& callbacks, std::vector<InputEvent>& events);

    ImguiLayer layer_;
    HeatmapRenderer heatmaps_;
    ImageTextures images_;
    InputQueue input_;
    std::vector<KeyPress> pressed_;
    bool key_taken_ = false;  ///< the last key that went down was a shortcut: what it types is not text
    double last_milliseconds_ = 0;
};

}  // namespace attnscope
