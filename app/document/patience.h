// Whether a frame waits for what its change asked for.
#pragma once

#include <algorithm>

namespace attnscope {

/// Waits as long as that pays: after each wait in vain, twice as many changes pass without one, at most 31.
class Patience {
public:
    /// What waits() will return.
    bool will_wait() const { return left_ == 0; }
    /// Whether to wait after this change.
    bool waits() {
        if (will_wait()) return true;
        --left_;
        return false;
    }
    /// After a wait: whether the result arrived in time.
    void waited(bool arrived) {
        passed_ = arrived ? 0 : std::min(2 * passed_ + 1, 31);
        left_ = passed_;
    }

private:
    int passed_ = 0;  ///< changes without a wait after the last one
    int left_ = 0;    ///< changes still to come without a wait
};

}  // namespace attnscope
