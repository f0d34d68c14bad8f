#include "app/document/worker.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stop_token>
#include <utility>

#include "app/document/overview_maker.h"
#include "app/document/readiness.h"
#include "core/error.h"
#include "core/graph/backend.h"
#include "core/graph/gradient.h"
#include "core/graph/trace.h"
#include "core/mechanism/evaluate.h"
#include "core/mechanism/mechanisms.h"
#include "core/picture/shown_matrix.h"
#include "core/session/applies.h"
#include "core/text/tokenizer.h"

namespace attnscope {
namespace {

/// Whether every sentence that is read has words. An empty one, first or second, is common while typing.
bool has_words(const Experiment& e) {
    const Tokenizer& tokenizer = tokenizer_of(e.input.tokenizer);
    const auto is_read = [&](OptionName name) { return why_unused(option_named(name), e).empty(); };
    const auto blank = [&](const std::string& text) { return !has_tokens(text, tokenizer); };
    return !(is_read("text") && blank(e.input.text)) &&
           !(is_read("text2") && !e.input.text2.empty() && blank(e.input.text2));
}

/// What the window shows of traces.
struct Wanted {
    WantedPictures pictures = {};
    bool gradients = false;
    bool operator==(const Wanted&) const = default;
};

/// What evaluate() is to find out and to keep; gradients read all.
Watched watched(const Wanted& wanted) {
    Watched result{.ranges = true};
    if (wanted.gradients) return result;
    const WantedPictures& pictures = wanted.pictures;
    result.stage = pictures.stage;
    if (pictures.head.kind == HeadChoice::Kind::one && !pictures.other_heads)
        result.head = pictures.head.head;
    return result;
}

/// Gradients that are wanted and can be computed.
bool lacks_gradients(const Trace& trace, const Wanted& wanted) {
    return wanted.gradients && trace.gradients.empty() && why_no_gradients(trace).empty();
}

/// Whether an evaluation is to compute what was not watched before.
bool is_waiting(const Trace& trace, const Wanted& wanted) {
    const StageInfo* const stage = watched(wanted).stage;
    return std::ranges::any_of(trace.records, [&](const StageRecord& record) {
        return record.stage->buffer.is_waiting() && (!stage || record.stage->info == stage);
    });
}

/// The trace with what waited in it; the trace itself, whose stages are then computed one by one, if there is
/// no memory for what evaluate() wants. Throws what else evaluate() throws.
std::shared_ptr<const Trace> evaluated_again(const std::shared_ptr<const Trace>& trace,
                                             const EvaluateOptions& options) {
    try {
        return std::make_shared<const Trace>(evaluate(trace->experiment, *trace, options));
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::too_large) throw;
        return trace;
    }
}

bool is_ready(const Trace& trace, const Wanted& wanted) {
    return !lacks_gradients(trace, wanted) && is_ready(trace, wanted.pictures);
}

/// Computes gradients that are wanted; returns what to tell the user if they do not fit in memory.
std::string add_gradients(Trace& trace, const Wanted& wanted, const std::stop_token& cancel) {
    if (!lacks_gradients(trace, wanted)) return "";
    try {
        trace.gradients = gradients(trace, cancel);
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::too_large) throw;
        return error.what();
    }
    return "";
}

/// Evaluates; without a trace if there are no words yet. Throws Error(backend) and what else evaluate()
/// throws, except Canceled.
WorkResult evaluate_one(SlotName slot, const Experiment& experiment, const Trace& previous,
                        const EvaluateOptions& options, const Wanted& wanted) {
    WorkResult result{.slot = slot, .experiment = experiment};
    try {
        result.words = has_words(experiment);
        if (!result.words) return result;
        auto trace = std::make_shared<Trace>(evaluate(experiment, previous, options));
        result.notice = add_gradients(*trace, wanted, options.cancel);
        make_ready(*trace, wanted.pictures, options.cancel);
        result.trace = std::move(trace);
    } catch (const Canceled&) {
    }
    return result;
}

/// Only GPU errors are passed on: the processor may succeed.
WorkResult evaluate_or_say(SlotName slot, const Experiment& experiment, const Trace& previous,
                           const EvaluateOptions& options, const Wanted& wanted) {
    const auto failed = [&](std::string why) {
        return WorkResult{.slot = slot, .experiment = experiment, .error = std::move(why)};
    };
    try {
        return evaluate_one(slot, experiment, previous, options, wanted);
    } catch (const Error& error) {
        const bool cards = error.kind() == ErrorKind::backend || error.kind() == ErrorKind::too_large;
        if (options.backend && cards) throw;
        return failed(error.what());
    } catch (const std::exception& error) {
        return failed(problem_text(error, "for this experiment"));
    }
}

}  // namespace

/// What the worker shares with its thread, and all that happens under its lock, which is held throughout,
/// except while something is computed.
class Worker::Shared {
public:
    Shared(EvaluateOptions options, std::function<void()> wake, std::chrono::milliseconds moment)
        : options_(std::move(options)), wake_(std::move(wake)), moment_(moment) {}

    void run();
    void stop();
    bool stopped() const;
    /// Waits until run() has returned; false if it did not within k_longest_end.
    bool has_ended() const;
    void request(SlotName slot, Experiment experiment, bool on_cpu);
    void close(SlotName slot);
    void compute_on(std::function<BackendChoice()> choose, bool at_once);
    void leave_card(const std::string& why);
    void prepare_for(SlotName slot, const Wanted& wanted);
    void compute_again();
    BackendReport backend() const;
    std::shared_ptr<Backend> card() const;
    std::optional<WorkResult> take();
    bool busy(SlotName slot) const;
    void wait() const;
    bool wait_for(SlotName slot, std::chrono::milliseconds limit) const;

private:
    using Clock = std::chrono::steady_clock;

    struct Work {
        std::optional<Experiment> asked = {};
        std::optional<Experiment> newest = {};  ///< ever requested
        std::optional<WorkResult> result = {};
        std::shared_ptr<const Trace> previous = std::make_shared<const Trace>();
        int forgotten = 0;      ///< how often `previous` had to be dropped
        bool prepares = false;  ///< `previous` is not ready to draw for `wanted`
        Wanted wanted = {};
        bool on_cpu = false;         ///< whatever computes the others
        Input words = {};            ///< of the newest result
        Clock::duration slowest{0};  ///< evaluation of these words

        void forget_trace() {
            previous = std::make_shared<const Trace>();
            prepares = false;
            ++forgotten;
        }
    };

    Work& work(SlotName slot) { return work_[static_cast<std::size_t>(slot)]; }
    const Work& work(SlotName slot) const { return work_[static_cast<std::size_t>(slot)]; }
    std::optional<SlotName> next() const;
    bool idle() const { return !next() && !running_ && !choose_ && !choosing_; }
    void choose(std::unique_lock<std::mutex>& lock);
    bool evaluate(std::unique_lock<std::mutex>& lock, SlotName slot);
    bool prepare(std::unique_lock<std::mutex>& lock, SlotName slot);
    WorkResult evaluate_newest(std::unique_lock<std::mutex>& lock, SlotName slot);
    EvaluateOptions options_for(const Wanted& wanted, Backend* card) const;
    void forget_traces();
    void use_processor(const std::string& why);
    bool ends_soon(SlotName slot) const;
    void cancel_if_late();
    void ask_again(SlotName slot);
    void ask_all_again();

    EvaluateOptions options_;
    std::function<void()> wake_;
    std::chrono::milliseconds moment_;
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    std::array<Work, k_slots.size()> work_;   ///< by SlotName
    std::optional<SlotName> running_;         ///< being evaluated
    SlotName latest_ = k_slots.back();        ///< evaluated last; the others have precedence, in turns
    std::stop_source cancel_;                 ///< of what is running
    std::optional<Clock::time_point> began_;  ///< the evaluation that is running
    Input running_words_;                     ///< of that evaluation
    bool choosing_ = false;
    std::function<BackendChoice()> choose_;
    bool choose_at_once_ = false;
    std::string notice_;             ///< to be added to the next result
    std::shared_ptr<Backend> card_;  ///< nullptr: the processor computes
    BackendReport report_;
    bool stopping_ = false;
    bool stopped_ = false;
};

void Worker::Shared::stop() {
    const std::lock_guard lock(mutex_);
    cancel_.request_stop();
    stopping_ = true;
    changed_.notify_all();
}

bool Worker::Shared::stopped() const {
    const std::lock_guard lock(mutex_);
    return stopped_;
}

bool Worker::Shared::has_ended() const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, k_longest_end, [&] { return stopped_; });
}

void Worker::Shared::request(SlotName slot, Experiment experiment, bool on_cpu) {
    const std::lock_guard lock(mutex_);
    if (std::exchange(work(slot).on_cpu, on_cpu) != on_cpu) work(slot).forget_trace();
    const bool waits = running_ == slot && ends_soon(slot);
    work(slot).newest = std::move(experiment);
    if (!waits) return ask_again(slot);
    work(slot).asked = work(slot).newest;
    changed_.notify_all();
}

void Worker::Shared::close(SlotName slot) {
    const std::lock_guard lock(mutex_);
    work(slot) = {.forgotten = work(slot).forgotten + 1, .wanted = work(slot).wanted};
    if (running_ == slot) cancel_.request_stop();
    changed_.notify_all();
}

void Worker::Shared::compute_on(std::function<BackendChoice()> choose, bool at_once) {
    const std::lock_guard lock(mutex_);
    choose_ = std::move(choose);
    choose_at_once_ = at_once;
    if (at_once && running_) ask_again(*running_);
    changed_.notify_all();
}

void Worker::Shared::leave_card(const std::string& why) {
    const std::lock_guard lock(mutex_);
    use_processor(why);
    ask_all_again();
}

void Worker::Shared::prepare_for(SlotName slot, const Wanted& wanted) {
    const std::lock_guard lock(mutex_);
    if (std::exchange(work(slot).wanted, wanted) == wanted) return;
    work(slot).prepares = !is_ready(*work(slot).previous, wanted);
    changed_.notify_all();
}

void Worker::Shared::compute_again() {
    const std::lock_guard lock(mutex_);
    forget_traces();
    ask_all_again();
}

std::optional<WorkResult> Worker::Shared::take() {
    const std::lock_guard lock(mutex_);
    cancel_if_late();
    for (Work& each : work_)
        if (each.result) return std::exchange(each.result, std::nullopt);
    return std::nullopt;
}

bool Worker::Shared::busy(SlotName slot) const {
    const std::lock_guard lock(mutex_);
    return work(slot).asked || work(slot).prepares || running_ == slot || choose_ || choosing_;
}

BackendReport Worker::Shared::backend() const {
    const std::lock_guard lock(mutex_);
    return report_;
}

std::shared_ptr<Backend> Worker::Shared::card() const {
    const std::lock_guard lock(mutex_);
    return card_;
}

void Worker::Shared::wait() const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return idle(); });
}

bool Worker::Shared::wait_for(SlotName slot, std::chrono::milliseconds limit) const {
    std::unique_lock lock(mutex_);
    const Work& own = work(slot);
    return changed_.wait_for(lock, limit, [&] { return !own.asked && !own.prepares && running_ != slot; });
}

/// Whether the running evaluation is expected to end within a moment, judged by the slowest of the same
/// words; never that of a card, which may hang.
bool Worker::Shared::ends_soon(SlotName slot) const {
    const Work& own = work(slot);
    return began_ && (own.on_cpu || !card_) && own.words == running_words_ && own.slowest < moment_ &&
           Clock::now() - *began_ < moment_;
}

/// Cancels what is running if it takes long while a later request waits.
void Worker::Shared::cancel_if_late() {
    if (running_ && began_ && work(*running_).asked && Clock::now() - *began_ > moment_)
        cancel_.request_stop();
}

/// The lock is held throughout, except while something is computed.
void Worker::Shared::ask_again(SlotName slot) {
    work(slot).asked = work(slot).newest;
    if (running_ == slot) cancel_.request_stop();
    changed_.notify_all();
}

void Worker::Shared::ask_all_again() {
    for (const SlotName slot : k_slots)
        if (work(slot).newest) ask_again(slot);
}

/// The slot to work on next.
std::optional<SlotName> Worker::Shared::next() const {
    const auto latest = static_cast<std::size_t>(latest_);
    for (std::size_t after = 1; after <= k_slots.size(); ++after) {
        const SlotName slot = k_slots[(latest + after) % k_slots.size()];
        if (work(slot).asked || work(slot).prepares) return slot;
    }
    return std::nullopt;
}

/// Nothing is reused from what was computed so far, or is being computed.
void Worker::Shared::forget_traces() {
    for (Work& each : work_) each.forget_trace();
}

void Worker::Shared::use_processor(const std::string& why) {
    card_.reset();
    report_ = {.on_card = false, .reason = why};
    for (Work& each : work_) each.result.reset();
    forget_traces();
}

void Worker::Shared::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [&] { return stopping_ || next() || choose_; });
        if (stopping_) break;
        const std::optional<SlotName> slot = next();
        bool news = true;
        if (choose_ && (choose_at_once_ || !slot))
            choose(lock);
        else
            news = work(*slot).asked ? evaluate(lock, *slot) : prepare(lock, *slot);
        changed_.notify_all();
        if (!news || !wake_) continue;
        lock.unlock();
        wake_();
        lock.lock();
    }
    stopped_ = true;
    changed_.notify_all();
}

void Worker::Shared::choose(std::unique_lock<std::mutex>& lock) {
    const std::function<BackendChoice()> choose = std::exchange(choose_, nullptr);
    choosing_ = true;
    lock.unlock();
    BackendChoice choice;
    try {
        choice = choose();
    } catch (const std::exception& error) {
        choice.reason = problem_text(error);
    }
    lock.lock();
    choosing_ = false;
    const bool same = choice.backend == card_;
    report_ = {.on_card = choice.backend != nullptr, .reason = std::move(choice.reason)};
    card_ = std::move(choice.backend);
    if (same) return;
    forget_traces();
    ask_all_again();
}

/// True if there is a result to take.
bool Worker::Shared::evaluate(std::unique_lock<std::mutex>& lock, SlotName slot) {
    running_ = latest_ = slot;
    const Clock::time_point began = *(began_ = Clock::now());
    WorkResult result = evaluate_newest(lock, slot);
    running_.reset();
    began_.reset();
    if (!result.trace && result.error.empty()) return false;
    Work& own = work(slot);
    if (result.trace) {
        own.previous = result.trace;
        const Clock::duration took = Clock::now() - began;
        const bool same_words = result.experiment.input == own.words;
        own.slowest = same_words ? std::max(own.slowest, took) : took;
        own.words = result.experiment.input;
        // Something else may be wanted than when it began; what did not fit in memory is not tried again.
        own.prepares = result.notice.empty() && !is_ready(*own.previous, own.wanted);
    }
    if (std::string notice = std::exchange(notice_, {}); !notice.empty()) result.notice = std::move(notice);
    own.result = std::move(result);
    return true;
}

/// How to evaluate what is wanted, until `cancel_` stops it.
EvaluateOptions Worker::Shared::options_for(const Wanted& wanted, Backend* card) const {
    EvaluateOptions options = options_;
    options.cancel = cancel_.get_token();
    options.backend = card;
    options.watched = watched(wanted);
    options.on_demand.kept_surveys = OverviewMaker::k_kept + 3;  // of an export and two previews
    return options;
}

/// Makes the newest trace ready to draw for what is now shown, and delivers it again.
bool Worker::Shared::prepare(std::unique_lock<std::mutex>& lock, SlotName slot) {
    Work& own = work(slot);
    own.prepares = false;
    running_ = latest_ = slot;
    cancel_ = std::stop_source{};
    const std::shared_ptr<const Trace> trace = own.previous;
    std::shared_ptr<const Trace> ready = trace;
    const Wanted wanted = own.wanted;
    std::string notice;
    const std::stop_token cancel = cancel_.get_token();
    const std::shared_ptr<Backend> card = own.on_cpu ? nullptr : card_;
    const EvaluateOptions options = options_for(wanted, card.get());
    lock.unlock();
    bool done = false, failed = false;
    try {
        if (is_waiting(*trace, wanted)) ready = evaluated_again(trace, options);
        if (lacks_gradients(*ready, wanted)) {
            auto with = std::make_shared<Trace>(*ready);
            notice = add_gradients(*with, wanted, cancel);
            ready = std::move(with);
        }
        make_ready(*ready, wanted.pictures, cancel);
        done = true;
    } catch (const Canceled&) {
    } catch (const std::exception&) {
        failed = true;
    }
    lock.lock();
    running_.reset();
    if (own.previous != trace) return false;
    if (failed)
        ask_again(slot);  // which meets the same problem, and says so
    else
        own.prepares |= !done;  // canceled by a request, which may fail
    if (!done) return false;
    own.previous = ready;
    if (!own.result)
        own.result = {.slot = slot, .experiment = ready->experiment, .trace = ready, .notice = notice};
    else if (own.result->trace == trace)
        own.result->trace = ready;
    return true;
}

WorkResult Worker::Shared::evaluate_newest(std::unique_lock<std::mutex>& lock, SlotName slot) {
    Work& own = work(slot);
    const Experiment experiment = *std::exchange(own.asked, std::nullopt);
    running_words_ = experiment.input;
    // A slot that has no trace yet reuses what is equal in another slot.
    std::shared_ptr<const Trace> previous = own.previous;
    for (const Work& other : work_)
        if (previous->records.empty() && other.on_cpu == own.on_cpu) previous = other.previous;
    const std::shared_ptr<Backend> card = own.on_cpu ? nullptr : card_;
    const int forgotten = own.forgotten;
    const Wanted wanted = own.wanted;
    cancel_ = std::stop_source{};
    EvaluateOptions options = options_for(wanted, card.get());
    lock.unlock();
    WorkResult result{.slot = slot};
    std::string lost, notice;
    try {
        result = evaluate_or_say(slot, experiment, *previous, options, wanted);
        if (card && result.trace) notice = card->complaint();
    } catch (const Error& error) {
        notice = fallback_notice(error.what());
        if (error.kind() == ErrorKind::backend) lost = error.what();
        options.backend = nullptr;
        result = evaluate_or_say(slot, experiment, {}, options, wanted);
    }
    lock.lock();
    if (!notice.empty()) notice_ = std::move(notice);
    if (forgotten != own.forgotten) return {.slot = slot};
    if (!lost.empty()) {
        use_processor(lost);
        for (const SlotName other : k_slots)  // whose traces lay there, too
            if (other != slot && work(other).newest) ask_again(other);
    }
    // Computes what is on screen again.
    if (!result.words && !own.asked && !own.previous->records.empty()) own.newest = own.previous->experiment;
    return result;
}

std::string fallback_notice(const std::string& why) { return why + " (computing on the CPU)"; }

Worker::Worker(EvaluateOptions options, std::function<void()> wake, std::chrono::milliseconds moment)
    : shared_(std::make_shared<Shared>(std::move(options), std::move(wake), moment)) {
    thread_ = std::thread([shared = shared_] { shared->run(); });
}

Worker::~Worker() {
    stop();
    shared_->has_ended() ? thread_.join() : thread_.detach();
}

void Worker::stop() { shared_->stop(); }
bool Worker::stopped() const { return shared_->stopped(); }
void Worker::request(SlotName slot, Experiment experiment, bool on_cpu) {
    shared_->request(slot, std::move(experiment), on_cpu);
}
void Worker::close(SlotName slot) { shared_->close(slot); }
void Worker::compute_on(std::function<BackendChoice()> choose, bool at_once) {
    shared_->compute_on(std::move(choose), at_once);
}
void Worker::leave_card(const std::string& why) { shared_->leave_card(why); }
void Worker::prepare_for(SlotName slot, const WantedPictures& pictures, bool gradients) {
    shared_->prepare_for(slot, {pictures, gradients});
}
void Worker::compute_again() { shared_->compute_again(); }
BackendReport Worker::backend() const { return shared_->backend(); }
std::shared_ptr<Backend> Worker::card() const { return shared_->card(); }
std::optional<WorkResult> Worker::take() { return shared_->take(); }
bool Worker::busy(SlotName slot) const { return shared_->busy(slot); }
void Worker::wait() const { shared_->wait(); }
bool Worker::wait_for(SlotName slot, std::chrono::milliseconds limit) const {
    return shared_->wait_for(slot, limit);
}

}  // namespace attnscope
