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

#include "core/gpu/choice.h"
#include "core/graph/run_options.h"
#include "core/graph/trace.h"

namespace attnscope {

/// The outcome of a request: a trace or a problem; neither if it was canceled or has no words yet.
struct WorkResult {
    Experiment experiment;
    std::shared_ptr<const Trace> trace = nullptr;  ///< nullptr if it failed
    std::string error = {};
    bool words = true;        ///< false: the sentence is empty, which is no error while typing
    bool means = false;       ///< the means over heads are computed, too
    std::string notice = {};  ///< what to tell the user besides: the graphics card was lost
};

/// Which backend computes, and why: for the status bar.
struct BackendReport {
    bool on_card = false;  ///< else on the processor
    std::string reason;    ///< "llvmpipe is a software renderer"; empty until there is one
};

/// Evaluates the newest experiment requested; an older one that is still running is canceled. Results are
/// ready to draw: their ranges are computed. What the graphics card cannot compute, the processor does.
class Worker {
public:
    /// `wake` is called from the worker's thread when a result is ready.
    Worker(EvaluateOptions options, std::function<void()> wake);
    /// Waits for the current computation even if it does not stop: call stop() and stopped() first.
    ~Worker();

    /// Cancels the current computation; nothing is computed from then on.
    void stop();
    bool stopped() const { return stopped_; }

    void request(Experiment experiment);
    /// From now on computes with the backend that `choose` returns, starting with the newest experiment. It
    /// is called on the worker's thread, `at_once` or after what is being requested; if it throws, the
    /// processor is used.
    void compute_on(std::function<BackendChoice()> choose, bool at_once = false);
    /// Tells that the GPU that computed the newest trace was lost, found when reading from it: the newest
    /// experiment is computed again on the processor.
    void leave_card(const std::string& why);
    /// Whether means over heads are shown: if so, every result has them, and the newest is delivered again.
    void prepare_means(bool wanted);
    /// Computes every stage of the newest experiment again, as the shaders have changed.
    void compute_again();
    BackendReport backend() const;
    /// The GPU backend in use; nullptr: the processor computes.
    std::shared_ptr<Backend> card() const;
    /// The newest result since the last call, if any.
    std::optional<WorkResult> take();
    /// True from request() or compute_on() until their result can be taken.
    bool busy() const;
    /// Waits until no request is pending; for tests and scripted measurements.
    void wait() const;
    /// Waits at most this long; false if a computation is still running.
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
    std::optional<Experiment> newest_;  ///< ever requested
    std::optional<WorkResult> result_;
    std::stop_source cancel_;
    bool evaluating_ = false;
    std::function<BackendChoice()> choose_;
    bool choose_at_once_ = false;
    bool means_ = false;
    std::string notice_;             ///< to be added to the next result
    std::shared_ptr<Backend> card_;  ///< nullptr: the processor computes
    BackendReport report_;
    std::shared_ptr<const Trace> previous_;
    int forgotten_ = 0;  ///< how often previous_ had to be dropped
    std::atomic<bool> stopped_ = false;
    std::jthread thread_;
};

}  // namespace attnscope
