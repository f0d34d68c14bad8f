// Distributes events over frames, so that an interface that only compares states between frames misses none.
#pragma once

#include <deque>
#include <vector>

#include "app/platform/input_event.h"

namespace attnscope {

/// Dear ImGui 1.86 sees only the state of a key or button at the start of a frame, processes the characters
/// of a frame before its keys, and drops characters that arrive while a field is getting the focus. So a
/// frame gets
///   at most one press or release;
///   no pointer move together with a press, whichever comes first;
///   characters after a key only if that key typed them (or was released), and no key after a character;
///   no characters in the two frames after an event that may have moved the focus.
class InputQueue {
public:
    void push(InputEvent event);
    bool empty() const { return events_.empty(); }
    /// Whether the next frame will leave events for the one after it.
    bool backlog() const;

    /// The events of the next frame, in order; empty if there are none, or while the focus settles.
    std::vector<InputEvent> take_frame();

private:
    std::size_t next_helping() const;

    std::deque<InputEvent> events_;
    static constexpr int k_focus_frames = 2;
    int settling_frames_ = k_focus_frames;  ///< the first frame may set the focus, too
};

}  // namespace attnscope
