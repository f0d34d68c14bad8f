#include "app/document/document.h"

#include <algorithm>
#include <cstdlib>

#include "core/error.h"
#include "core/text/tokenizer.h"

namespace attnscope {
namespace {

/// An empty sentence is what one sees while typing, not an error.
bool has_tokens(const Experiment& experiment) {
    const Tokenizer* tokenizer = find_tokenizer(experiment.tokenizer);
    return !experiment.given.empty() || !tokenizer || !tokenize(experiment.text, *tokenizer).empty();
}

}  // namespace

Document::Document(Session session, EvaluateOptions options, std::function<void()> wake)
    : session_(std::move(session)),
      saved_(session_),
      history_(undo_point(session_)),
      asked_(session_.experiment),
      worker_(std::move(options), std::move(wake)) {
    if (has_tokens(asked_)) worker_.request(asked_);
}

void Document::change(const std::function<void(Session&)>& edit, const std::string& gesture) {
    edit(session_);
    history_.record(undo_point(session_), gesture);
    session_changed();
}

void Document::undo() {
    history_.undo();
    restore(session_, history_.present());
    session_changed();
}

void Document::redo() {
    history_.redo();
    restore(session_, history_.present());
    session_changed();
}

void Document::open(Session session, std::string file) {
    session_ = std::move(session);
    history_.end_gesture();
    history_.record(undo_point(session_));
    saved_ = session_;
    file_ = std::move(file);
    session_changed();
}

void Document::saved_as(std::string file) {
    saved_ = session_;
    file_ = std::move(file);
}

void Document::session_changed() {
    // A head that is gone, and a locked cell beyond the new matrix, cannot be shown.
    HeadChoice& head = session_.presentation.head;
    head.head = std::min(head.head, session_.experiment.heads - 1);
    if (session_.experiment == asked_) return;
    asked_ = session_.experiment;
    problem_.clear();
    try {
        if (has_tokens(asked_)) worker_.request(asked_);
    } catch (const Error& error) {
        problem_ = error.what();
    }
}

bool Document::update() {
    std::optional<WorkResult> result = worker_.take();
    if (!result) return false;
    if (result->trace) {
        trace_ = std::move(result->trace);
        if (trace_->experiment == session_.experiment) problem_.clear();
    } else if (result->experiment == session_.experiment) {
        problem_ = std::move(result->error);
    }
    return true;
}

void Document::settle() {
    worker_.wait();
    update();
}

int nearest_head_count(int wanted, int dim) {
    int best = 1;
    for (int h = 1; h <= std::min(dim, k_max_heads); ++h)
        if (dim % h == 0 && std::abs(h - wanted) < std::abs(best - wanted)) best = h;
    return best;
}

int nearest_dim(int wanted, int heads) {
    const int steps = std::clamp((wanted + heads / 2) / heads, 1, k_max_dim / heads);
    return steps * heads;
}

}  // namespace attnscope
