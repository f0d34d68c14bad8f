// The thread that evaluates, so that the window never waits.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "core/attention/evaluate.h"

namespace attnscope {

/// What came of a request: a trace, or why there is none.
struct WorkResult {
    Experiment experiment;
    std::shared_ptr<const Trace> trace;  ///< nullptr if it failed
    std::string error;
};

/// Evaluates the newest experiment asked for; an older one that is still running is cancelled. Results are
/// ready to be drawn: ranges are known.
class Worker {
public:
    /// `wake` is called from the worker's thread when a result is there.
    Worker(EvaluateOptions options, std::function<void()> wake);
    ~Worker();

    void request(Experiment experiment);
    /// The newest result since the last call, if there is one.
    std::optional<WorkResult> take();
    /// True from request() until its result can be taken.
    bool busy() const;
    /// Waits until nothing is asked for any more; for tests and for scripted measurements.
    void wait() const;

private:
    void run(std::stop_token stop);
    WorkResult evaluate_one(Experiment experiment, std::stop_token cancel);

    EvaluateOptions options_;
    std::function<void()> wake_;
    mutable std::mutex mutex_;
    mutable std::condition_variable_any changed_;
    std::optional<Experiment> asked_;
    std::optional<WorkResult> result_;
    std::stop_source cancel_;
    bool evaluating_ = false;
    std::shared_ptr<const Trace> previous_;
    std::jthread thread_;
};

}  // namespace attnscope
