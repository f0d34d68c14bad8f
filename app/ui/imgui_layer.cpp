#include "app/ui/imgui_layer.h"

#include <backends/imgui_impl_opengl3.h>
#include <epoxy/gl.h>

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace attnscope {

namespace {

constexpr double k_longest_step = 0.1;  // a program that was suspended must not jump through an animation

Mods merge(const Mods& a, const Mods& b) {
    return {.ctrl = a.ctrl || b.ctrl,
            .shift = a.shift || b.shift,
            .alt = a.alt || b.alt,
            .super = a.super || b.super};
}

template <class... Cases>
struct Overload : Cases... {
    using Cases::operator()...;
};
template <class... Cases>
Overload(Cases...) -> Overload<Cases...>;

}  // namespace

struct ImguiLayer::Context {
    ImGuiContext* context;

    Context(TextBridge& bridge, ImFontAtlas& atlas) : context(ImGui::CreateContext(&atlas)) {
        compat::set_up_io(bridge);
        if (!ImGui_ImplOpenGL3_Init("#version 330")) {
            ImGui::DestroyContext(context);
            throw Error(ErrorKind::backend,
                        "Dear ImGui cannot load OpenGL (libGL.so.1); install libgl1, or use "
                        "`attnscope render`, which needs no OpenGL");
        }
    }
    ~Context() {
        ImGui::SetCurrentContext(context);
        ImGui_ImplOpenGL3_Shutdown();
        ImGui::DestroyContext(context);
    }
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;
};

ImguiLayer::ImguiLayer(Clipboard clipboard, ThemeKind theme, std::shared_ptr<FontLibrary> library)
    : library_(library ? std::move(library) : std::make_shared<FontLibrary>()),
      bridge_(std::make_unique<TextBridge>()),
      theme_(&theme_of(theme)) {
    bridge_->clipboard = std::move(clipboard);
    bridge_->shaped = &shaped_;
    bridge_->wide.set_drawable([this](char32_t code) { return shaped_.may_hold(code); });
    context_ = std::make_unique<Context>(*bridge_, library_->atlas());
}

ImguiLayer::~ImguiLayer() = default;

void ImguiLayer::set_theme(ThemeKind theme) {
    const Theme* chosen = &theme_of(theme);
    restyle_ |= chosen != theme_;
    theme_ = chosen;
}

void ImguiLayer::want_characters(std::string_view text) { refont_ |= add_ranges_for(text, characters_); }

void ImguiLayer::rebuild(float scale) {
    refont_ |= stand_ins_ != bridge_->wide.originals().size();
    if (refont_ || scale != scale_) {
        built_ = library_->build(scale, characters_, bridge_->wide, shaped_);
        stand_ins_ = bridge_->wide.originals().size();
        shaped_.set_fonts(built_.fonts, scale);
        if (scale_ > 0) compat::refresh_font_texture();  // the first comes with the shaders, in NewFrame()
        refont_ = false;
        restyle_ = true;
    }
    scale_ = scale;
    if (restyle_) apply_style(*theme_, scale, compat::font_size(*built_.fonts.body));
    restyle_ = false;
}

void ImguiLayer::set_modifier(Key key, bool down) {
    if (key == Key::ctrl) held_.ctrl = down;
    if (key == Key::shift) held_.shift = down;
    if (key == Key::alt) held_.alt = down;
    if (key == Key::super) held_.super = down;
}

void ImguiLayer::feed(const InputEvent& event) {
    std::visit(Overload{
                   [&](const KeyDown& down) {
                       set_modifier(down.key, true);
                       compat::set_key(down.key, true, down.repeat, merge(held_, down.mods));
                   },
                   [&](const KeyUp& up) {
                       set_modifier(up.key, false);
                       // On some systems the event's modifiers still include the one released.
                       compat::set_key(up.key, false, false,
                                       is_modifier(up.key) ? held_ : merge(held_, up.mods));
                   },
                   [](const Char& typed) { compat::add_character(typed.code); },
                   [](const MouseMove& move) { compat::set_mouse(move.x, move.y); },
                   [](const MouseLeave&) { compat::set_mouse_outside(); },
                   [&](const MouseButton& button) {
                       if (button.button < 0 || button.button > 4) return;
                       compat::set_mods(merge(held_, button.mods));
                       compat::set_mouse_button(button.button, button.down);
                   },
                   [](const Wheel& wheel) { compat::add_wheel(wheel.x, wheel.y); },
                   [&](const Focus& focus) {
                       if (!focus.focused) {
                           held_ = {};
                           compat::set_mods(held_);
                       }
                       compat::set_focus(focus.focused);
                   },
                   [](const auto&) {},
               },
               event);
}

void ImguiLayer::feed(std::span<const InputEvent> events) {
    ImGui::SetCurrentContext(context_->context);
    for (const InputEvent& event : events) feed(event);
}

void ImguiLayer::begin_frame(int width, int height, float scale, double seconds) {
    ImGui::SetCurrentContext(context_->context);
    shaped_.begin_frame();
    want_characters(std::exchange(bridge_->wanted, {}));
    rebuild(std::clamp(scale, k_min_scale, k_max_scale));
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = ImVec2(static_cast<float>(width), static_cast<float>(height));
    io.DisplayFramebufferScale = ImVec2(1, 1);
    io.DeltaTime = static_cast<float>(std::clamp(seconds, 1e-4, k_longest_step));
    ImGui_ImplOpenGL3_NewFrame();
    ImGui::NewFrame();
}

void ImguiLayer::end_frame(bool draw) {
    bridge_->typed.clear();
    if (!draw) {
        ImGui::EndFrame();
        return;
    }
    ImGui::Render();
    const Rgb8 background = theme_->background;
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    glViewport(0, 0, static_cast<GLsizei>(size.x), static_cast<GLsizei>(size.y));
    glDisable(GL_SCISSOR_TEST);
    glClearColor(static_cast<float>(background.red) / 255, static_cast<float>(background.green) / 255,
                 static_cast<float>(background.blue) / 255, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

}  // namespace attnscope
