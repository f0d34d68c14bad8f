#include "app/document/comparer.h"

#include <algorithm>
#include <utility>

#include "app/document/readiness.h"
#include "core/cancelled.h"
#include "core/error.h"

namespace attnscope {
namespace {

/// `before` is the newest comparison: where it is of the same two sides, its facts hold.
Comparison compared(ComparisonRequest request, const Comparison* before, const std::stop_token& cancel) {
    Comparison comparison{std::move(request), {}, nullptr, ""};
    const auto& [a, b, key] = comparison.of;
    try {
        if (std::optional<Difference> found = difference(a, b, key, cancel)) {
            make_ready(*found->values, 0);
            make_ready(*found->open, 0);
            comparison.difference = std::make_shared<const Difference>(std::move(*found));
        }
        comparison.stages = before && before->problem.empty() && before->of.a == a && before->of.b == b
                                ? before->stages
                                : compare_stages(a, b, cancel);
    } catch (const Cancelled&) {
        throw;
    } catch (const std::bad_alloc&) {
        comparison.problem = "there is not enough memory to compare: shorten the sentence";
    } catch (const std::exception& error) {
        comparison.problem = problem_text(error);
    }
    return comparison;
}

}  // namespace

const StageComparison* Comparison::first_difference() const {
    const auto found = std::ranges::find_if(stages, &StageComparison::differs);
    return found == stages.end() ? nullptr : &*found;
}

Comparer::Comparer(std::function<void()> wake)
    : wake_(std::move(wake)), thread_([this](const std::stop_token& end) { run(end); }) {}

Comparer::~Comparer() {
    const std::lock_guard lock(mutex_);
    cancel_.request_stop();
    thread_.request_stop();
}

void Comparer::request(ComparisonRequest request) {
    const std::lock_guard lock(mutex_);
    if (newest_ == request) return;
    newest_ = request;
    asked_ = std::move(request);
    cancel_.request_stop();
    changed_.notify_all();
}

void Comparer::forget() {
    known_.reset();
    const std::lock_guard lock(mutex_);
    newest_.reset();
    asked_.reset();
    result_.reset();
    newest_known_.reset();
    cancel_.request_stop();
}

bool Comparer::update() {
    const std::lock_guard lock(mutex_);
    if (!result_) return false;
    known_ = std::exchange(result_, nullptr);
    return true;
}

bool Comparer::busy() const {
    const std::lock_guard lock(mutex_);
    return running_ || asked_;
}

void Comparer::wait() const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !running_ && !asked_; });
}

void Comparer::run(const std::stop_token& end) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, end, [&] { return asked_.has_value(); })) {
        ComparisonRequest request = *std::exchange(asked_, std::nullopt);
        cancel_ = {};
        const std::stop_token cancel = cancel_.get_token();
        const std::shared_ptr<const Comparison> before = newest_known_;
        running_ = true;
        lock.unlock();
        std::shared_ptr<const Comparison> comparison;
        try {
            comparison =
                std::make_shared<const Comparison>(compared(std::move(request), before.get(), cancel));
        } catch (const Cancelled&) {
        }
        lock.lock();
        running_ = false;
        const bool wanted = comparison && !cancel.stop_requested();
        if (wanted) result_ = newest_known_ = comparison;
        changed_.notify_all();
        if (!wanted || !wake_) continue;
        lock.unlock();
        wake_();
        lock.lock();
    }
}

}  // namespace attnscope
