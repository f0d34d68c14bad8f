#include "app/document/document.h"

#include <algorithm>

#include "core/picture/shown_matrix.h"

namespace attnscope {
namespace {

/// Clamps head and layer to those that exist.
void clamp_head(Session& session) {
    HeadChoice& head = session.presentation.head;
    head.head = std::clamp(head.head, 0, std::max(0, session.experiment.attention.heads - 1));
    if (session.experiment.mechanism == MechanismKind::transformer)
        session.presentation.layer =
            std::clamp(session.presentation.layer, 1, session.experiment.transformer.layers);
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
    worker_.prepare_for(session_.presentation.head);
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
    worker_.prepare_for(session_.presentation.head);
    if (!(session_.experiment == a_.experiment)) ask();
}

void Document::ask() {
    a_.experiment = session_.experiment;
    a_.problem.clear();
    worker_.request(SlotName::a, a_.experiment);
}

bool Document::ready() const {
    return !a_.trace || !shows_means() ||
           std::ranges::all_of(a_.trace->records, [](const StageRecord& record) {
               const Buffer* mean = record.stage->buffer.known_mean();
               return !has_mean(*record.stage) || (mean && mean->known_range());
           });
}

const Slot* Document::slot(SlotName name) const {
    if (name == SlotName::a) return &a_;
    return b_ ? &*b_ : nullptr;
}

void Document::open_b(Experiment experiment) {
    if (!b_) b_.emplace();
    b_->experiment = std::move(experiment);
    b_->problem.clear();
    worker_.request(SlotName::b, b_->experiment);
}

void Document::close_b() {
    b_.reset();
    asked_proof_.reset();
    worker_.close(SlotName::b);
}

bool Document::update() {
    bool news = false;
    while (std::optional<WorkResult> result = worker_.take()) {
        take(std::move(*result));
        news = true;
    }
    return news;
}

void Document::take(WorkResult result) {
    if (!result.notice.empty()) notice_ = std::move(result.notice);
    Slot& slot = result.slot == SlotName::a ? a_ : b_.value();
    if (result.trace) {
        slot.trace = std::move(result.trace);
        asked_proof_.reset();  // what it refers to may be large
        if (!slot.stale()) slot.problem.clear();
    } else if (result.experiment == slot.experiment) {
        slot.problem = std::move(result.error);
    }
}

const Proof& Document::proof(const Stage& stage, int head, const Cell& cell, SlotName name) {
    AskedProof asked{slot(name)->trace, &stage, head, cell};
    if (asked_proof_ != asked) {
        asked_proof_.reset();
        proof_ = explain(*asked.trace, stage, head, cell.row, cell.column);
        asked_proof_ = std::move(asked);
    }
    return proof_;
}

void Document::leave_card(const std::string& why) {
    a_.trace.reset();
    if (b_) b_->trace.reset();
    asked_proof_.reset();
    notice_ = fallback_notice(why);
    worker_.leave_card(why);
}

void Document::settle() {
    worker_.wait();
    update();
}

}  // namespace attnscope
