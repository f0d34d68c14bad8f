#include "app/document/worker.h"

#include <exception>
#include <utility>

#include "core/error.h"

namespace attnscope {
namespace {

/// What every picture asks of a stage, so that the window finds it computed.
void prepare_for_drawing(const Trace& trace) {
    for (const StageRecord& record : trace.records) record.stage->buffer.range();
}

}  // namespace

Worker::Worker(EvaluateOptions options, std::function<void()> wake)
    : options_(std::move(options)), wake_(std::move(wake)), previous_(std::make_shared<const Trace>()) {
    thread_ = std::jthread([this](std::stop_token stop) { run(stop); });
}

Worker::~Worker() {
    const std::lock_guard lock(mutex_);
    cancel_.request_stop();
    thread_.request_stop();
}

void Worker::request(Experiment experiment) {
    const std::lock_guard lock(mutex_);
    asked_ = std::move(experiment);
    cancel_.request_stop();
    changed_.notify_all();
}

std::optional<WorkResult> Worker::take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(result_, std::nullopt);
}

bool Worker::busy() const {
    const std::lock_guard lock(mutex_);
    return asked_ || evaluating_;
}

void Worker::wait() const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !asked_ && !evaluating_; });
}

void Worker::run(std::stop_token stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [&] { return asked_.has_value(); })) {
        Experiment experiment = *std::exchange(asked_, std::nullopt);
        cancel_ = std::stop_source{};
        evaluating_ = true;
        const std::stop_token cancel = cancel_.get_token();
        lock.unlock();
        WorkResult result = evaluate_one(std::move(experiment), cancel);
        lock.lock();
        evaluating_ = false;
        if (result.trace) previous_ = result.trace;
        const bool superseded = !result.trace && result.error.empty();
        if (!superseded) result_ = std::move(result);
        changed_.notify_all();
        if (!superseded && wake_) wake_();
    }
}

/// Neither trace nor error: cancelled.
WorkResult Worker::evaluate_one(Experiment experiment, std::stop_token cancel) {
    WorkResult result{std::move(experiment), nullptr, {}};
    try {
        EvaluateOptions options = options_;
        options.cancel = cancel;
        auto trace = std::make_shared<const Trace>(evaluate(result.experiment, *previous_, options));
        prepare_for_drawing(*trace);
        result.trace = std::move(trace);
    } catch (const Cancelled&) {
    } catch (const std::bad_alloc&) {
        result.error =
            "there is not enough memory for this experiment: shorten the sentence or use fewer heads";
    } catch (const std::exception& error) {
        result.error = error.what();
    }
    return result;
}

}  // namespace attnscope
