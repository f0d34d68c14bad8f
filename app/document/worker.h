// The thread that evaluates, so that the window never waits.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "core/attention/evaluate_options.h"
#include "core/attention/trace.h"
#include "core/gpu/choice.h"

namespace attnscope {

/// What came of a request: a trace, or why there is none; neither if it was cancelled or has no words yet.
struct WorkResult {
    Experiment experiment;
    std::shared_ptr<const Trace> trace = nullptr;  ///< nullptr if it failed
    std::string error = {};
    bool words = true;        ///< false: its sentence is empty, which is no error while one types
    bool means = false;       ///< the means over its heads are ready, too
    std::string notice = {};  ///< what a person has to know beside: the graphics card is lost
};

/// What computes, and why: for the status bar.
struct BackendReport {
    bool on_card = false;  ///< else the processor
    std::string reason;    ///< "llvmpipe is a software renderer"; empty until there is one
};

/// Evaluates the newest experiment asked for; an older one that is still running is cancelled. Results are
/// ready to be drawn: ranges are known. What the graphics card cannot do, the processor does.
class Worker {
public:
    /// `wake` is called from the worker's thread when a result is there.
    Worker(EvaluateOptions options, std::function<void()> wake);
    /// Waits for a computation that does not stop: stop() and stopped() say beforehand.
    ~Worker();

    /// Nothing is computed any more; what is running is cancelled.
    void stop();
    bool stopped() const { return stopped_; }

    void request(Experiment experiment);
    /// What `choose` returns computes from then on, also the newest experiment again. It is called on the
    /// worker's thread, `at_once` or after what is asked for; where it throws it is the processor.
    void compute_on(std::function<BackendChoice()> choose, bool at_once = false);
    /// The card that computed the newest trace is gone, says who read from it: the newest experiment is
    /// computed again, by the processor.
    void leave_card(const std::string& why);
    /// Whether the means over the heads are drawn: then every result knows them, and the newest comes again.
    void prepare_means(bool wanted);
    /// Computes every stage of the newest experiment again: what computes it has changed.
    void compute_again();
    BackendReport backend() const;
    /// nullptr: the processor computes.
    std::shared_ptr<Backend> card() const;
    /// The newest result since the last call, if there is one.
    std::optional<WorkResult> take();
    /// True from request() or compute_on() until what comes of it can be taken.
    bool busy() const;
    /// Waits until nothing is asked for any more; for tests and for scripted measurements.
    void wait() const;
    /// False if it has not come to that within this time.
    bool wait_for(std::chrono::milliseconds most) const;

private:
    void run(std::stop_token stop);
    void choose(std::unique_lock<std::mutex>& lock);
    WorkResult evaluate_newest(std::unique_lock<std::mutex>& lock);
    void forget_traces();
    void use_processor(const std::string& why);
    void ask_again();

    EvaluateOptions options_;
    std::function<void()> wake_;
    mutable std::mutex mutex_;
    mutable std::condition_variable_any changed_;
    std::optional<Experiment> asked_;
    std::optional<Experiment> newest_;  ///< that was ever asked for
    std::optional<WorkResult> result_;
    std::stop_source cancel_;
    bool evaluating_ = false;
    std::function<BackendChoice()> choose_;
    bool choose_at_once_ = false;
    bool means_ = false;
    std::string notice_;             ///< for the next result
    std::shared_ptr<Backend> card_;  ///< nullptr: the processor
    BackendReport report_;
    std::shared_ptr<const Trace> previous_;
    int forgotten_ = 0;  ///< how often previous_ was to be forgotten
    std::atomic<bool> stopped_ = false;
    std::jthread thread_;
};

}  // namespace attnscope
