#include "app/document/document.h"

#include <algorithm>

namespace attnscope {
namespace {

/// Clamps the head to those that exist.
void clamp_head(Session& session) {
    HeadChoice& head = session.presentation.head;
    head.head = std::clamp(head.head, 0, std::max(0, session.experiment.attention.heads - 1));
}

Session with_clamped_head(Session session) {
    clamp_head(session);
    return session;
}

}  // namespace

Document::Document(Session session, EvaluateOptions options, std::function<void()> wake)
    : session_(with_clamped_head(std::move(session))),
      homes_{{"", session_}},
      history_(undo_point(session_)),
      worker_(std::move(options), std::move(wake)) {
    worker_.prepare_means(shows_means());
    ask();
}

void Document::change(const std::function<void(Session&)>& edit, const std::string& gesture) {
    edit(session_);
    clamp_head(session_);
    history_.record(point(), gesture);
    session_changed();
}

void Document::undo() {
    history_.undo();
    go_to(history_.present());
}

void Document::redo() {
    history_.redo();
    go_to(history_.present());
}

UndoPoint Document::point() const {
    UndoPoint point = undo_point(session_);
    point.home = home_;
    return point;
}

void Document::go_to(const UndoPoint& point) {
    restore(session_, point);
    // A note describes the session that it was opened with.
    if (point.home != home_) session_.note = homes_[point.home].content.note;
    home_ = point.home;
    session_changed();
}

void Document::open(Session session, std::string file) {
    session_ = with_clamped_head(std::move(session));
    homes_.push_back({std::move(file), session_});
    home_ = homes_.size() - 1;
    history_.end_gesture();
    history_.record(point());
    session_changed();
}

void Document::saved_as(std::string file) { homes_[home_] = {std::move(file), session_}; }

void Document::belongs_to(std::string file) { homes_.front() = {std::move(file), session_, true}; }

void Document::file_was_read(std::optional<Session> content) {
    Home& home = homes_.front();
    if (!std::exchange(home.unread, false)) return;
    if (content)
        home.content = with_clamped_head(std::move(*content));
    else
        home.file.clear();
}

void Document::session_changed() {
    worker_.prepare_means(shows_means());
    if (!(session_.experiment == asked_)) ask();
}

void Document::ask() {
    asked_ = session_.experiment;
    problem_.clear();
    worker_.request(asked_);
}

bool Document::update() {
    std::optional<WorkResult> result = worker_.take();
    if (!result) return false;
    if (!result->notice.empty()) notice_ = std::move(result->notice);
    if (result->trace) {
        trace_ = std::move(result->trace);
        asked_proof_.reset();  // what it refers to may be large
        means_ = result->means;
        if (trace_->experiment == session_.experiment) problem_.clear();
    } else if (result->experiment == session_.experiment) {
        problem_ = std::move(result->error);
    }
    return true;
}

const Proof& Document::proof(const Stage& stage, int head, const Cell& cell) {
    AskedProof asked{trace_, &stage, head, cell};
    if (asked_proof_ != asked) {
        asked_proof_.reset();
        proof_ = explain(*trace_, stage, head, cell.row, cell.column);
        asked_proof_ = std::move(asked);
    }
    return proof_;
}

void Document::leave_card(const std::string& why) {
    trace_.reset();
    asked_proof_.reset();
    notice_ = why + " (computing on the processor)";
    worker_.leave_card(why);
}

void Document::settle() {
    worker_.wait();
    update();
}

}  // namespace attnscope
