// A training run that a document follows: its session becomes the step at which the run stands. A document
// may follow a second run beside it, which differs in one setting (core/learn/variations.h).
#pragma once

#include <functional>

#include "app/document/trainer.h"

namespace attnscope {

class FollowedRun {
public:
    FollowedRun(int threads, std::function<void()> wake) : trainer_(threads, std::move(wake)) {}

    /// What is known of the newest run: nothing before it has begun.
    const TrainingProgress& known() const;
    /// Whether an experiment is a step of it.
    bool has(const Experiment& experiment) const;
    /// Begins the run of an experiment, unless the newest one has it.
    void begin(const Experiment& experiment);
    /// `shown` at the step where the run stands, if it has it; else as it is drawn.
    Experiment at_its_step(Experiment shown) const;

    Trainer& trainer() { return trainer_; }
    const Trainer& trainer() const { return trainer_; }
    /// Takes the trainer's news; true if there were any.
    bool update() { return trainer_.update(progress_); }

private:
    Trainer trainer_;
    TrainingProgress progress_;
    int begun_ = 0;          ///< the number of the newest run
    Experiment start_ = {};  ///< what the newest run began with
};

}  // namespace attnscope
