// The thread that evaluates, so that the window never waits for what takes longer than a few frames.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "app/document/readiness.h"
#include "app/document/slot.h"
#include "core/gpu/choice.h"
#include "core/graph/run_options.h"
#include "core/graph/trace.h"
#include "core/picture/presentation.h"

namespace attnscope {

/// The outcome of a request: a trace or a problem; neither if it was canceled or has no words yet.
struct WorkResult {
    SlotName slot;
    Experiment experiment = {};
    std::shared_ptr<const Trace> trace = nullptr;  ///< nullptr if it failed
    std::string error = {};
    bool words = true;        ///< false: the sentence is empty, which is not an error while typing
    std::string notice = {};  ///< what to tell the user besides: the graphics card was lost
};

/// The backend that computes, and why; for the status bar.
struct BackendReport {
    bool on_card = false;  ///< the graphics card computes, not the processor
    std::string reason;    ///< "llvmpipe is a software renderer"; empty until there is one
};

/// Why the graphics card is not used, as a notice: "the GPU is lost (computing on the CPU)".
std::string fallback_notice(const std::string& why);

/// Evaluates the newest experiment requested for each slot, in turns; an older one of the same slot that is
/// still running is finished if that takes a moment, so that a setting that is dragged shows on the way;
/// otherwise it is canceled between blocks of rows. A slot without a trace reuses what is equal in another
/// slot's. Results are ready to draw: what the window needs of the shown head (ranges, pooled levels) is
/// cached. The CPU computes what the graphics card cannot, and everything once the card fails.
class Worker {
public:
    /// `wake` is called from the worker's thread when a result is ready, possibly after the worker is gone.
    /// An evaluation that takes less than a `moment` is finished although a later one was requested.
    Worker(EvaluateOptions options, std::function<void()> wake, std::chrono::milliseconds moment = k_moment);
    /// Stops, and waits for the current computation. One that does not stop within k_longest_end, as on a
    /// graphics card that hangs, is left to its thread, which owns all that it needs.
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;
    static constexpr std::chrono::milliseconds k_longest_end{500};
    static constexpr std::chrono::milliseconds k_moment{250};

    /// Cancels the current computation; nothing is computed from then on.
    void stop();
    bool stopped() const;

    /// `on_cpu`: by the CPU, even where the GPU computes the other slots.
    void request(SlotName slot, Experiment experiment, bool on_cpu = false);
    /// Cancels what was requested for a slot, and forgets its traces and its result.
    void close(SlotName slot);
    /// Switches to the backend that `choose` returns, starting with the newest experiments. It is called on
    /// the worker's thread, `at_once` or after the current request; if it throws, the CPU is used.
    void compute_on(std::function<BackendChoice()> choose, bool at_once = false);
    /// Reports that the GPU that computed the newest traces was lost, which was noticed when reading from it:
    /// the newest experiments are computed again on the CPU.
    void leave_card(const std::string& why);
    /// Sets which pictures of a slot are shown, and whether gradients are. From then on its results are ready
    /// to draw these; the newest is delivered again if it was not. A trace has no gradients if it has no
    /// loss, or if they do not fit in memory, which a notice says.
    void prepare_for(SlotName slot, const WantedPictures& pictures, bool gradients = false);
    /// Computes every stage of the newest experiments again, as the shaders have changed.
    void compute_again();
    BackendReport backend() const;
    /// The GPU backend in use; nullptr: the processor computes.
    std::shared_ptr<Backend> card() const;
    /// The newest result of a slot that was not taken yet, the live one's first.
    std::optional<WorkResult> take();
    /// True from request() of this slot, compute_on() or prepare_for() until their result can be taken.
    bool busy(SlotName slot) const;
    /// Waits until no request is pending; for tests and scripted measurements.
    void wait() const;
    /// Waits until the slot's newest experiment is evaluated and what is wanted of it is prepared, but no
    /// longer than `limit`; false if it is not by then.
    bool wait_for(SlotName slot, std::chrono::milliseconds limit) const;

private:
    class Shared;
    std::shared_ptr<Shared> shared_;
    std::thread thread_;
};

}  // namespace attnscope
