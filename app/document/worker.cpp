#include "app/document/worker.h"

#include <exception>
#include <utility>

#include "core/error.h"
#include "core/graph/backend.h"
#include "core/mechanism/evaluate.h"
#include "core/mechanism/mechanisms.h"
#include "core/picture/shown_matrix.h"
#include "core/session/applies.h"
#include "core/text/tokenizer.h"

namespace attnscope {
namespace {

/// Whether every sentence that is read has words. A blank one, first or second, is common while typing.
bool has_tokens(const Experiment& e) {
    const Tokenizer& tokenizer = tokenizer_of(e.input.tokenizer);
    const auto is_read = [&](const char* option) { return why_unused(*find_option(option), e).empty(); };
    const auto blank = [&](const std::string& text) { return tokenize(text, tokenizer).empty(); };
    return !(is_read("text") && blank(e.input.text)) &&
           !(is_read("text2") && !e.input.text2.empty() && blank(e.input.text2));
}

/// Means over heads that cost next to nothing are computed before they are requested.
bool has_cheap_means(const Trace& trace) {
    constexpr std::size_t k_few_cells = std::size_t{1} << 20;
    std::size_t cells = 0;
    for (const StageRecord& record : trace.records)
        if (has_mean(*record.stage)) cells += record.stage->shape().size();
    return trace.backend != "gpu" && cells <= k_few_cells;
}

/// Computes what every picture needs of a stage, and the status bar of the trace, before the window asks.
void prepare_for_drawing(const Trace& trace, bool means) {
    for (const StageRecord& record : trace.records) {
        record.stage->buffer.range();
        if (means && has_mean(*record.stage)) record.stage->buffer.mean().range();
    }
    const Shape& shape = main_stage(trace).shape();
    for (int i = 0; i < shape.rows; ++i) trace.fully_masked(i);
    for (int j = 0; j < shape.columns; ++j) trace.fully_masked_column(j);
}

/// Evaluates; without a trace if there are no words yet. Throws Error(backend) and what else evaluate()
/// throws, except Cancelled.
WorkResult evaluate_one(const Experiment& experiment, const Trace& previous, const EvaluateOptions& options,
                        bool means) {
    WorkResult result{.experiment = experiment};
    try {
        result.words = has_tokens(experiment);
        if (!result.words) return result;
        auto trace = std::make_shared<const Trace>(evaluate(experiment, previous, options));
        result.means = means || has_cheap_means(*trace);
        prepare_for_drawing(*trace, result.means);
        result.trace = std::move(trace);
    } catch (const Cancelled&) {
    }
    return result;
}

/// Only GPU errors are passed on: the processor may succeed.
WorkResult evaluate_or_say(const Experiment& experiment, const Trace& previous,
                           const EvaluateOptions& options, bool means) {
    const auto failed = [&](std::string why) {
        return WorkResult{.experiment = experiment, .error = std::move(why)};
    };
    try {
        return evaluate_one(experiment, previous, options, means);
    } catch (const Error& error) {
        const bool cards = error.kind() == ErrorKind::backend || error.kind() == ErrorKind::too_large;
        if (options.backend && cards) throw;
        return failed(error.what());
    } catch (const std::bad_alloc&) {
        return failed(
            "there is not enough memory for this experiment: shorten the sentence or use fewer heads");
    } catch (const std::exception& error) {
        return failed(error.what());
    }
}

}  // namespace

Worker::Worker(EvaluateOptions options, std::function<void()> wake)
    : options_(std::move(options)), wake_(std::move(wake)), previous_(std::make_shared<const Trace>()) {
    thread_ = std::jthread([this](std::stop_token stop) { run(stop); });
}

Worker::~Worker() { stop(); }

void Worker::stop() {
    const std::lock_guard lock(mutex_);
    cancel_.request_stop();
    thread_.request_stop();
}

void Worker::request(Experiment experiment) {
    const std::lock_guard lock(mutex_);
    newest_ = std::move(experiment);
    ask_again();
}

void Worker::compute_on(std::function<BackendChoice()> choose, bool at_once) {
    const std::lock_guard lock(mutex_);
    choose_ = std::move(choose);
    choose_at_once_ = at_once;
    if (at_once && evaluating_) ask_again();
    changed_.notify_all();
}

void Worker::leave_card(const std::string& why) {
    const std::lock_guard lock(mutex_);
    use_processor(why);
    ask_again();
}

void Worker::prepare_means(bool wanted) {
    const std::lock_guard lock(mutex_);
    const bool had = std::exchange(means_, wanted);
    if (wanted && !had && newest_) ask_again();
}

void Worker::compute_again() {
    const std::lock_guard lock(mutex_);
    forget_traces();
    ask_again();
}

std::optional<WorkResult> Worker::take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(result_, std::nullopt);
}

bool Worker::busy() const {
    const std::lock_guard lock(mutex_);
    return asked_ || evaluating_ || choose_;
}

BackendReport Worker::backend() const {
    const std::lock_guard lock(mutex_);
    return report_;
}

std::shared_ptr<Backend> Worker::card() const {
    const std::lock_guard lock(mutex_);
    return card_;
}

void Worker::wait() const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !asked_ && !evaluating_ && !choose_; });
}

bool Worker::wait_for(std::chrono::milliseconds most) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, most, [&] { return !asked_ && !evaluating_ && !choose_; });
}

/// The lock is held throughout, except while something is computed.
void Worker::ask_again() {
    asked_ = newest_;
    cancel_.request_stop();
    changed_.notify_all();
}

/// Nothing is reused from what was computed so far, or is being computed.
void Worker::forget_traces() {
    previous_ = std::make_shared<const Trace>();
    ++forgotten_;
}

void Worker::use_processor(const std::string& why) {
    card_.reset();
    report_ = {.on_card = false, .reason = why};
    result_.reset();
    forget_traces();
}

void Worker::run(std::stop_token stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [&] { return asked_ || choose_; }) && !stop.stop_requested()) {
        evaluating_ = true;
        bool news = true;
        if (choose_ && (choose_at_once_ || !asked_)) {
            choose(lock);
        } else {
            WorkResult result = evaluate_newest(lock);
            news = result.trace || !result.error.empty();
            if (result.trace) previous_ = result.trace;
            if (news) result.notice = std::exchange(notice_, {});
            if (news) result_ = std::move(result);
        }
        evaluating_ = false;
        changed_.notify_all();
        if (!news || !wake_) continue;
        lock.unlock();
        wake_();
        lock.lock();
    }
    stopped_ = true;
}

void Worker::choose(std::unique_lock<std::mutex>& lock) {
    const std::function<BackendChoice()> choose = std::exchange(choose_, nullptr);
    lock.unlock();
    BackendChoice choice;
    try {
        choice = choose();
    } catch (const std::exception& error) {
        choice.reason = error.what();
    }
    lock.lock();
    const bool same = choice.backend == card_;
    report_ = {.on_card = choice.backend != nullptr, .reason = std::move(choice.reason)};
    card_ = std::move(choice.backend);
    if (same) return;
    forget_traces();
    if (newest_ && !asked_) ask_again();
}

WorkResult Worker::evaluate_newest(std::unique_lock<std::mutex>& lock) {
    const Experiment experiment = *std::exchange(asked_, std::nullopt);
    const std::shared_ptr<const Trace> previous = previous_;
    const std::shared_ptr<Backend> card = card_;
    const int forgotten = forgotten_;
    const bool means = means_;
    cancel_ = std::stop_source{};
    EvaluateOptions options = options_;
    options.cancel = cancel_.get_token();
    options.backend = card.get();
    lock.unlock();
    WorkResult result;
    std::string lost, notice;
    try {
        result = evaluate_or_say(experiment, *previous, options, means);
        if (card && result.trace) notice = card->complaint();
    } catch (const Error& error) {
        notice = std::string(error.what()) + " (computing on the processor)";
        if (error.kind() == ErrorKind::backend) lost = error.what();
        options.backend = nullptr;
        result = evaluate_or_say(experiment, {}, options, means);
    }
    lock.lock();
    if (!notice.empty()) notice_ = std::move(notice);
    if (forgotten != forgotten_) return {};
    if (!lost.empty()) use_processor(lost);
    // Computes what is on screen again.
    if (!result.words && !asked_ && !previous_->records.empty()) newest_ = previous_->experiment;
    return result;
}

}  // namespace attnscope
