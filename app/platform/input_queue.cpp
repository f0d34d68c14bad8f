#include "app/platform/input_queue.h"

#include <algorithm>
#include <utility>

namespace attnscope {

namespace {

template <class... Cases>
struct Overload : Cases... {
    using Cases::operator()...;
};
template <class... Cases>
Overload(Cases...) -> Overload<Cases...>;

/// What the frame contains so far.
struct Contents {
    bool transition = false;  ///< a key or a button changed state
    bool closed_to_chars = false;
    bool moved = false;
    bool wheeled = false;
    bool typed = false;
    bool last = false;  ///< nothing may follow
};

/// Characters that the text field receives through its callback, after all other events of the frame.
bool comes_last(char32_t code) { return code > 0xFFFF || (code >= 0xE000 && code <= 0xF8FF); }

bool fits(const Contents& frame, const InputEvent& event) {
    if (frame.last) return false;
    const bool free_of_transitions = !frame.transition && !frame.typed;
    return std::visit(
        Overload{
            [&](const KeyDown&) { return free_of_transitions; },
            [&](const KeyUp&) { return free_of_transitions; },
            [&](const MouseButton&) { return free_of_transitions && !frame.moved && !frame.wheeled; },
            [&](const MouseMove&) { return free_of_transitions && !frame.wheeled; },
            [&](const MouseLeave&) { return free_of_transitions && !frame.wheeled; },
            [&](const Wheel&) { return free_of_transitions; },
            [&](const Char&) { return !frame.closed_to_chars && !frame.wheeled; },
            [&](const auto&) { return true; },
        },
        event);
}

void add(Contents& frame, const InputEvent& event) {
    std::visit(Overload{
                   [&](const KeyDown& down) {
                       frame.transition = true;
                       frame.closed_to_chars |= !is_printing(down.key);
                   },
                   [&](const KeyUp&) { frame.transition = true; },
                   [&](const MouseButton&) { frame.transition = frame.closed_to_chars = true; },
                   [&](const MouseMove&) { frame.moved = true; },
                   [&](const MouseLeave&) { frame.moved = true; },
                   [&](const Wheel&) { frame.wheeled = true; },
                   [&](const Char& typed) {
                       frame.typed = true;
                       frame.last = comes_last(typed.code);
                   },
                   [&](const auto&) { frame.last = true; },
               },
               event);
}

/// Tab, a shortcut or a click may move the focus to another field, which takes ImGui until the frame after
/// next.
bool may_move_focus(const InputEvent& event) {
    if (const auto* button = std::get_if<MouseButton>(&event)) return button->down;
    const auto* down = std::get_if<KeyDown>(&event);
    if (!down || is_modifier(down->key)) return false;
    if (down->mods.ctrl || down->mods.alt || down->mods.super) return true;
    const bool edits = down->key == Key::backspace || down->key == Key::del;
    return !is_printing(down->key) && !edits;
}

bool is_character(char32_t code) { return code != 0 && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF); }

}  // namespace

bool is_printing(Key key) {
    return (key >= Key::a && key <= Key::digit_9) || key == Key::space || key == Key::other ||
           (key >= Key::comma && key <= Key::grave);
}

bool is_modifier(Key key) { return key >= Key::ctrl && key <= Key::super; }

void InputQueue::push(InputEvent event) {
    const auto* typed = std::get_if<Char>(&event);
    if (typed && !is_character(typed->code)) return;
    // Of several moves during a slow frame, only the last position matters.
    const bool move_on_move = !events_.empty() && std::holds_alternative<MouseMove>(events_.back()) &&
                              std::holds_alternative<MouseMove>(event);
    if (move_on_move) {
        events_.back() = std::move(event);
    } else {
        events_.push_back(std::move(event));
    }
}

/// How many events go into the next frame.
std::size_t InputQueue::next_helping() const {
    Contents contents;
    contents.closed_to_chars = settling_frames_ > 0;
    std::size_t count = 0;
    while (count < events_.size() && fits(contents, events_[count])) add(contents, events_[count++]);
    return count;
}

bool InputQueue::backlog() const { return next_helping() < events_.size(); }

std::vector<InputEvent> InputQueue::take_frame() {
    std::vector<InputEvent> frame;
    const std::size_t count = next_helping();
    settling_frames_ = std::max(0, settling_frames_ - 1);
    for (std::size_t i = 0; i < count; ++i) {
        if (may_move_focus(events_.front())) settling_frames_ = k_focus_frames;
        frame.push_back(std::move(events_.front()));
        events_.pop_front();
    }
    return frame;
}

}  // namespace attnscope
