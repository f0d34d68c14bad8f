// Evaluates an experiment on both backends in the background and compares the results.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/gpu/shaders.h"
#include "core/graph/backend.h"
#include "core/graph/parity.h"
#include "core/graph/run_options.h"

namespace attnscope {

/// The result of a run. If there is a `problem`, there are no stages.
struct ParityReport {
    Trace labels;               ///< the experiment and the labels of rows and columns; no stages
    std::string card;           ///< the GPU's name as the driver reports it
    std::uint64_t shaders = 0;  ///< ParityRun::shaders_stamp() before the run
    bool compiled = false;  ///< gpu_milliseconds includes compiling the shaders, as this was their first use
    double cpu_milliseconds = 0;
    double gpu_milliseconds = 0;
    std::vector<StageDifference> stages;  ///< a: the processor, b: the graphics card
    std::string problem;                  ///< why there is no comparison; empty: there is one

    const Experiment& experiment() const { return labels.experiment; }
};

/// "head 2 · sat → mat": a cell of a stage, heads counted from 1; for nullopt why_not_compared().
std::string place_text(const ParityReport& report, const StageDifference& stage,
                       const std::optional<CellPlace>& place);
/// The stages as tab-separated text with a header line, nine significant digits.
std::string parity_text(const ParityReport& report);

class ParityRun {
public:
    /// The GPU backend to compare with. Called on the run's thread; throws Error(backend) if there is none.
    using GiveBackend = std::function<std::shared_ptr<Backend>()>;
    enum class Phase { idle, processor, card, comparing };

    /// `wake` is called from the run's thread when there is something new to show. `shaders` are those of the
    /// backend.
    ParityRun(GiveBackend give_backend, EvaluateOptions options, std::function<void()> wake,
              ShaderSource shaders = {});

    /// Evaluates the whole experiment on each side; does nothing while another run is active.
    void start(Experiment experiment);
    /// Stops the run at the next stage or dispatch; the report stays as it was.
    void cancel() { thread_.request_stop(); }
    bool running() const { return phase_ != Phase::idle; }
    Phase phase() const { return phase_; }
    /// The report of the newest run that was not canceled; nullptr before that.
    std::shared_ptr<const ParityReport> report() const;
    /// Changes when one of the backend's shaders is saved.
    std::uint64_t shaders_stamp() const { return shaders_.stamp(); }
    /// Waits for the current run; for tests.
    void wait();

private:
    void run(Experiment experiment, std::stop_token cancel);
    void compare_both(ParityReport& report, const Experiment& experiment, std::stop_token cancel);
    void enter(Phase phase);

    GiveBackend give_backend_;
    EvaluateOptions options_;
    std::function<void()> wake_;
    const ShaderSource shaders_;
    std::atomic<Phase> phase_ = Phase::idle;
    std::weak_ptr<Backend> used_;  ///< used by the run's thread alone
    mutable std::mutex mutex_;
    std::shared_ptr<const ParityReport> report_;
    std::jthread thread_;
};

}  // namespace attnscope
