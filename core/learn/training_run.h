// A training run: a task learned step by step.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "core/learn/tasks.h"

namespace attnscope {

/// All that decides a run.
struct Training {
    TaskKind task = TaskKind::induction;
    Experiment model;  ///< its settings and the seed of its first parameters; its sentence is the task's
    Optimizer optimizer;
    int batch = 16;  ///< fresh sentences for each step, 1 … 1024
    Seed seed = 1;   ///< of the sentences
    bool operator==(const Training&) const = default;
};

/// The task as it is learned within seconds.
Training training_of(TaskKind task);

/// What a step was: the loss before it.
struct StepRecord {
    double loss = 0;
    double norm = 0;  ///< of the gradients
};

/// How a head looks: the weight at the key that the task's pattern names, averaged over the positions that
/// have one.
struct HeadScore {
    int layer, head;  ///< from 1
    double score;
};

/// What is measured on sentences that are not trained on.
struct Measurement {
    double loss = 0;
    double accuracy = 0;            ///< the share of the targets that are the most likely word
    std::vector<HeadScore> heads;   ///< layer by layer
    const HeadScore& best() const;  ///< the head with the highest score
};

/// A run in progress. The same training gives the same bits at every step.
class TrainingRun {
public:
    /// Draws the first parameters. Throws as evaluate(), and Error(bad_input) for a mechanism other than the
    /// transformer or a batch out of range.
    explicit TrainingRun(const Training& training);

    const Training& training() const { return training_; }
    int steps() const { return static_cast<int>(records_.size()); }
    const std::vector<StepRecord>& records() const { return records_; }
    const Parameters& parameters() const { return parameters_; }

    /// One step. Throws Error(bad_input) where the loss is no longer finite, which leaves the parameters of
    /// the step before; Cancelled.
    void step(const std::stop_token& cancel = {});
    Measurement measure(const std::stop_token& cancel = {}) const;
    /// The model with the parameters as they are now, of one of the task's sentences.
    Experiment experiment() const;

private:
    Training training_;
    Generator sentences_;
    std::vector<TaskSentence> held_out_;
    Parameters parameters_;
    OptimizerState state_;
    std::vector<StepRecord> records_;
};

}  // namespace attnscope
