// The thread that trains, so that the window never waits: it takes the steps of a TrainingRun
// (core/learn/training_run.h), and tells what the window shows of it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/graph/trace.h"
#include "core/learn/training_run.h"

namespace attnscope {

/// The shown sentence at one step of the run.
struct FilmFrame {
    int step;
    std::shared_ptr<const Trace> trace;
};

/// Attention weights of the film's sentence where the run rests, and after its next step.
struct WeightsChange {
    StagePtr before, after;
    StagePtr change;  ///< after − before, drawn as gradients are: of any sign, around 0
};

/// A window's copy of what is known of a run.
struct TrainingProgress {
    int run = 0;            ///< as Trainer::begin() numbers it; 0: none
    Experiment start = {};  ///< of the run, with its words
    std::vector<StepRecord> records = {};
    int step = 0;  ///< where the run stands
    std::shared_ptr<const Parameters> parameters = nullptr;
    std::optional<Measurement> measured =
        {};                            ///< of the step where the run rests, with the heads that are shown
    std::vector<FilmFrame> film = {};  ///< some steps, in order, of the sentence that is shown
    /// How the next step changes the attention weights of each layer, once the run rests.
    std::vector<WeightsChange> changes = {};
    bool moving = false;       ///< takes steps, or goes to one
    std::string problem = {};  ///< why it stopped
};

/// One run at a time, on a thread of its own. The functions return at once.
class Trainer {
public:
    /// `wake` is called from the trainer's thread when there is news, at most some 100 times a second.
    Trainer(int threads, std::function<void()> wake);
    /// Stops, and waits for the current step as Worker does.
    ~Trainer();
    Trainer(const Trainer&) = delete;
    Trainer& operator=(const Trainer&) = delete;

    /// Forgets the run, and draws the first parameters of another; returns its number.
    int begin(Experiment experiment);
    /// Goes to `from`, takes the steps up to `to`, and reports each of them.
    void play(int from, int to);
    /// Goes to a step, at once if it was taken before.
    void go_to(int step);
    void pause();
    /// The experiment whose sentence is filmed, of this run; its parameters and its step do not matter.
    void film(Experiment shown);

    /// Brings `known` up to date; true if it changed.
    bool update(TrainingProgress& known);
    /// Waits until the run rests and is measured and filmed; for tests and measurements.
    void wait() const;
    void stop();
    bool stopped() const;

private:
    class Shared;
    std::shared_ptr<Shared> shared_;
    std::thread thread_;
};

/// The steps of a run that a film of `count` frames shows, up to `last`: the first, the last, and more of the
/// early ones, where more happens.
std::vector<int> film_steps(int last, int count);

}  // namespace attnscope
