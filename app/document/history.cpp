#include "app/document/history.h"

namespace attnscope {

UndoPoint undo_point(const Session& session) {
    return {session.experiment, session.presentation.head, session.presentation.stage, session.pinned};
}

void restore(Session& session, const UndoPoint& point) {
    session.experiment = point.experiment;
    session.pinned = point.pinned;
    session.presentation.head = point.head;
    session.presentation.set_layer(point.stage.layer);
    session.presentation.focus(point.stage);
}

History::History(UndoPoint present) { points_.push_back(std::move(present)); }

void History::record(UndoPoint point, const std::string& gesture) {
    if (point == present()) return;
    points_.erase(points_.begin() + static_cast<std::ptrdiff_t>(now_ + 1), points_.end());
    const bool same_step = !gesture.empty() && gesture == gesture_ && now_ > 0;
    gesture_ = gesture;
    if (same_step && point == points_[now_ - 1]) {
        // The gesture is back where it began: there is nothing left to undo.
        points_.pop_back();
        --now_;
        gesture_.clear();
        return;
    }
    if (same_step) {
        points_[now_] = std::move(point);
        return;
    }
    points_.push_back(std::move(point));
    if (points_.size() > k_most_points) points_.erase(points_.begin());
    now_ = points_.size() - 1;
}

void History::undo() {
    if (can_undo()) --now_;
    end_gesture();
}

void History::redo() {
    if (can_redo()) ++now_;
    end_gesture();
}

}  // namespace attnscope
