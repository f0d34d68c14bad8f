// What is open: the session, its history, and the newest trace of it. No ImGui and no OpenGL: a window, a
// test and a measurement drive the same document.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/document/history.h"
#include "app/document/worker.h"
#include "core/graph/explain.h"

namespace attnscope {

class Document {
public:
    Document(Session session, EvaluateOptions options, std::function<void()> wake);

    const Session& session() const { return session_; }
    const Experiment& experiment() const { return session_.experiment; }
    const Presentation& presentation() const { return session_.presentation; }
    /// The newest trace that could be computed; nullptr before the first.
    const std::shared_ptr<const Trace>& trace() const { return trace_; }
    /// The trace's experiment is not the current one: the new one is being computed, has no tokens, or
    /// failed.
    bool stale() const { return !trace_ || !(trace_->experiment == session_.experiment); }
    bool busy() const { return worker_.busy(); }
    /// Whether what is shown of the trace can be drawn without a long computation: the means over its heads
    /// are not there at once when they are chosen. Where they cannot be computed, problem() says why.
    bool ready() const { return !trace_ || !shows_means() || means_; }
    /// Why the current experiment has no trace; empty if it has one, or will have.
    const std::string& problem() const { return problem_; }
    /// What a person has to know of the newest trace: the graphics card is lost. Empty from then on.
    std::string take_notice() { return std::exchange(notice_, {}); }

    /// As Worker has them.
    void compute_on(std::function<BackendChoice()> choose, bool at_once = false) {
        worker_.compute_on(std::move(choose), at_once);
    }
    void compute_again() { worker_.compute_again(); }
    BackendReport backend() const { return worker_.backend(); }
    std::shared_ptr<Backend> card() const { return worker_.card(); }
    /// The card on which the trace lies is lost: there is none until the processor has computed it.
    void leave_card(const std::string& why);

    /// Changes the session by `edit`, as one undo step, or as part of the running one if `gesture` is that of
    /// the last change. Undo covers the experiment, the head and the focused stage; the rest of the
    /// presentation changes with it or without it, and is kept.
    void change(const std::function<void(Session&)>& edit, const std::string& gesture = {});
    void end_gesture() { history_.end_gesture(); }
    bool can_undo() const { return history_.can_undo(); }
    bool can_redo() const { return history_.can_redo(); }
    void undo();
    void redo();

    /// Opens another session; an undo step like any other, which brings the file before back too. `file` is
    /// where Save writes, or empty.
    void open(Session session, std::string file);
    const std::string& file() const { return homes_[home_].file; }
    void saved_as(std::string file);
    /// Save writes to `file`, which holds `content`.
    void belongs_to(std::string file, Session content);
    /// The session as it was opened or last saved.
    const Session& as_opened() const { return homes_[home_].content; }
    /// Differs from what `file` holds.
    bool modified() const { return !(session_ == homes_[home_].content); }

    /// Why the cell of a stage of the newest trace has its value, in one head or in the mean (head −1); kept
    /// until another one is asked for. Throws as explain().
    const Proof& proof(const Stage& stage, int head, const Cell& cell);

    /// As Worker has them; for the end.
    void stop() { worker_.stop(); }
    bool stopped() const { return worker_.stopped(); }

    /// Takes the worker's newest result; true if what is on screen changes.
    bool update();
    /// Waits for the worker, then updates; for tests and measurements.
    void settle();

private:
    /// Where a session belongs, and what stands there.
    struct Home {
        std::string file;
        Session content;
    };

    UndoPoint point() const;
    void go_to(const UndoPoint& point);
    void session_changed();
    bool shows_means() const { return session_.presentation.head.kind != HeadChoice::Kind::one; }
    void ask();

    Session session_;
    std::vector<Home> homes_;  ///< one for each session that was opened
    std::size_t home_ = 0;
    History history_;
    std::shared_ptr<const Trace> trace_;
    bool means_ = false;  ///< the trace's
    struct AskedProof {
        std::shared_ptr<const Trace> trace;  ///< kept, so that no other one has its address
        const Stage* stage;
        int head;
        Cell cell;
        bool operator==(const AskedProof&) const = default;
    };
    std::optional<AskedProof> asked_proof_;
    Proof proof_{};
    std::string problem_, notice_;
    Experiment asked_;
    Worker worker_;
};

}  // namespace attnscope
