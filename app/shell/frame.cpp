#include "app/shell/frame.h"

#include <chrono>
#include <ctime>
#include <utility>

namespace attnscope {
namespace {

/// For how long a processor has run this thread.
double thread_milliseconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1000 + static_cast<double>(time.tv_nsec) / 1e6;
}

}  // namespace

FrameHost::FrameHost(Clipboard clipboard, ThemeKind theme, ShaderSource shaders,
                     std::shared_ptr<FontLibrary> library)
    : layer_(std::move(clipboard), theme, std::move(library)),
      heatmaps_(theme_of(theme), std::move(shaders)) {}

void FrameHost::set_theme(ThemeKind theme) {
    layer_.set_theme(theme);
    heatmaps_.set_theme(theme_of(theme));
}

/// Leaves in `events` what ImGui should see. True if the window should close.
bool FrameHost::take(const FrameCallbacks& callbacks, std::vector<InputEvent>& events) {
    bool close = false;
    pressed_.clear();
    std::erase_if(events, [&](const InputEvent& event) {
        if (const auto* down = std::get_if<KeyDown>(&event)) {
            const KeyPress press{.key = down->key, .mods = down->mods, .repeat = down->repeat};
            const bool taken = callbacks.on_key && callbacks.on_key(press);
            if (!is_modifier(down->key)) key_taken_ = taken;
            if (!taken) pressed_.push_back(press);
            return taken;
        }
        if (std::holds_alternative<Char>(event)) return key_taken_;
        if (std::holds_alternative<KeyUp>(event)) key_taken_ = false;
        if (const auto* drop = std::get_if<Drop>(&event)) {
            if (callbacks.on_drop) callbacks.on_drop(drop->paths);
        }
        if (std::holds_alternative<CloseRequest>(event)) {
            close = !callbacks.on_close_request || callbacks.on_close_request();
        }
        return false;
    });
    return close;
}

FrameHost::Stepped FrameHost::step(const FrameCallbacks& callbacks, Size size, double seconds,
                                   Drawing drawing) {
    const auto start = std::chrono::steady_clock::now();
    const double thread_start = thread_milliseconds();
    std::vector<InputEvent> events = input_.take_frame();
    const bool close = take(callbacks, events);
    layer_.feed(events);
    layer_.begin_frame(size.width, size.height, size.scale, seconds);
    heatmaps_.begin_frame();
    images_.begin_frame();
    FrameInput frame{.width = size.width,
                     .height = size.height,
                     .scale = size.scale,
                     .seconds = seconds,
                     .last_frame_milliseconds = last_milliseconds_,
                     .last_frame_cpu_milliseconds = last_cpu_milliseconds_,
                     .pressed = pressed_,
                     .fonts = layer_.fonts(),
                     .theme = layer_.theme(),
                     .heatmaps = heatmaps_,
                     .images = images_};
    callbacks.draw(frame);
    const double own = thread_milliseconds() - thread_start;
    const bool superseded =
        drawing == Drawing::unless_superseded && callbacks.is_superseded && callbacks.is_superseded();
    const bool is_drawn = drawing != Drawing::never && !superseded;
    layer_.end_frame(is_drawn);
    const auto took = std::chrono::steady_clock::now() - start;
    unseen_milliseconds_ += std::chrono::duration<double, std::milli>(took).count();
    unseen_cpu_milliseconds_ += own;
    if (is_drawn) {
        last_milliseconds_ = std::exchange(unseen_milliseconds_, 0);
        last_cpu_milliseconds_ = std::exchange(unseen_cpu_milliseconds_, 0);
    }
    return {.closes = close, .is_drawn = is_drawn};
}

}  // namespace attnscope
