// The thread that evaluates, so that the window never waits.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
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
    /// `wake` is called from the worker's thread when a result is ready, possibly after the worker is gone.
    Worker(EvaluateOptions options, std::function<void()> wake);
    /// Stops, and waits for the current computation. One that does not stop within k_longest_end, as on a
    /// graphics card that hangs, is left to its thread, which owns all that it needs.
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;
    static constexpr std::chrono::milliseconds k_longest_end{500};

    /// Cancels the current computation; nothing is computed from then on.
    void stop();
    bool stopped() const;

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
    struct Shared;
    std::shared_ptr<Shared> shared_;
    std::thread thread_;
};

}  // namespace attnscope
