#include "app/document/document.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "app/document/readiness.h"
#include "core/learn/training_run.h"
#include "core/mechanism/mechanisms.h"
#include "core/picture/shown_matrix.h"
#include "core/session/applies.h"
#include "core/session/comparisons.h"
#include "core/session/examples.h"
#include "core/session/sweep.h"

namespace attnscope {
namespace {

/// Clamps the shown head and layer to those that exist.
void show_existing_parts(Session& session) {
    drop_missing_heads(session.experiment);
    HeadChoice& head = session.presentation.head;
    head.head = std::clamp(head.head, 0, std::max(0, session.experiment.attention.heads - 1));
    if (mechanism_rule(session.experiment.mechanism).has_layers)
        session.presentation.set_layer(
            std::clamp(session.presentation.layer(), 1, session.experiment.transformer.layers));
}

/// Keeps or drops the learned parameters after an edit: drops them at step 0, or if the edit changes the
/// first parameters or the shapes of the model. Without a task they are custom matrices like any other.
void settle_parameters(const Experiment& before, Experiment& after) {
    if (before.training.step == 0 || before.weights.custom != after.weights.custom) return;
    if (after.training.task == TaskKind::none) {
        after.training.step = 0;
        return;
    }
    if (are_of_one_run(before, after) && after.training.step > 0) return;
    const bool draws_others =
        before.weights.seed != after.weights.seed || before.weights.embedding != after.weights.embedding;
    if (after.training.step == 0 || draws_others || !why_parameters_do_not_fit(after).empty())
        after = untrained(std::move(after));
}

Session with_existing_parts(Session session) {
    show_existing_parts(session);
    return session;
}

/// Whether the text is so long that only parts of its matrices are ever computed.
bool is_long(const std::shared_ptr<const Trace>& trace) { return trace && trace->is_on_demand(); }

}  // namespace

Document::Document(Session session, EvaluateOptions options, std::function<void()> wake)
    : session_(with_existing_parts(std::move(session))),
      homes_{{"", session_}},
      history_(undo_point(session_)),
      worker_(options, wake),
      comparer_(wake),
      surveyor_(wake),
      tile_maker_(wake),
      overview_maker_(wake),
      sweeper_(wake),
      line_finder_(wake),
      link_finder_(wake),
      run_(options.threads, wake),
      wake_(wake),
      threads_(options.threads) {
    prepare();
    ask(SlotName::live, session_.experiment);
    show_pinned();
}

void Document::change(const std::function<void(Session&)>& edit, const std::string& gesture) {
    const Experiment before = session_.experiment;
    unused_.clear();  // `edit` may throw
    comparisons_.reset();
    edit(session_);
    show_existing_parts(session_);
    settle_parameters(before, session_.experiment);
    history_.record(point(), gesture);
    session_changed();
}

void Document::begin_run() {
    run_.begin(experiment());
    run_.trainer().film(untrained(experiment()));
    if (const std::optional<Experiment> other = experiment_beside()) run_b_->begin(*other);
}

void Document::play(int to) {
    begin_run();
    follows_run_ = true;
    plays_on_ = to == k_max_training_steps;
    history_.end_gesture();
    going_to_.reset();
    run_.trainer().play(session_.experiment.training.step, to);
    if (beside()) run_b_->trainer().play(session_.experiment.training.step, to);
}

void Document::go_to_step(int step, bool is_dragged) {
    begin_run();
    follows_run_ = true;
    plays_on_ = false;
    if (!is_dragged) history_.end_gesture();
    going_to_ = step;
    run_.trainer().go_to(step);
    if (beside()) run_b_->trainer().go_to(step);
}

/// The session becomes the step where the run stands, and the run beside goes to the same.
void Document::follow_run() {
    const TrainingProgress& known = training();
    if (!follows_run_ || !known.parameters) return;
    if (session_.experiment.training.step != known.step) {
        session_.experiment = run_.at_its_step(std::move(session_.experiment));
        history_.record(point(), "training");
        session_changed();
    }
    if (known.moving) return;
    follows_run_ = false;
    going_to_.reset();
    if (beside() && run_b_->has(slot(SlotName::beside)->experiment)) run_b_->trainer().go_to(known.step);
}

void Document::leave_run() {
    follows_run_ = false;
    going_to_.reset();
    pause();
}

std::optional<Experiment> Document::experiment_beside() const {
    return variation_ && can_be_trained(experiment()) ? varied(experiment(), *variation_) : std::nullopt;
}

void Document::train_beside(const Variation* variation) {
    if (variation == variation_) return;
    variation_ = variation;
    if (variation_ && !run_b_) run_b_.emplace(threads_, wake_);
    if (run_b_ && !variation_) run_b_->trainer().pause();
    show_beside();
    const int step = experiment().training.step;
    if (!beside() || (step == 0 && !training().moving)) return;
    run_b_->begin(*experiment_beside());
    is_of_run() && training().moving ? run_b_->trainer().play(step, k_max_training_steps)
                                     : run_b_->trainer().go_to(step);
}

const TrainingProgress& Document::training_beside() const {
    static const TrainingProgress nothing_yet;
    const Slot* slot_beside = slot(SlotName::beside);
    return slot_beside && run_b_ && run_b_->has(slot_beside->experiment) ? run_b_->known() : nothing_yet;
}

/// The slot becomes the varied session where its run stands.
void Document::show_beside() {
    const std::optional<Experiment> other = experiment_beside();
    if (!other) {
        close(SlotName::beside);
        return;
    }
    ask(SlotName::beside, run_b_->at_its_step(*other));
}

void Document::pause() {
    run_.trainer().pause();
    if (run_b_) run_b_->trainer().pause();
}

void Document::undo() {
    leave_run();
    history_.undo();
    go_to(history_.present());
}

void Document::redo() {
    leave_run();
    history_.redo();
    go_to(history_.present());
}

void Document::go_to_point(std::size_t index) {
    leave_run();
    history_.go_to(index);
    go_to(history_.present());
}

std::string Document::step_text(std::size_t index) const {
    const auto points = history_.points();
    const UndoPoint& point = points[index];
    if (index > 0 && points[index - 1].home == point.home) return change_text(points[index - 1], point);
    const Home& home = homes_[point.home];
    const NamedExample* example = example_with_note(home.content.note);
    const std::string name = example ? example->name : std::filesystem::path(home.file).filename().string();
    return (index == 0 ? "start" : "opened") + (name.empty() ? "" : " " + name);
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
    leave_run();
    session_ = with_existing_parts(std::move(session));
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
        home.content = with_existing_parts(std::move(*content));
    else
        home.file.clear();
}

const std::string& Document::why_unused(const Option& option) {
    const auto [known, is_new] = unused_.try_emplace(&option);
    if (is_new) known->second = attnscope::why_unused(option, experiment());
    return known->second;
}

const std::vector<OfferedComparison>& Document::comparisons() {
    if (!comparisons_) comparisons_ = offered_comparisons(session_);
    return *comparisons_;
}

void Document::session_changed() {
    unused_.clear();
    comparisons_.reset();
    if (follows_run_ && !is_of_run()) leave_run();
    if (is_of_run()) run_.trainer().film(untrained(session_.experiment));
    if (variation_) show_beside();
    const int step = experiment().training.step;
    // Back to another step by undo.
    if (!follows_run_ && beside() && training_beside().parameters && training_beside().step != step)
        run_b_->trainer().go_to(step);
    prepare();
    ask(SlotName::live, session_.experiment);
    show_pinned();
}

namespace {

/// Whether a view draws one head of each stage, or their mean.
bool draws_one_head(ViewKind view) {
    return view == ViewKind::pipeline || view == ViewKind::compare || view == ViewKind::step;
}

/// The only stage that is watched, one of pairs; nullptr: others are, too. The pipeline, which is shown
/// where there is nothing for another view, draws those that lead to it; the status bar tells of the focused
/// stage, the inspector of the locked one, and with something pinned all are compared.
const StageInfo* watched_stage(const Trace& trace, const Session& session) {
    const Presentation& shown = session.presentation;
    const Stage* stage = nullptr;
    if (shown.view == ViewKind::heads) stage = &surveyed_stage(trace, shown);
    if (shown.view == ViewKind::lines) stage = lines_stage(trace, shown.stage);
    if (!stage || !is_of_pairs(*stage->info) || session.pinned) return nullptr;
    const bool locks_another = shown.locked && shown.locked_stage().stage != stage->info;
    return locks_another || focused_stage(trace, shown.stage).info != stage->info ? nullptr : stage->info;
}

}  // namespace

/// Makes traces ready to draw as the session presents them.
void Document::prepare() {
    const Presentation& shown = session_.presentation;
    const Slot* live = slot(SlotName::live);
    WantedPictures pictures{
        .percentiles = shown.range.kind == RangeChoice::Kind::percentile,
        .other_heads = !draws_one_head(shown.view),
        .stage = live && live->trace ? watched_stage(*live->trace, session_) : nullptr,
    };
    const auto prepare_for = [&](SlotName slot, const HeadChoice& head) {
        pictures.head = head;
        worker_.prepare_for(slot, pictures, shown.wants_gradients());
    };
    prepare_for(SlotName::live, shown.head);
    just_changed_ |= live && live->trace && !follows_run_ && !is_ready(*live->trace, pictures);
    prepare_for(SlotName::beside, shown.head);
    if (session_.pinned) prepare_for(SlotName::pinned, session_.pinned->head);
}

/// Gives a slot an experiment, unless it has it already.
void Document::ask(SlotName name, const Experiment& experiment, bool on_cpu) {
    std::optional<Slot>& slot = open_slot(name);
    if (slot && slot->experiment == experiment && slot->on_cpu == on_cpu) return;
    if (!slot) slot.emplace();
    if (std::exchange(slot->on_cpu, on_cpu) != on_cpu) slot->trace.reset();  // the same, from elsewhere
    slot->experiment = experiment;
    slot->problem.clear();
    worker_.request(name, experiment, on_cpu);
    just_changed_ |= name == SlotName::live && !follows_run_;
}

void Document::close(SlotName name) {
    if (!slot(name)) return;
    open_slot(name).reset();
    forget_proofs();
    worker_.close(name);
}

void Document::show_pinned() {
    if (session_.pinned)
        ask(SlotName::pinned, session_.pinned->experiment, session_.pinned->on_cpu);
    else
        close(SlotName::pinned);
    ask_for_shown();
}

/// Requests what the shown view asks for besides the trace.
void Document::ask_for_shown() {
    compare();
    survey_heads();
    sweep();
    find_lines();
}

/// Requests the values of the swept setting while the sweep view is open; if no setting was chosen, of the
/// seed.
void Document::sweep() {
    const Presentation& shown = session_.presentation;
    if (shown.view != ViewKind::sweep || is_long(trace())) return sweeper_.forget();
    if (!trace()) return;
    Session of = session_;
    // Only the stage and the head of the presentation matter.
    of.presentation = {};
    of.presentation.stage = shown.stage;
    of.presentation.head = shown.head;
    of.note.clear();
    of.pinned.reset();
    sweeper_.request({std::move(of), chosen_sweep(session_), swept_count(chosen_sweep(session_))});
}

/// Requests the scores of the heads of the stage in focus, or of the main stage if that has none, while the
/// heads view is open.
void Document::survey_heads() {
    const Presentation& shown = session_.presentation;
    if (shown.view != ViewKind::heads || is_long(trace())) return surveyor_.forget();
    if (!trace()) return;
    const Stage& stage = surveyed_stage(*trace(), shown);
    surveyor_.request(
        {trace(), stage.info, {stage.layer, head_on_screen(stage, shown.head).index()}, compares_heads_});
}

void Document::compare_heads(bool pairs) {
    if (std::exchange(compares_heads_, pairs) != pairs) survey_heads();
}

void Document::draw_lines_of(std::vector<int> heads) {
    if (heads == heads_with_lines_) return;
    heads_with_lines_ = std::move(heads);
    find_lines();
}

void Document::find_lines() {
    const Presentation& shown = session_.presentation;
    if (shown.view != ViewKind::lines || is_long(trace())) return line_finder_.forget();
    const Stage* stage = trace() ? lines_stage(*trace(), shown.stage) : nullptr;
    if (!stage) return;
    std::vector<int> heads = heads_with_lines_;
    std::erase_if(heads, [&](int head) { return head >= stage->shape().heads; });
    if (heads.empty()) heads = {head_on_screen(*stage, shown.head).index()};
    line_finder_.request({trace(), trace()->stage(stage->key()), std::move(heads), shown.mass});
}

/// The overview that the stage in focus needs; nullopt: none.
std::optional<OverviewRequest> Document::overview_of_shown() const {
    if (!is_long(trace())) return std::nullopt;
    const StagePtr stage = trace()->stage(focused_stage(*trace(), session_.presentation.stage).key());
    if (!stage->buffer.on_demand() || !is_of_pairs(*stage->info)) return std::nullopt;
    return OverviewRequest{stage, head_on_screen(*stage, session_.presentation.head).index()};
}

std::optional<Document::Overview> Document::overview_on_screen() {
    const std::optional<OverviewRequest> shown = overview_of_shown();
    if (!shown) return std::nullopt;
    const auto& [stage, head] = *shown;
    if (is_surveyed(*shown)) return Overview{.has_preview = true, .is_surveyed = true};
    return Overview{.has_preview =
                        tile_maker_.find(preview_of(stage, head, session_.presentation)) != nullptr};
}

/// Requests the overview of the stage in focus, if it is computed on demand.
void Document::overview() {
    const std::optional<OverviewRequest> shown = overview_of_shown();
    if (!shown) return overview_maker_.forget();
    const auto& [stage, head] = *shown;
    // A survey takes all cores for a while: first there is something to show. One of what is no longer shown
    // ends.
    if (overview_maker_.busy() && overview_maker_.asked() != OverviewRequest{stage, head}) {
        overview_maker_.forget();
        tile_maker_.begin_frame(false);
    }
    const bool is_canceled = without_overview_.lock() == stage && head_without_overview_ == head;
    if (!is_canceled) without_overview_.reset();
    if (!is_canceled && tile_maker_.find(preview_of(stage, head, session_.presentation)))
        overview_maker_.request({stage, head});
}

void Document::cancel_overview() {
    const std::optional<OverviewRequest> asked = overview_maker_.asked();
    if (!asked) return;
    without_overview_ = asked->stage;
    head_without_overview_ = asked->head;
    overview_maker_.forget();
}

/// Requests the strongest links of the matrix in focus.
void Document::find_links() {
    if (stopping_) return;
    if (!trace() || session_.presentation.view != ViewKind::pipeline) return link_finder_.forget();
    const StagePtr stage = trace()->stage(focused_stage(*trace(), session_.presentation.stage).key());
    const HeadChoice choice = head_on_screen(*stage, session_.presentation.head);
    const int head = choice.index();
    // What is known of a long text is large, and is let go with its trace.
    const OnDemandValues* values = stage->buffer.on_demand();
    const LinksRequest request{trace(), stage, head};
    if (values && links() && links()->of != request) link_finder_.forget();
    const Buffer* mean = stage->buffer.known_mean();
    if (values && head < 0) values = mean ? mean->on_demand() : nullptr;
    const bool is_known = !stage->buffer.on_demand() || (values && values->is_surveyed(std::max(head, 0)));
    if (!is_of_pairs(*stage->info) || stage->info->unit == Unit::boolean ||
        !why_not_shown(*stage, choice).empty())
        return link_finder_.forget();
    if (is_known) link_finder_.request(request);
}

/// Requests the comparison of the two shown traces, if there are two.
void Document::compare() {
    const Slot* pinned = slot(SlotName::pinned);
    if (!pinned || is_long(trace()) || is_long(pinned->trace)) return comparer_.forget();
    if (!pinned->trace || !trace()) return;
    const Presentation& shown = session_.presentation;
    comparer_.request({{pinned->trace, session_.pinned->head, session_.pinned->layer},
                       {trace(), shown.head, shown.layer()},
                       focused_stage(*trace(), shown.stage).key()});
}

const Slot* Document::slot(SlotName name) const {
    const std::optional<Slot>& slot = slots_[static_cast<std::size_t>(name)];
    return slot ? &*slot : nullptr;
}

bool Document::next_update_waits() const {
    const Slot* live = slot(SlotName::live);
    return just_changed_ && live && live->trace && patience_.will_wait();
}

void Document::wait_for_view(std::chrono::steady_clock::time_point deadline) {
    const auto wait_for = [&](const auto& finder) {
        if (finder.busy() && view_patience_.waits()) view_patience_.waited(finder.wait_until(deadline));
    };
    switch (session_.presentation.view) {
        case ViewKind::heads: return wait_for(surveyor_);
        case ViewKind::lines: return wait_for(line_finder_);
        case ViewKind::compare: return wait_for(comparer_);
        default: return;
    }
}

bool Document::update() {
    const Slot* live = slot(SlotName::live);
    const auto deadline = std::chrono::steady_clock::now() + longest_wait_;
    const bool waits = std::exchange(just_changed_, false) && live && live->trace && patience_.waits();
    const bool evaluated = waits && worker_.wait_for(SlotName::live, longest_wait_);
    if (waits) patience_.waited(evaluated);
    tile_maker_.begin_frame(overview_maker_.busy());
    bool news = run_.update();
    if (news) follow_run();
    if (run_b_ && run_b_->update()) {
        show_beside();
        news = true;
    }
    while (std::optional<WorkResult> result = worker_.take()) {
        take(std::move(*result));
        news = true;
    }
    if (news) {
        prepare();
        ask_for_shown();
    }
    if (evaluated) wait_for_view(deadline);
    overview();
    find_links();
    const bool compared = comparer_.update(), surveyed = surveyor_.update(), swept = sweeper_.update(),
               found = line_finder_.update(), linked = link_finder_.update(), seen = overview_maker_.update(),
               made = tile_maker_.update();
    if (linked || seen || made) tell_trouble();
    return news || compared || surveyed || swept || found || linked || seen || made;
}

/// What the card failed to compute after the evaluation, once.
void Document::tell_trouble() {
    const std::shared_ptr<Backend> card = worker_.card();
    std::string trouble = card ? card->complaint() : "";
    if (trouble != told_ && !trouble.empty()) notice_ = trouble;
    told_ = std::move(trouble);
}

void Document::take(WorkResult result) {
    if (!result.notice.empty()) notice_ = told_ = std::move(result.notice);
    Slot& slot = open_slot(result.slot).value();
    if (result.trace) {
        slot.trace = std::move(result.trace);
        forget_proofs();
        if (!slot.stale()) slot.problem.clear();
    } else if (result.experiment == slot.experiment) {
        slot.problem = std::move(result.error);
    }
}

const Proof& Document::proof(const Stage& stage, int head, const Cell& cell, SlotName name) {
    AskedProof asked{slot(name)->trace, &stage, head, cell};
    const auto known = std::ranges::find(proofs_, asked, &KeptProof::of);
    if (known != proofs_.end()) {
        std::rotate(proofs_.begin(), known, known + 1);
        return *proofs_.front().proof;
    }
    constexpr std::size_t k_kept = 4;  // a comparison shows those of A and B, and of their rivals
    auto proof = std::make_unique<const Proof>(explain(*asked.trace, stage, head, cell.row, cell.column));
    proofs_.push_front({std::move(asked), std::move(proof)});
    if (proofs_.size() > k_kept) proofs_.pop_back();
    return *proofs_.front().proof;
}

const RowSteps& Document::steps_of_row(const Stage& weights, int head, int row) {
    const std::shared_ptr<const Trace>& trace = slot(SlotName::live)->trace;
    const bool known = row_ && row_->trace == trace && row_->weights == &weights &&
                       row_->steps.head == head && row_->steps.row == row;
    if (!known) row_ = KeptRow{trace, &weights, row_steps(*trace, weights, head, row)};
    return row_->steps;
}

/// What they refer to may be large.
void Document::forget_proofs() {
    proofs_.clear();
    row_.reset();
}

void Document::leave_card(const std::string& why) {
    for (std::optional<Slot>& slot : slots_)
        if (slot) slot->trace.reset();
    comparer_.forget();
    surveyor_.forget();
    sweeper_.forget();
    line_finder_.forget();
    link_finder_.forget();
    overview_maker_.forget();
    forget_proofs();
    notice_ = fallback_notice(why);
    worker_.leave_card(why);
}

void Document::settle() {
    if (plays_on_) pause();
    run_.trainer().wait();
    update();
    if (run_b_) run_b_->trainer().wait();
    update();
    worker_.wait();
    update();
    comparer_.wait();
    surveyor_.wait();
    sweeper_.wait();
    line_finder_.wait();
    tile_maker_.wait();
    update();
    overview_maker_.wait();
    update();
    link_finder_.wait();
    update();
    tile_maker_.wait();
    update();
}

}  // namespace attnscope
