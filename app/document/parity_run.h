// Evaluates an experiment on both backends in the background and says how far they are apart.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/graph/backend.h"
#include "core/attention/evaluate_options.h"
#include "core/attention/parity.h"

namespace attnscope {

/// What came of a run. Where there is a `problem` there are no stages.
struct ParityReport {
    Trace labels;               ///< the experiment and the words of its rows and columns; no stages
    std::string card;           ///< what computed the other side, by the driver's own name
    std::uint64_t shaders = 0;  ///< shaders_stamp() before
    bool compiled = false;      ///< shaders too, within gpu_milliseconds: nothing had run on the card before
    double cpu_milliseconds = 0;
    double gpu_milliseconds = 0;
    std::vector<StageDifference> stages;  ///< a is the processor, b the card
    std::string problem;                  ///< why there is no comparison

    const Experiment& experiment() const { return labels.experiment; }
};

/// "head 2 · sat → mat": a cell of a stage, with heads counted from 1; empty for nullopt.
std::string place_text(const ParityReport& report, const StageDifference& stage,
                       const std::optional<CellPlace>& place);
/// The stages as tab-separated lines under a line of names, nine significant digits.
std::string parity_text(const ParityReport& report);

class ParityRun {
public:
    /// The card to compare with. Called on the run's thread; throws Error(backend) where there is none.
    using GiveBackend = std::function<std::shared_ptr<Backend>()>;
    enum class Phase { idle, processor, card, comparing };

    /// `wake` is called from the run's thread when there is something new to show.
    ParityRun(GiveBackend give_backend, EvaluateOptions options, std::function<void()> wake);

    /// Evaluates from nothing on each side; nothing happens while another run goes on.
    void start(Experiment experiment);
    /// The run ends between two stages or dispatches, and leaves the report as it was.
    void cancel() { thread_.request_stop(); }
    bool running() const { return phase_ != Phase::idle; }
    Phase phase() const { return phase_; }
    /// Of the newest run that was not cancelled; nullptr before.
    std::shared_ptr<const ParityReport> report() const;
    /// Waits for the running one; for tests.
    void wait();

private:
    void run(Experiment experiment, std::stop_token cancel);
    void compare_both(ParityReport& report, const Experiment& experiment, std::stop_token cancel);
    void enter(Phase phase);

    GiveBackend give_backend_;
    EvaluateOptions options_;
    std::function<void()> wake_;
    std::atomic<Phase> phase_ = Phase::idle;
    std::weak_ptr<Backend> used_;  ///< the run's thread's
    mutable std::mutex mutex_;
    std::shared_ptr<const ParityReport> report_;
    std::jthread thread_;
};

}  // namespace attnscope
