// The actions of a training run.
#pragma once

#include "app/actions/actions.h"

namespace attnscope {

/// Whether the session's task can be learned; whether it is at a step that was learned.
bool has_task(const ActionContext& context);
bool has_learned(const ActionContext& context);
bool is_training_open(const ActionContext& context);

void play_or_pause(ActionContext& context);
/// Goes this many steps forward, or back if negative, from the one shown.
void train(ActionContext& context, int steps);
/// Repeats the run from the parameters as they are drawn, up to the shown step.
void watch(ActionContext& context);
/// The PyTorch script that trains a run up to this step of it. Takes as long as the run has steps.
std::string training_script(const Experiment& experiment);
/// Draws another sentence of the task, from a seed other than the run's.
void new_sentence(ActionContext& context);

}  // namespace attnscope
