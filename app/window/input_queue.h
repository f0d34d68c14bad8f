// Deals events out to frames so that a user interface that only compares states between frames misses none.
#pragma once

#include <deque>
#include <vector>

#include "app/window/input_event.h"

namespace attnscope {

/// Dear ImGui 1.86 sees a key or a button only as it stands when a frame begins, takes the characters of a
/// frame before its keys, and drops those that come while a field is just getting the focus. So a frame gets
///   at most one press or release;
///   a move of the pointer never together with a later press, nor after one;
///   characters after a key only if it is the key that typed them (or one let go), and no key after a
///   character; no characters in the two frames after what may have moved the focus.
class InputQueue {
public:
    void push(InputEvent event);
    bool empty() const { return events_.empty(); }
    /// The next frame will leave something for the one after it.
    bool backlog() const;

    /// The events of the next frame, in order; empty when nothing waits, or while the focus settles.
    std::vector<InputEvent> take_frame();

private:
    std::size_t next_helping() const;

    std::deque<InputEvent> events_;
    static constexpr int k_focus_frames = 2;
    int settling_frames_ = k_focus_frames;  ///< the first frame may give the focus too
};

}  // namespace attnscope
