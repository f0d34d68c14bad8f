#include "app/actions/training.h"

#include <algorithm>

#include "core/learn/training_run.h"
#include "core/recipe/training_recipe.h"

namespace attnscope {

bool has_task(const ActionContext& c) { return can_be_trained(c.document.experiment()); }

bool has_learned(const ActionContext& c) { return has_task(c) && c.document.experiment().training.step > 0; }

bool is_training_open(const ActionContext& c) {
    return has_task(c) && c.document.presentation().view == ViewKind::training;
}

void play_or_pause(ActionContext& c) {
    const bool is_moving = c.document.is_of_run() && c.document.training().moving;
    is_moving ? c.document.pause() : c.document.play();
}

void train(ActionContext& c, int steps) {
    const int from = c.document.experiment().training.step,
              to = std::clamp(from + steps, 0, k_max_training_steps);
    if (to > from) return c.document.play(to);
    c.document.go_to_step(to);
}

void watch(ActionContext& c) {
    const int steps = c.document.experiment().training.step;
    c.document.change([](Session& s) {
        s.presentation.view = ViewKind::training;
        s.experiment = untrained(s.experiment);
    });
    c.document.play(steps);
}

std::string training_script(const Experiment& experiment) {
    return training_recipe(TrainingRun(untrained(experiment)), experiment.training.step);
}

void new_sentence(ActionContext& c) {
    const Training& training = c.document.experiment().training;
    const TaskSentences sentences = task_of(training.task).open(training);
    Generator generator{Seed(std::int64_t{0x53454E54} + c.interaction.task_sentences++)};
    const TaskSentence sentence =
        (sentences.draw_held_out ? sentences.draw_held_out : sentences.draw)(generator);
    c.document.change([&](Session& s) { set_sentence(s.experiment, sentences, sentence); });
}

}  // namespace attnscope
