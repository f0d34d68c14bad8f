#include "app/document/trainer.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <utility>

#include "app/document/readiness.h"
#include "core/canceled.h"
#include "core/error.h"
#include "core/mechanism/evaluate.h"

namespace attnscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds k_longest_end{500};
constexpr std::chrono::milliseconds k_between_news{10}, k_between_films{300};
constexpr int k_frames = 9;

std::vector<WeightsChange> changes_of_weights(const Trace& before, const Trace& after) {
    std::vector<WeightsChange> changes;
    for (const StageRecord& record : before.records) {
        const Stage& stage = *record.stage;
        StagePtr later = after.stage(stage.key());
        if (stage.info->role != StageRole::weights || !later || later->shape() != stage.shape()) continue;
        Tensor change(stage.shape());
        std::ranges::transform(later->buffer.host().values(), stage.buffer.host().values(),
                               change.values().begin(), std::minus());
        Buffer buffer(std::move(change));
        for (int head = 0; head < stage.shape().heads; ++head) buffer.range(head);
        changes.push_back(
            {record.stage, std::move(later),
             std::make_shared<const Stage>(StageKey{stage.info, stage.layer, StageKey::Part::gradient},
                                           std::move(buffer))});
    }
    return changes;
}

using AblatedHeads = std::pair<std::vector<HeadPlace>, Ablation>;

AblatedHeads ablation_of(const std::optional<Experiment>& experiment) {
    if (!experiment) return {};
    return {experiment->attention.ablated, experiment->attention.ablation};
}

/// How a computation ended: done, canceled, or with a problem.
struct Outcome {
    bool done = true;
    std::string problem = {};
};

}  // namespace

std::vector<int> film_steps(int last, int count) {
    std::vector<int> steps;
    for (int i = 0; i < count; ++i) {
        const double share = count > 1 ? static_cast<double>(i) / (count - 1) : 1;
        const int step = static_cast<int>(std::lround(last * share * share));
        if (steps.empty() || step > steps.back()) steps.push_back(step);
    }
    return steps;
}

/// What the trainer shares with its thread, under its lock, which is held but while something is computed.
/// The run itself belongs to the thread.
class Trainer::Shared {
public:
    Shared(int threads, std::function<void()> wake) : threads_(threads), wake_(std::move(wake)) {}

    void run() {
        std::unique_lock lock(mutex_);
        while (!stop_) {
            if (to_begin_)
                begin_one(lock);
            else if (moves())
                move(lock);
            else if (goal_ || now_.moving)
                rest();
            else if (needs_measure())
                measure(lock);
            else if (film_is_old())
                make_film(lock);
            else if (needs_changes())
                find_changes(lock);
            else
                changed_.wait(lock);
        }
        stopped_ = true;
        changed_.notify_all();
    }

    int begin(Experiment experiment) {
        const std::lock_guard lock(mutex_);
        to_begin_ = std::move(experiment);
        start_.reset();
        goal_.reset();
        shown_.reset();
        records_.clear();
        now_ = {.run = now_.run + 1};
        ++version_;
        interrupt();
        return now_.run;
    }
    void aim(std::optional<int> start, int goal) {
        const std::lock_guard lock(mutex_);
        start_ = start;
        goal_ = goal;
        plays_ = start.has_value();
        now_.moving = true;
        if (run_ || to_begin_) now_.problem.clear();  // else it still says why there is no run
        ++version_;
        interrupt();
    }
    void pause() {
        const std::lock_guard lock(mutex_);
        start_.reset();
        goal_.reset();  // it rests, and says so, where the step that it takes has ended
        interrupt();
    }
    void film(Experiment shown) {
        const std::lock_guard lock(mutex_);
        if (shown_ && *shown_ == shown) return;
        const bool has_other_heads = ablation_of(shown_) != ablation_of(shown);
        if (has_other_heads) now_.measured.reset();
        shown_ = std::move(shown);
        filmed_.reset();
        changes_known_ = false;
        changed_.notify_all();
    }

    bool update(TrainingProgress& known) {
        const std::lock_guard lock(mutex_);
        if (version_ == taken_) return false;
        taken_ = version_;
        std::vector<StepRecord> records =
            known.run == now_.run ? std::move(known.records) : std::vector<StepRecord>();
        records.insert(records.end(), records_.begin() + std::ssize(records), records_.end());
        known = now_;
        known.records = std::move(records);
        return true;
    }
    void wait() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] {
            const bool rests = !to_begin_ && !goal_ && !computes_ && !now_.moving;
            return stopped_ || (rests && !needs_measure() && !film_is_old() && !needs_changes());
        });
    }
    void stop() {
        const std::lock_guard lock(mutex_);
        stop_ = true;
        interrupt();
    }
    bool stopped() const {
        const std::lock_guard lock(mutex_);
        return stopped_;
    }
    bool has_ended() {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, k_longest_end, [&] { return stopped_; });
    }

private:
    void interrupt() {
        cancel_.request_stop();
        cancel_ = {};
        changed_.notify_all();
    }
    void tell() {
        ++version_;
        changed_.notify_all();
        if (wake_) wake_();
    }
    void rest() {
        goal_.reset();
        start_.reset();
        now_.moving = false;
        tell();
    }
    void fail(std::string why) {
        now_.problem = std::move(why);
        rest();
    }
    bool moves() const { return run_ && goal_ && (start_ || *goal_ != run_->step()); }
    bool needs_measure() const { return run_ && !now_.measured && now_.problem.empty(); }
    bool needs_changes() const { return run_ && shown_ && !changes_known_ && now_.problem.empty(); }
    bool film_is_old() const { return run_ && shown_ && filmed_ != std::ssize(records_); }

    /// Computes without the lock. What belongs to a run that another one has replaced meanwhile counts as
    /// canceled.
    template <typename Compute>
    Outcome unlocked(std::unique_lock<std::mutex>& lock, const Compute& compute) {
        const std::stop_token cancel = cancel_.get_token();
        computes_ = true;
        lock.unlock();
        Outcome outcome;
        try {
            compute(cancel);
        } catch (const Canceled&) {
            outcome.done = false;
        } catch (const std::exception& error) {
            outcome = {false, problem_text(error)};
        }
        lock.lock();
        computes_ = false;
        changed_.notify_all();
        return to_begin_ ? Outcome{false} : outcome;
    }

    void begin_one(std::unique_lock<std::mutex>& lock) {
        const Experiment experiment = std::move(*std::exchange(to_begin_, std::nullopt));
        run_.reset();
        filmed_.reset();
        std::unique_ptr<TrainingRun> begun;
        const Outcome outcome = unlocked(lock, [&](const std::stop_token&) {
            begun = std::make_unique<TrainingRun>(experiment, threads_);
        });
        if (!outcome.problem.empty()) return fail(outcome.problem);
        if (to_begin_) return;
        run_ = std::move(begun);
        now_.start = run_->start();
        if (take_state(lock)) tell();
    }

    /// Goes to the step to start from, or on toward the goal: at once if it was taken before, else by one
    /// step.
    void move(std::unique_lock<std::mutex>& lock) {
        const int aim = start_.value_or(*goal_);
        const bool was_taken = aim <= std::ssize(records_);
        const int next = was_taken && (!is_playing() || aim < run_->step()) ? aim : run_->step() + 1;
        const Outcome outcome =
            unlocked(lock, [&](const std::stop_token& cancel) { run_->go_to(next, cancel); });
        if (!take_state(lock)) return;
        if (!outcome.problem.empty()) return fail(outcome.problem);
        if (start_ == run_->step()) start_.reset();
        if (Clock::now() - told_ < k_between_news && moves()) return;
        told_ = Clock::now();
        tell();
        if (film_is_old() && Clock::now() - last_film_ > k_between_films) make_film(lock);
    }
    /// Whether each step on the way is to be shown.
    bool is_playing() const { return plays_ && !start_; }

    /// Publishes the step at which the run stands. Copies the learned parameters without the lock; false if
    /// another run replaced it meanwhile.
    bool take_state(std::unique_lock<std::mutex>& lock) {
        std::shared_ptr<const Parameters> parameters;
        unlocked(lock, [&](const std::stop_token&) {
            parameters = std::make_shared<const Parameters>(run_->parameters());
        });
        if (to_begin_) return false;
        now_.step = run_->step();
        now_.parameters = std::move(parameters);
        now_.measured.reset();
        now_.changes.clear();
        changes_known_ = false;
        records_.insert(records_.end(), run_->records().begin() + std::ssize(records_),
                        run_->records().end());
        return true;
    }

    void measure(std::unique_lock<std::mutex>& lock) {
        Measurement measured;
        const auto [heads, to] = ablation_of(shown_ ? *shown_ : run_->start());
        const Outcome outcome = unlocked(lock, [&, heads = heads, to = to](const std::stop_token& cancel) {
            measured = run_->measure_without(heads, to, cancel);
        });
        if (!outcome.problem.empty()) return fail(outcome.problem);
        if (!outcome.done || ablation_of(shown_ ? *shown_ : run_->start()) != std::pair(heads, to)) return;
        now_.measured = std::move(measured);
        tell();
    }

    /// Frames at steps whose parameters are kept, so that the run stays where it is. A sentence that cannot
    /// be computed has none; the worker says why.
    void make_film(std::unique_lock<std::mutex>& lock) {
        const Experiment shown = *shown_;
        const auto last = static_cast<int>(records_.size());
        std::vector<FilmFrame> frames;
        const Outcome outcome = unlocked(lock, [&](const std::stop_token& cancel) {
            for (const int step : film_steps(last, k_frames)) {
                const auto [kept, parameters] = run_->kept_near(step);
                if (!frames.empty() && frames.back().step == kept) continue;
                auto trace =
                    std::make_shared<const Trace>(evaluate(with_step(shown, run_->start(), *parameters, kept),
                                                           {}, {.threads = threads_, .cancel = cancel}));
                make_ready(*trace, {}, cancel);
                frames.push_back({kept, std::move(trace)});
            }
        });
        last_film_ = Clock::now();
        const bool was_canceled = !outcome.done && outcome.problem.empty();
        if (was_canceled || !shown_ || *shown_ != shown) return;
        if (!outcome.problem.empty()) frames.clear();
        filmed_ = last;
        now_.film = std::move(frames);
        tell();
    }

    /// Computes how the next step would change the attention weights. There are no changes if the step cannot
    /// be taken or the sentence cannot be computed.
    void find_changes(std::unique_lock<std::mutex>& lock) {
        const Experiment shown = *shown_;
        std::vector<WeightsChange> changes;
        const Outcome outcome = unlocked(lock, [&](const std::stop_token& cancel) {
            const auto trace_at = [&](const Parameters& parameters, int step) {
                return evaluate(with_step(shown, run_->start(), parameters, step), {},
                                {.threads = threads_, .cancel = cancel});
            };
            const Trace next = trace_at(run_->next_parameters(cancel), run_->step() + 1);
            changes = changes_of_weights(trace_at(run_->parameters(), run_->step()), next);
        });
        const bool was_canceled = !outcome.done && outcome.problem.empty();
        if (was_canceled || !shown_ || *shown_ != shown) return;
        changes_known_ = true;
        now_.changes = std::move(changes);
        tell();
    }

    int threads_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::function<void()> wake_;
    std::stop_source cancel_;
    std::optional<Experiment> to_begin_, shown_;
    std::optional<int> start_, goal_;  ///< where steps are taken from, and to
    std::optional<int> filmed_;        ///< how many records there were
    std::unique_ptr<TrainingRun> run_;
    TrainingProgress now_;  ///< without its records
    std::vector<StepRecord> records_;
    std::size_t version_ = 0, taken_ = 0;
    Clock::time_point told_, last_film_;
    bool changes_known_ = false;
    bool plays_ = false, computes_ = false, stop_ = false, stopped_ = false;
};

Trainer::Trainer(int threads, std::function<void()> wake)
    : shared_(std::make_shared<Shared>(threads, std::move(wake))) {
    thread_ = std::thread([shared = shared_] { shared->run(); });
}

Trainer::~Trainer() {
    stop();
    shared_->has_ended() ? thread_.join() : thread_.detach();
}

int Trainer::begin(Experiment experiment) { return shared_->begin(std::move(experiment)); }
void Trainer::play(int from, int to) { shared_->aim(from, to); }
void Trainer::go_to(int step) { shared_->aim(std::nullopt, step); }
void Trainer::pause() { shared_->pause(); }
void Trainer::film(Experiment shown) { shared_->film(std::move(shown)); }
bool Trainer::update(TrainingProgress& known) { return shared_->update(known); }
void Trainer::wait() const { shared_->wait(); }
void Trainer::stop() { shared_->stop(); }
bool Trainer::stopped() const { return shared_->stopped(); }

}  // namespace attnscope
