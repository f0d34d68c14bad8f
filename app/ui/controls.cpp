#include "app/ui/controls.h"

#include <algorithm>

namespace attnscope {

void ControlFocus::move(int step) {
    if (drawn.empty()) return;
    const auto at = std::ranges::find(drawn, id, &DrawnControl::id);
    const auto count = std::ssize(drawn);
    const auto now = at != drawn.end() ? at - drawn.begin() : step > 0 ? -1 : 0;
    id = drawn[static_cast<std::size_t>((now + step + count) % count)].id;
    moved = true;
}

void ControlFocus::leave_for_dialog() {
    if (behind == 0) behind = id;
    id = 0;
}

}  // namespace attnscope
