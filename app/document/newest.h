// A thread that answers the newest of several requests, so that the window need not wait. Comparer, Surveyor,
// LineFinder, LinkFinder, OverviewMaker, Sweeper, Gallery and Previewer are threads of this kind; the Worker,
// which evaluates, the Trainer, which trains, and some others have their own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "core/canceled.h"

namespace attnscope {

/// Answers requests by calling a function on its own thread. A new request cancels an older one that is still
/// being computed. `Request` has ==; each `Result` is passed to the next computation, which may reuse the
/// parts that still hold.
template <typename Request, typename Result>
class Newest {
public:
    /// Computes a result on the thread; `before` is the newest result or nullptr. May throw Canceled, and
    /// nothing else.
    using Compute = std::function<Result(Request, const Result* before, const std::stop_token& cancel)>;

    /// `wake` is called from the thread when there is a result.
    Newest(Compute compute, std::function<void()> wake)
        : compute_(std::move(compute)),
          wake_(std::move(wake)),
          thread_([this](const std::stop_token& end) { run(end); }) {}
    /// Cancels the running computation and waits until it stops.
    ~Newest() {
        const std::lock_guard lock(mutex_);
        cancel_.request_stop();
        thread_.request_stop();
    }
    Newest(const Newest&) = delete;
    Newest& operator=(const Newest&) = delete;

    /// Requests a result, unless this is the newest request already. An older request is canceled.
    void request(Request request) {
        const std::lock_guard lock(mutex_);
        if (newest_ == request) return;
        newest_ = request;
        asked_ = std::move(request);
        cancel_.request_stop();
        changed_.notify_all();
    }
    /// Cancels the request and drops the result.
    void forget() {
        known_.reset();
        const std::lock_guard lock(mutex_);
        newest_.reset();
        asked_.reset();
        result_.reset();
        before_.reset();
        cancel_.request_stop();
        changed_.notify_all();
    }
    /// Takes the newest result; true if there is one that was not taken yet.
    bool update() {
        const std::lock_guard lock(mutex_);
        if (!result_) return false;
        known_ = std::exchange(result_, nullptr);
        return true;
    }
    /// The newest result taken; nullptr before the first.
    const std::shared_ptr<const Result>& known() const { return known_; }
    /// The newest request; nothing before the first, and once it is forgotten.
    std::optional<Request> asked() const {
        const std::lock_guard lock(mutex_);
        return newest_;
    }
    bool busy() const {
        const std::lock_guard lock(mutex_);
        return running_ || asked_;
    }
    /// Waits until no request is pending; for tests and measurements.
    void wait() const {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !running_ && !asked_; });
    }

    /// Waits until no request is pending, but not beyond the deadline; false: one still is. What was
    /// forgotten is not waited for.
    bool wait_until(std::chrono::steady_clock::time_point deadline) const {
        std::unique_lock lock(mutex_);
        return changed_.wait_until(lock, deadline,
                                   [&] { return !asked_ && (!running_ || cancel_.stop_requested()); });
    }

private:
    void run(const std::stop_token& end) {
        std::unique_lock lock(mutex_);
        while (changed_.wait(lock, end, [&] { return asked_.has_value(); })) {
            Request request = *std::exchange(asked_, std::nullopt);
            cancel_ = {};
            const std::stop_token cancel = cancel_.get_token();
            const std::shared_ptr<const Result> before = before_;
            running_ = true;
            lock.unlock();
            std::shared_ptr<const Result> result;
            try {
                result = std::make_shared<const Result>(compute_(std::move(request), before.get(), cancel));
            } catch (const Canceled&) {
            }
            lock.lock();
            running_ = false;
            const bool wanted = result && !cancel.stop_requested();
            if (wanted) result_ = before_ = std::move(result);
            changed_.notify_all();
            if (!wanted || !wake_) continue;
            lock.unlock();
            wake_();
            lock.lock();
        }
    }

    const Compute compute_;
    const std::function<void()> wake_;
    std::shared_ptr<const Result> known_;
    mutable std::mutex mutex_;
    mutable std::condition_variable_any changed_;
    std::optional<Request> newest_, asked_;
    std::shared_ptr<const Result> result_;  ///< not taken yet
    std::shared_ptr<const Result> before_;
    std::stop_source cancel_;
    bool running_ = false;
    std::jthread thread_;  ///< the last member: it uses the others
};

}  // namespace attnscope
