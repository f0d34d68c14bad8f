#include "app/document/history.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/graph/trace.h"
#include "core/session/comparisons.h"
#include "core/session/options.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

std::vector<std::string> setting_changes(const UndoPoint& before, const UndoPoint& after) {
    Session session{after.experiment, {}, {}};
    session.presentation.head = after.head;
    session.presentation.stage = after.stage;
    Presentation shown_before;
    shown_before.stage = before.stage;
    session.pinned = Pinned{before.experiment, before.head, shown_before.layer()};
    const std::vector<SettingDifference> differences = setting_differences(session);
    // Learned matrices follow from the step, so only the step is listed.
    const bool trained =
        std::ranges::find(differences, OptionName("step"), &SettingDifference::option) != differences.end();
    std::vector<std::string> changes;
    for (const SettingDifference& each : differences)
        if (!trained || each.option != "given") changes.push_back(change_text(each));
    return changes;
}

std::size_t bytes_of_text(const UndoPoint& point) {
    const auto of = [](const Input& input) { return input.text.size() + input.text2.size(); };
    return of(point.experiment.input) + (point.pinned ? of(point.pinned->experiment.input) : 0);
}

}  // namespace

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

std::string change_text(const UndoPoint& before, const UndoPoint& after) {
    constexpr std::size_t k_most = 3;
    std::vector<std::string> changes = setting_changes(before, after);
    if (before.pinned != after.pinned)
        changes.insert(changes.begin(), !before.pinned ? "pinned A"
                                        : after.pinned ? "another A"
                                                       : "unpinned A");
    StageKey same_layer = before.stage;
    same_layer.layer = after.stage.layer;
    if (same_layer != after.stage) changes.push_back("focus: " + capitalized(stage_heading(after.stage)));
    std::string text;
    for (std::size_t i = 0; i < std::min(changes.size(), k_most); ++i)
        text += (i > 0 ? ", " : "") + changes[i];
    if (changes.size() > k_most) text += fmt::format(" and {} more", changes.size() - k_most);
    return changes.empty() ? "settings that are not in use" : text;
}

History::History(UndoPoint present) { points_.push_back(std::move(present)); }

void History::record(UndoPoint point, const std::string& gesture) {
    if (point == present()) return;
    ++revision_;
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
    std::size_t text = 0, kept = 0;
    while (kept < std::min(points_.size(), k_most_points)) {
        text += bytes_of_text(points_[points_.size() - 1 - kept]);
        if (kept > 0 && text > k_most_text) break;
        ++kept;
    }
    points_.erase(points_.begin(), points_.end() - static_cast<std::ptrdiff_t>(kept));
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

void History::go_to(std::size_t index) {
    now_ = std::min(index, points_.size() - 1);
    end_gesture();
}

}  // namespace attnscope
