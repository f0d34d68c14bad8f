// Undo and redo, and the list of all steps.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/session/session.h"

namespace attnscope {

/// What undo restores: everything that affects the numbers, the head, the focused stage, and what is
/// pinned.
struct UndoPoint {
    Experiment experiment;
    HeadChoice head;
    StageKey stage;
    std::optional<Pinned> pinned;
    std::size_t home = 0;  ///< index of the document's file that it belongs to
    bool operator==(const UndoPoint&) const = default;
};

UndoPoint undo_point(const Session& session);
void restore(Session& session, const UndoPoint& point);

/// What changed between two points, in words: "Temperature 1.0 → 2.0", "custom scores", "focus: Weights".
/// Settings have the names of the panel; of many changes the first three and the number of the others.
std::string change_text(const UndoPoint& before, const UndoPoint& after);

/// A sequence of points, one of them current. Changes of the same gesture (a drag, a word being typed) are
/// one step, which a single undo reverts.
class History {
public:
    explicit History(UndoPoint present);

    const UndoPoint& present() const { return points_[now_]; }
    bool can_undo() const { return now_ > 0; }
    bool can_redo() const { return now_ + 1 < points_.size(); }
    /// All points, the oldest first, and the index of the current one.
    std::span<const UndoPoint> points() const { return points_; }
    std::size_t index() const { return now_; }
    /// A number that grows with each change of the points, but not when another one becomes the current one.
    std::uint64_t revision() const { return revision_; }

    /// Makes `point` the current one and drops what could be redone. If the previous change has the same
    /// non-empty `gesture`, it is replaced.
    void record(UndoPoint point, const std::string& gesture = {});
    void undo();
    void redo();
    /// Makes the point of this index the current one, or the last one if there are fewer.
    void go_to(std::size_t index);
    /// The next change starts a new step, whatever its gesture.
    void end_gesture() { gesture_.clear(); }

private:
    static constexpr std::size_t k_most_points = 1000;
    /// Bytes of text in all points, of which each has its own; the newest point is kept in any case.
    static constexpr std::size_t k_most_text = std::size_t{256} << 20;
    std::vector<UndoPoint> points_;
    std::size_t now_ = 0;
    std::uint64_t revision_ = 0;
    std::string gesture_;
};

}  // namespace attnscope
