// The open document: the session, its history, and the newest trace of each of its slots. Without ImGui or
// OpenGL: a window, a test and a measurement drive the same document.
#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/document/comparer.h"
#include "app/document/followed_run.h"
#include "app/document/history.h"
#include "app/document/line_finder.h"
#include "app/document/link_finder.h"
#include "app/document/overview_maker.h"
#include "app/document/patience.h"
#include "app/document/surveyor.h"
#include "app/document/sweeper.h"
#include "app/document/tile_maker.h"
#include "app/document/worker.h"
#include "core/graph/explain.h"
#include "core/graph/row_steps.h"
#include "core/learn/variations.h"
#include "core/session/comparisons.h"
#include "core/session/options.h"

namespace attnscope {

class Document {
public:
    Document(Session session, EvaluateOptions options, std::function<void()> wake);

    const Session& session() const { return session_; }
    const Experiment& experiment() const { return session_.experiment; }
    const Presentation& presentation() const { return session_.presentation; }
    /// why_unused() (core/session/applies.h) for this experiment, computed once for each change, at which
    /// the reference ends.
    const std::string& why_unused(const Option& option);
    /// offered_comparisons() of this session, computed once for each change, at which the reference
    /// ends.
    const std::vector<OfferedComparison>& comparisons();
    /// A slot; nullptr if it is not open. The pinned one is as long as something is pinned (Session::pinned).
    const Slot* slot(SlotName name) const;
    /// What the live slot holds: see Slot.
    const std::shared_ptr<const Trace>& trace() const { return live().trace; }
    bool stale() const { return live().stale(); }
    const std::string& problem() const { return live().problem; }
    bool busy(SlotName name = SlotName::live) const { return worker_.busy(name); }
    /// The comparison of A (pinned) with B (live), or the previous one until that of the newest traces is
    /// done. nullptr if nothing is pinned, or nothing compared yet.
    const std::shared_ptr<const Comparison>& comparison() const { return comparer_.known(); }
    bool comparing() const { return comparer_.busy(); }
    /// The scores of every head, while the heads view is open; as with comparison(), possibly the previous
    /// ones.
    const std::shared_ptr<const Survey>& survey() const { return surveyor_.known(); }
    /// The results for the values of the swept setting; nullptr before they are computed.
    const std::shared_ptr<const SweptValues>& swept() const { return sweeper_.known(); }
    /// The lines of the shown stage of weights for the heads that draw_lines_of() named last, while the lines
    /// view is open; possibly the previous ones.
    const std::shared_ptr<const FoundLines>& lines() const { return line_finder_.known(); }
    /// Whether survey() also compares every pair of heads.
    void compare_heads(bool pairs);
    void draw_lines_of(std::vector<int> heads);
    /// The strongest links of the matrix of pairs in focus, while the pipeline is open; nullptr before they
    /// are found. Those of a long text follow its overview.
    const std::shared_ptr<const FoundLinks>& links() const { return link_finder_.known(); }
    /// Computes the visible parts of stages that are computed on demand.
    TileMaker& tiles() { return tile_maker_; }
    /// Ends the overview: what is shown keeps its preview, until another stage or head was shown.
    void cancel_overview();
    /// How much of the overview of the shown stage is computed, 0 … 1; nullopt: all, or it needs none.
    std::optional<double> overview_progress() const { return overview_maker_.progress(); }
    /// What is there of the shown stage; nullopt: it is in memory. A preview that is not there is asked for,
    /// as its view does.
    struct Overview {
        bool has_preview = false, is_surveyed = false;
    };
    std::optional<Overview> overview_on_screen();
    /// What to tell the user about the newest traces (the graphics card was lost); empty after the call.
    std::string take_notice() { return std::exchange(notice_, {}); }

    /// See the functions of Worker with these names.
    void compute_on(std::function<BackendChoice()> choose, bool at_once = false) {
        worker_.compute_on(std::move(choose), at_once);
    }
    void compute_again() { worker_.compute_again(); }
    BackendReport backend() const { return worker_.backend(); }
    std::shared_ptr<Backend> card() const { return worker_.card(); }
    /// The graphics card that held the traces is lost: there are none until the processor has computed them
    /// again.
    void leave_card(const std::string& why);

    /// Changes the session by `edit`, as one undo step, or as part of the last one if `gesture` is the same
    /// as that change's. Undo restores the experiment, the head and the focused stage; the rest of the
    /// presentation is left as it is.
    void change(const std::function<void(Session&)>& edit, const std::string& gesture = {});
    void end_gesture() { history_.end_gesture(); }
    bool can_undo() const { return history_.can_undo(); }
    bool can_redo() const { return history_.can_redo(); }
    void undo();
    void redo();
    /// The steps that undo and redo go through.
    const History& history() const { return history_; }
    /// Goes to the step of this index, as undo and redo go to the next one.
    void go_to_point(std::size_t index);
    /// What the step of this index changed, in words (change_text), or what it opened.
    std::string step_text(std::size_t index) const;

    /// What is known of the run of training.
    const TrainingProgress& training() const { return run_.known(); }
    /// Whether the session is a step of that run.
    bool is_of_run() const { return run_.has(experiment()); }
    /// Takes steps of the session's task from the step that is shown, in a new run unless it is of the one
    /// that is known; the session follows them, as one undo step.
    void play(int to = k_max_training_steps);
    void pause();
    /// Goes to a step of the run, or to the parameters as they are drawn (0), as one step of undo: together
    /// with the one before if both are of one drag (`is_dragged`).
    void go_to_step(int step, bool is_dragged = false);
    /// Trains the session's task in another run beside this one, varied, which takes the same steps and
    /// stands in a slot of its own; nullptr: none. It is not part of the session.
    void train_beside(const Variation* variation);
    /// The variation that is trained beside; nullptr if there is none, or if it would change nothing in the
    /// session's task.
    const Variation* beside() const { return slot(SlotName::beside) ? variation_ : nullptr; }
    /// What is known of the run beside.
    const TrainingProgress& training_beside() const;
    /// The step that the run goes to, or that is shown.
    int wanted_step() const { return going_to_.value_or(experiment().training.step); }

    /// Opens another session, as an undo step that also restores the previous file. `file` is where Save
    /// writes to, or empty.
    void open(Session session, std::string file);
    const std::string& file() const { return homes_[home_].file; }
    void saved_as(std::string file);
    /// Makes `file`, whose content is not known yet, the file that Save writes the first session to.
    void belongs_to(std::string file);
    /// What belongs_to()'s file holds; nullopt: it cannot be read, and the session has no file. Nothing if
    /// the session was saved meanwhile.
    void file_was_read(std::optional<Session> content);
    /// The session as it was opened or last saved.
    const Session& as_opened() const { return homes_[home_].content; }
    /// Whether the session differs from the content of `file`.
    bool modified() const { return !(session_ == homes_[home_].content); }

    /// Why a cell of a stage of a slot's newest trace has its value, in one head or in the mean (head −1).
    /// Valid until four other cells are requested, a trace arrives or a slot is closed. Throws as explain().
    const Proof& proof(const Stage& stage, int head, const Cell& cell, SlotName name = SlotName::live);

    /// The computation of a row of the live slot's weights, as row_steps(). Valid until another row is
    /// requested, a trace arrives or the slot is closed.
    const RowSteps& steps_of_row(const Stage& weights, int head, int row);

    /// See the functions of Worker with these names; for shutting down.
    void stop() {
        stopping_ = true;
        worker_.stop();
        comparer_.forget();
        surveyor_.forget();
        overview_maker_.forget();
        sweeper_.forget();
        line_finder_.forget();
        link_finder_.forget();
        run_.trainer().stop();
        if (run_b_) run_b_->trainer().stop();
    }
    bool stopped() const {
        return worker_.stopped() && !comparer_.busy() && !surveyor_.busy() && !overview_maker_.busy() &&
               !sweeper_.busy() && !line_finder_.busy() && !link_finder_.busy() && run_.trainer().stopped() &&
               (!run_b_ || run_b_->trainer().stopped());
    }

    /// The CPU also draws: frames wait longer for an evaluation.
    void share_cpu_with_drawing() { longest_wait_ = k_longest_wait_if_cpu_draws; }
    /// Whether update() will wait for the result of a change that was made since the last one.
    bool next_update_waits() const;
    /// Takes the worker's newest results; true if what is on screen changes.
    bool update();
    /// Waits for the worker and for the step that the run goes to (one that plays on is paused), then
    /// updates; for tests and measurements.
    void settle();

private:
    /// The file of a session, and its content.
    struct Home {
        std::string file;
        Session content;
        bool unread = false;  ///< the content of the file is not known yet
    };

    UndoPoint point() const;
    void go_to(const UndoPoint& point);
    void session_changed();
    const Slot& live() const { return *slots_[0]; }
    std::optional<Slot>& open_slot(SlotName name) { return slots_[static_cast<std::size_t>(name)]; }
    void ask(SlotName name, const Experiment& experiment, bool on_cpu = false);
    void close(SlotName name);
    void prepare();
    void show_pinned();
    /// Waits for what the open view finds in a trace: scores of heads, lines, differences.
    void wait_for_view(std::chrono::steady_clock::time_point deadline);
    void compare();
    void ask_for_shown();
    void survey_heads();
    std::optional<OverviewRequest> overview_of_shown() const;
    void overview();
    void sweep();
    void find_lines();
    void find_links();
    void take(WorkResult result);
    void tell_trouble();
    void forget_proofs();
    void begin_run();
    void follow_run();
    void leave_run();
    std::optional<Experiment> experiment_beside() const;
    void show_beside();

    Session session_;
    std::map<const Option*, std::string> unused_;                ///< of session_, those that were asked for
    std::optional<std::vector<OfferedComparison>> comparisons_;  ///< of session_, if they were asked for
    std::vector<Home> homes_;                                    ///< one per opened session
    std::size_t home_ = 0;
    History history_;
    std::array<std::optional<Slot>, k_slots.size()> slots_;  ///< by SlotName; the live one is always open
    struct AskedProof {
        std::shared_ptr<const Trace> trace;  ///< kept alive, so that no other trace gets its address
        const Stage* stage;
        int head;
        Cell cell;
        bool operator==(const AskedProof&) const = default;
    };
    struct KeptProof {
        AskedProof of;
        std::unique_ptr<const Proof> proof;
    };
    std::deque<KeptProof> proofs_;  ///< what was asked for last comes first: a frame asks for the same few
    struct KeptRow {
        std::shared_ptr<const Trace> trace;
        const Stage* weights = nullptr;
        RowSteps steps;
    };
    std::optional<KeptRow> row_;  ///< that the view of steps shows
    std::string notice_;
    std::string told_;  ///< the last notice about the card
    bool stopping_ = false;
    bool follows_run_ = false;  ///< the session gets the parameters of each step
    bool plays_on_ = false;     ///< until it is paused
    std::optional<int> going_to_;
    const Variation* variation_ = nullptr;  ///< of the run beside
    Worker worker_;
    /// The frame after a change waits so long for what it asked for, so that it shows the result: up to some
    /// 512 tokens. Longer, the frame itself would be missed. A CPU that also draws computes sooner if it
    /// draws none.
    static constexpr std::chrono::milliseconds k_longest_wait{40}, k_longest_wait_if_cpu_draws{300};
    std::chrono::milliseconds longest_wait_ = k_longest_wait;
    Patience patience_, view_patience_;
    bool just_changed_ = false;  ///< what is on screen, by a person, since the last update()
    Comparer comparer_;
    Surveyor surveyor_;
    TileMaker tile_maker_;
    OverviewMaker overview_maker_;
    std::weak_ptr<const Stage> without_overview_;  ///< and this head of it, whose overview was canceled
    int head_without_overview_ = 0;
    Sweeper sweeper_;
    LineFinder line_finder_;
    LinkFinder link_finder_;
    bool compares_heads_ = false;
    std::vector<int> heads_with_lines_;  ///< empty: not known yet
    FollowedRun run_;
    const std::function<void()> wake_;
    const int threads_;
    std::optional<FollowedRun> run_b_;  ///< from when one was first asked for
};

}  // namespace attnscope
