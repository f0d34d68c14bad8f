// Exports a training run as a PyTorch script. The script is written as modules, apart from the recipe of a
// trace, and what it cannot express is refused.
#pragma once

#include <string>

#include "core/learn/training_run.h"

namespace attnscope {

/// A Python script, the same bytes for the same run, that needs only torch (1.13 or later): the model as
/// modules that draw the first parameters with the same calls and seed, the sentences of the first `steps`
/// steps of `run` as rows of the tables, and the optimizer. It trains in float32 and prints the loss of each
/// step, which is StepRecord::loss up to rounding; with --json as `{"losses": […]}`.
///
/// Throws Error(bad_input) for a model that it cannot write: masks but `causal` in a stack, normalizers but
/// the softmax, a vocabulary whose words have generators of their own; and Error(too_large) for sentences of
/// more than a million tokens and targets together.
std::string training_recipe(const TrainingRun& run, int steps);

}  // namespace attnscope
