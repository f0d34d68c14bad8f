// The lifecycle of Dear ImGui: context, OpenGL backend, fonts and style at a scale, input, frames.
#pragma once

#include <imgui.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "app/platform/imgui_compat.h"
#include "app/platform/input_event.h"
#include "app/ui/fonts.h"
#include "app/ui/shaped_text.h"
#include "app/ui/style.h"

namespace attnscope {

inline constexpr float k_min_scale = 0.5F;
inline constexpr float k_max_scale = 4.0F;

/// One per OpenGL context, which must be current; ImGui's context is current from construction on.
class ImguiLayer {
public:
    /// `library`: null for one of its own. Throws Error(backend) if ImGui's OpenGL backend does not start.
    ImguiLayer(Clipboard clipboard, ThemeKind theme, std::shared_ptr<FontLibrary> library = nullptr);
    ~ImguiLayer();
    ImguiLayer(const ImguiLayer&) = delete;
    ImguiLayer& operator=(const ImguiLayer&) = delete;

    /// Takes effect with the next frame.
    void set_theme(ThemeKind theme);
    /// Makes the characters of `text` drawable from the next frame on, if an installed font has them. Text in
    /// a TextField is added automatically.
    void want_characters(std::string_view text);

    /// Passes one frame's events (InputQueue::take_frame), before begin_frame.
    void feed(std::span<const InputEvent> events);
    /// Starts a frame of `width` × `height` pixels at `scale` (k_min_scale … k_max_scale), `seconds` after
    /// the last.
    void begin_frame(int width, int height, float scale, double seconds);
    /// Draws the frame into the bound framebuffer on the background color, or only ends it.
    void end_frame(bool draw);

    const Fonts& fonts() const { return built_.fonts; }
    const Theme& theme() const { return *theme_; }
    const std::string& font_warning() const { return built_.warning; }

private:
    struct Context;
    void feed(const InputEvent& event);
    void set_modifier(Key key, bool down);
    void rebuild(float scale);

    std::shared_ptr<FontLibrary> library_;
    std::unique_ptr<TextBridge> bridge_;
    std::unique_ptr<Context> context_;
    ShapedText shaped_;
    std::size_t stand_ins_ = 0;  ///< that the fonts include
    BuiltFonts built_;
    const Theme* theme_;
    float scale_ = 0;
    bool restyle_ = true;
    bool refont_ = true;
    CharacterRanges characters_;
    Mods held_;
};

}  // namespace attnscope
