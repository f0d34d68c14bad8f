// Undo and redo.
#pragma once

#include <string>
#include <vector>

#include "core/io/session.h"

namespace attnscope {

/// What undo brings back: all that decides the numbers, the head and the focused stage.
struct UndoPoint {
    Experiment experiment;
    HeadChoice head;
    std::string stage;
    std::size_t home = 0;  ///< which of the document's files it belongs to
    bool operator==(const UndoPoint&) const = default;
};

UndoPoint undo_point(const Session& session);
void restore(Session& session, const UndoPoint& point);

/// A line of points with the present one somewhere on it. Changes of one gesture (a drag, a word being typed)
/// are one step, so that one undo takes all of it back.
class History {
public:
    explicit History(UndoPoint present);

    const UndoPoint& present() const { return points_[now_]; }
    bool can_undo() const { return now_ > 0; }
    bool can_redo() const { return now_ + 1 < points_.size(); }

    /// Makes `point` the present and drops what could be redone. With the same non-empty `gesture` as the
    /// change before it, it takes that one's place.
    void record(UndoPoint point, const std::string& gesture = {});
    void undo();
    void redo();
    /// The next change begins a step of its own, whatever its gesture.
    void end_gesture() { gesture_.clear(); }

private:
    static constexpr std::size_t k_most_points = 1000;
    std::vector<UndoPoint> points_;
    std::size_t now_ = 0;
    std::string gesture_;
};

}  // namespace attnscope
