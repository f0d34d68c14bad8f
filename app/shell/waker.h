// Requests for a frame, from any thread.
#pragma once

#include <functional>
#include <memory>
#include <mutex>

namespace attnscope {

/// Wakes a window for a frame. Made before the window, so that what computes can begin while it opens: a call
/// before then is kept for its first frame, one after it is gone does nothing.
class Waker {
public:
    /// From any thread.
    void call();

    /// For the window: it is open, and waits for events.
    void begin();
    void end();
    /// Whether it was called since; forgets the call.
    bool take();
    /// Whether there is a call to take. Its event may be gone: drawing reads events, too.
    bool waits();

private:
    std::mutex mutex_;
    bool open_ = false;
    bool called_ = false;
};

/// A function that calls it, and may outlive the window.
std::function<void()> calling(std::shared_ptr<Waker> waker);

}  // namespace attnscope
