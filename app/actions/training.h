// The actions of a training run.
#pragma once

#include "app/actions/actions.h"

namespace attnscope {

/// Whether the session's task can be learned; whether it is at a step that was learned.
bool has_task(const ActionContext& context);
bool has_learned(const ActionContext& context);
bool is_training_open(const ActionContext& context);

void play_or_pause(ActionContext& context);
/// By so many steps from the one that is shown.
void train(ActionContext& context, int steps);
/// Repeats the run from the parameters as they are drawn, up to the shown step.
void watch(ActionContext& context);
/// The PyTorch script that trains a run up to this step of it. Takes as long as the run has steps.
std::string training_script(const Experiment& experiment);
/// A sentence that the run has not seen: of other seeds than its own.
void new_sentence(ActionContext& context);

}  // namespace attnscope
