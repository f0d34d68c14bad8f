#include "app/document/worker.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <stop_token>
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

/// What the worker shares with its thread. The lock is held throughout, except while something is computed.
struct Worker::Shared {
    EvaluateOptions options;
    std::function<void()> wake;
    mutable std::mutex mutex;
    mutable std::condition_variable changed;
    std::optional<Experiment> asked;
    std::optional<Experiment> newest;  ///< ever requested
    std::optional<WorkResult> result;
    std::stop_source cancel;
    bool evaluating = false;
    std::function<BackendChoice()> choose;
    bool choose_at_once = false;
    bool means = false;
    std::string notice;             ///< to be added to the next result
    std::shared_ptr<Backend> card;  ///< nullptr: the processor computes
    BackendReport report;
    std::shared_ptr<const Trace> previous = std::make_shared<const Trace>();
    int forgotten = 0;  ///< how often `previous` had to be dropped
    bool stopping = false;
    bool stopped = false;

    void run();
    void make_choice(std::unique_lock<std::mutex>& lock);
    WorkResult evaluate_newest(std::unique_lock<std::mutex>& lock);
    void ask_again();
    void forget_traces();
    void use_processor(const std::string& why);
    bool is_busy() const { return asked || evaluating || choose; }
};

void Worker::Shared::ask_again() {
    asked = newest;
    cancel.request_stop();
    changed.notify_all();
}

/// Nothing is reused from what was computed so far, or is being computed.
void Worker::Shared::forget_traces() {
    previous = std::make_shared<const Trace>();
    ++forgotten;
}

void Worker::Shared::use_processor(const std::string& why) {
    card.reset();
    report = {.on_card = false, .reason = why};
    result.reset();
    forget_traces();
}

void Worker::Shared::run() {
    std::unique_lock lock(mutex);
    while (true) {
        changed.wait(lock, [&] { return stopping || asked || choose; });
        if (stopping) break;
        evaluating = true;
        bool news = true;
        if (choose && (choose_at_once || !asked)) {
            make_choice(lock);
        } else {
            WorkResult newest_result = evaluate_newest(lock);
            news = newest_result.trace || !newest_result.error.empty();
            if (newest_result.trace) previous = newest_result.trace;
            if (news) newest_result.notice = std::exchange(notice, {});
            if (news) result = std::move(newest_result);
        }
        evaluating = false;
        changed.notify_all();
        if (!news || !wake) continue;
        lock.unlock();
        wake();
        lock.lock();
    }
    stopped = true;
    changed.notify_all();
}

void Worker::Shared::make_choice(std::unique_lock<std::mutex>& lock) {
    const std::function<BackendChoice()> chooses = std::exchange(choose, nullptr);
    lock.unlock();
    BackendChoice choice;
    try {
        choice = chooses();
    } catch (const std::exception& error) {
        choice.reason = error.what();
    }
    lock.lock();
    const bool same = choice.backend == card;
    report = {.on_card = choice.backend != nullptr, .reason = std::move(choice.reason)};
    card = std::move(choice.backend);
    if (same) return;
    forget_traces();
    if (newest && !asked) ask_again();
}

WorkResult Worker::Shared::evaluate_newest(std::unique_lock<std::mutex>& lock) {
    const Experiment experiment = *std::exchange(asked, std::nullopt);
    const std::shared_ptr<const Trace> before = previous;
    const std::shared_ptr<Backend> backend = card;
    const int forgotten_before = forgotten;
    const bool with_means = means;
    cancel = std::stop_source{};
    EvaluateOptions how = options;
    how.cancel = cancel.get_token();
    how.backend = backend.get();
    lock.unlock();
    WorkResult computed;
    std::string lost, said;
    try {
        computed = evaluate_or_say(experiment, *before, how, with_means);
        if (backend && computed.trace) said = backend->complaint();
    } catch (const Error& error) {
        said = std::string(error.what()) + " (computing on the processor)";
        if (error.kind() == ErrorKind::backend) lost = error.what();
        how.backend = nullptr;
        computed = evaluate_or_say(experiment, {}, how, with_means);
    }
    lock.lock();
    if (!said.empty()) notice = std::move(said);
    if (forgotten_before != forgotten) return {};
    if (!lost.empty()) use_processor(lost);
    // Computes what is on screen again.
    if (!computed.words && !asked && !previous->records.empty()) newest = previous->experiment;
    return computed;
}

Worker::Worker(EvaluateOptions options, std::function<void()> wake) : shared_(std::make_shared<Shared>()) {
    shared_->options = std::move(options);
    shared_->wake = std::move(wake);
    thread_ = std::thread([shared = shared_] { shared->run(); });
}

Worker::~Worker() {
    stop();
    std::unique_lock lock(shared_->mutex);
    const bool stopped = shared_->changed.wait_for(lock, k_longest_end, [&] { return shared_->stopped; });
    lock.unlock();
    if (stopped)
        thread_.join();
    else
        thread_.detach();
}

void Worker::stop() {
    const std::lock_guard lock(shared_->mutex);
    shared_->cancel.request_stop();
    shared_->stopping = true;
    shared_->changed.notify_all();
}

bool Worker::stopped() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->stopped;
}

void Worker::request(Experiment experiment) {
    const std::lock_guard lock(shared_->mutex);
    shared_->newest = std::move(experiment);
    shared_->ask_again();
}

void Worker::compute_on(std::function<BackendChoice()> choose, bool at_once) {
    const std::lock_guard lock(shared_->mutex);
    shared_->choose = std::move(choose);
    shared_->choose_at_once = at_once;
    if (at_once && shared_->evaluating) shared_->ask_again();
    shared_->changed.notify_all();
}

void Worker::leave_card(const std::string& why) {
    const std::lock_guard lock(shared_->mutex);
    shared_->use_processor(why);
    shared_->ask_again();
}

void Worker::prepare_means(bool wanted) {
    const std::lock_guard lock(shared_->mutex);
    const bool had = std::exchange(shared_->means, wanted);
    if (wanted && !had && shared_->newest) shared_->ask_again();
}

void Worker::compute_again() {
    const std::lock_guard lock(shared_->mutex);
    shared_->forget_traces();
    shared_->ask_again();
}

std::optional<WorkResult> Worker::take() {
    const std::lock_guard lock(shared_->mutex);
    return std::exchange(shared_->result, std::nullopt);
}

bool Worker::busy() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->is_busy();
}

BackendReport Worker::backend() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->report;
}

std::shared_ptr<Backend> Worker::card() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->card;
}

void Worker::wait() const {
    std::unique_lock lock(shared_->mutex);
    shared_->changed.wait(lock, [&] { return !shared_->is_busy(); });
}

bool Worker::wait_for(std::chrono::milliseconds most) const {
    std::unique_lock lock(shared_->mutex);
    return shared_->changed.wait_for(lock, most, [&] { return !shared_->is_busy(); });
}

}  // namespace attnscope
