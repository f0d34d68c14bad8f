#include "app/shell/window.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace attnscope {

namespace {

constexpr int k_frames_after_input = 3;  // the one with the input, and two in which ImGui settles
constexpr double k_longest_wait = 3600;  // seconds; nothing depends on it
// Limits for processing input without displaying each step: the minimum, and the maximum if displaying is
// slow.
constexpr double k_unseen_seconds = 0.012, k_most_unseen_seconds = 0.1;

/// Fonts that are being drawn for a monitor whose own scale is 1, as most are; for another they are drawn
/// again.
std::shared_ptr<FontLibrary> fonts_for(float interface_scale) {
    auto fonts = std::make_shared<FontLibrary>();
    fonts->prepare(std::clamp(interface_scale, k_min_scale, k_max_scale));
    return fonts;
}

}  // namespace

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Window::Window(const Options& options, std::shared_ptr<Waker> waker)
    : fonts_(fonts_for(options.interface_scale)),
      window_(options.window),
      host_(window_.clipboard(), options.theme, options.shaders, fonts_),
      waker_(std::move(waker)),
      interface_scale_(options.interface_scale),
      last_frame_(seconds_now()) {
    waker_->begin();
}

Window::~Window() { waker_->end(); }

void Window::request_frames(int n) { frames_left_ = std::max(frames_left_, n); }

void Window::request_frame_in(double seconds) {
    const double at = seconds_now() + seconds;
    due_ = due_ ? std::min(*due_, at) : at;
}

void Window::set_theme(ThemeKind theme) {
    if (theme == host_.layer().theme().choice) return;
    host_.set_theme(theme);
    request_frames(2);
}

void Window::set_interface_scale(float scale) {
    if (scale == interface_scale_) return;
    interface_scale_ = scale;
    request_frames(2);
}

float Window::scale() const {
    return std::clamp(interface_scale_ * window_.content_scale(), k_min_scale, k_max_scale);
}

gl::Pixels Window::pixels() const { return gl::read_pixels(window_.width(), window_.height()); }

/// True if a frame is needed.
bool Window::collect_input(double wait_seconds) {
    window_.wait(wait_seconds);
    std::vector<InputEvent> events = window_.take_events();
    // Each is taken, whatever the others say: a call that is not taken keeps later ones from waking the
    // window.
    const bool damaged = window_.take_damage(), woken = waker_->take();
    const bool touched = !events.empty() || damaged;
    for (InputEvent& event : events) host_.input().push(std::move(event));
    if (touched || !host_.input().empty()) request_frames(k_frames_after_input);
    if (woken) request_frames(1);  // which asks for another one if it shows something new
    if (due_ && seconds_now() >= *due_) {
        due_.reset();
        request_frames(1);
    }
    return frames_left_ > 0;
}

/// How long no frame is needed.
double Window::idle_seconds(const FrameCallbacks& callbacks) const {
    const bool input_waits = !host_.input().empty() || frames_left_ == k_frames_after_input;
    if (input_waits || waker_->waits()) return 0;
    // Frames without input follow the screen's refresh even if its driver does not wait for it; meanwhile
    // input is handled at once.
    const bool animated = callbacks.wants_redraw && callbacks.wants_redraw();
    if (frames_left_ > 0 || animated)
        return std::max(0.0, last_frame_ + window_.refresh_seconds() - seconds_now());
    return due_ ? std::clamp(*due_ - seconds_now(), 0.0, k_longest_wait) : k_longest_wait;
}

double Window::seconds_since_last_frame() {
    const double at = seconds_now();
    return at - std::exchange(last_frame_, at);
}

bool Window::draw(const FrameCallbacks& callbacks) {
    // A minimized window has no pixels; its input is processed at the previous size.
    const bool shown = window_.width() > 0 && window_.height() > 0;
    if (shown) size_ = {.width = window_.width(), .height = window_.height(), .scale = scale()};
    // Fast typing takes several frames per key: all but the last are processed without being displayed, for
    // as long as displaying takes, so that slow drawing does not delay typing.
    const double until =
        seconds_now() + std::clamp(showing_seconds_, k_unseen_seconds, k_most_unseen_seconds);
    using Drawing = FrameHost::Drawing;
    FrameHost::Stepped done;
    const auto step = [&](Drawing drawing) {
        if (!done.closes) done = host_.step(callbacks, size_, seconds_since_last_frame(), drawing);
    };
    while (!done.closes && host_.input().backlog() && seconds_now() < until) step(Drawing::never);
    double begin = seconds_now();
    step(shown ? Drawing::unless_superseded : Drawing::never);
    if (shown && !done.is_drawn) {
        begin = seconds_now();
        step(Drawing::always);
    }
    window_.set_cursor(ImGui::GetMouseCursor());
    window_.wait(0);  // a key is read with the current keyboard layout: the sooner the better
    if (done.is_drawn) {
        window_.present();
        showing_seconds_ = seconds_now() - begin;
    }
    lost_ = gl::was_reset();
    frames_left_ = std::max(0, frames_left_ - 1);
    return done.closes || lost_;
}

bool Window::step(const FrameCallbacks& callbacks) {
    collect_input(0);
    return draw(callbacks) || closing_;
}

void Window::run(const FrameCallbacks& callbacks) {
    closing_ = false;
    request_frames(k_frames_after_input);
    while (!closing_) {
        const bool animated = callbacks.wants_redraw && callbacks.wants_redraw();
        const bool due = collect_input(idle_seconds(callbacks));
        if (due || animated) closing_ = draw(callbacks) || closing_;
    }
}

}  // namespace attnscope
