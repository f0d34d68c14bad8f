// A training run: a task learned step by step.
#pragma once

#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/learn/batch.h"
#include "core/learn/tasks.h"

namespace attnscope {

/// The experiment that a run starts from, which is all that it depends on except the sentence: the step is 0,
/// and no parameter is custom.
Experiment untrained(Experiment experiment);
/// Why the custom matrices are not parameters of the model that is set: they are another mechanism's, or of
/// other sizes. Empty if the model takes them; those that are missing are drawn.
std::string why_parameters_do_not_fit(const Experiment& experiment);
/// The experiment at the start of a run that learns another text, with the words of that text. Throws
/// Error(bad_input) for a text that cannot be learned from.
Experiment learning_from(Experiment experiment, std::string corpus);
/// Whether a task is chosen that the experiment's mechanism can learn.
bool can_be_trained(const Experiment& experiment);
/// Whether two experiments are steps of the same run: they differ at most in the sentence, the step and the
/// heads that are ablated in what is shown.
bool are_of_one_run(const Experiment& a, const Experiment& b);

/// The measurements of a step, of its batch before the parameters were changed.
struct StepRecord {
    double loss = 0;
    double accuracy = 0;  ///< the share of the targets that were the most likely word
    double norm = 0;      ///< of the gradients
    /// How well each head shows the task's pattern, layer by layer: its weight at the key that the pattern
    /// names, averaged over the positions that have one. Empty without attention.
    std::vector<float> patterns;

    /// The score of the head that shows the task's pattern best; NaN without attention.
    float best_pattern() const;
};

/// The layer and number of the head that is at `index` (from 0) among those of all layers, layer by layer.
HeadPlace head_place(const Experiment& experiment, std::size_t index);

/// The number of held-out sentences that a run is measured on: drawn with a seed of their own; of a long
/// text, from a part that is not trained on.
inline constexpr int k_held_out_sentences = 200;

/// What is measured on the held-out sentences.
struct Measurement {
    double loss = 0;
    double accuracy = 0;
    std::vector<float> patterns;  ///< as in StepRecord

    std::size_t best_head() const;  ///< its place in `patterns`, which is not empty
};

/// A warning if the loss of a run is more than twice that of its first step; otherwise empty.
std::string growing_loss(std::span<const StepRecord> records, const Measurement& last);

/// A training run. Each step draws a batch of the task's sentences, computes the loss as a trace (or several,
/// see core/learn/batch.h), walks it backward, and lets the optimizer change the parameters. Its records only
/// grow: going back to a step and on again repeats the same bits, whatever the number of threads. States are
/// kept at regular steps, in about 64 MiB and at least four, so that going back repeats only the steps since
/// the last kept state. What has been learned are custom matrices of an ordinary experiment, whose `training`
/// names the run and the step; nothing else knows that they were learned.
class TrainingRun {
public:
    /// Draws the first parameters of the experiment's model. Throws as evaluate(), and Error(bad_input) for a
    /// task or a model that cannot be trained. `threads`: 0, one per core.
    explicit TrainingRun(Experiment experiment, int threads = 0);

    const Experiment& start() const { return model_; }
    /// The step at which the run stands.
    int step() const { return state_.optimizer.steps; }
    /// The records of all steps that were ever taken: records()[0] is step 1.
    const std::vector<StepRecord>& records() const { return records_; }
    const Parameters& parameters() const { return state_.parameters; }

    /// Takes one step. Throws Error(bad_input) where the loss is no longer finite, which leaves the run at
    /// the last step whose loss is, and Canceled, which leaves it at the step before.
    void advance(const std::stop_token& cancel = {});
    /// The parameters that advance() would lead to; the run stays where it is. Throws as advance().
    Parameters next_parameters(const std::stop_token& cancel = {}) const {
        return next(cancel).first.parameters;
    }
    /// Goes to a step, whether it was taken before or not. Throws as advance(), and the run then stands at
    /// the last step that it reached.
    void go_to(int step, const std::stop_token& cancel = {});
    Measurement measure(const std::stop_token& cancel = {}) const;
    /// What measure() returns, with these heads ablated.
    Measurement measure_without(const std::vector<HeadPlace>& heads, Ablation to,
                                const std::stop_token& cancel = {}) const;
    /// The model at this step, with one of the task's sentences.
    Experiment experiment() const;
    /// The parameters at the last step up to `step` whose state is kept, and which it is.
    std::pair<int, const Parameters*> kept_near(int step) const;
    /// The memory that the kept states and the records take, in bytes.
    std::size_t kept_bytes() const;

private:
    struct State {
        Parameters parameters;
        OptimizerState optimizer;
        Generator sentences;
    };

    std::pair<State, StepRecord> next(const std::stop_token& cancel) const;
    void keep();
    const State& kept_before(int step) const;
    std::size_t bytes_of_state() const;

    Experiment model_;
    int threads_;
    TaskSentences sentences_;
    State state_;
    std::vector<TaskSentence> held_out_;
    std::vector<StepRecord> records_;
    std::vector<State> kept_;  ///< at the multiples of `spacing_`
    int spacing_ = 4;
};

/// `shown` with the parameters and the words of a step of the run that began with `start`; at step 0 they are
/// drawn.
Experiment with_step(Experiment shown, const Experiment& start, const Parameters& parameters, int step);
/// `experiment` at a step of its run, learned from the beginning.
Experiment at_step(const Experiment& experiment, int step, const std::stop_token& cancel = {});

}  // namespace attnscope
