// `attnscope train` learns a task and writes the learned weights as a session; `attnscope recipe --steps`
// writes the same training as a PyTorch script.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "app/cli/session_arguments.h"

namespace attnscope {

struct TrainArguments {
    SessionArguments model;  ///< flags of the model, over those of the task
    std::string out, curves;
    int steps = 200;
    bool json = false;
};

void add_train_options(CLI::App& command, TrainArguments& arguments);

/// Writes the PyTorch script that takes `steps` steps of the run that `model` names. Throws UsageError, Error
/// as TrainingRun, training_recipe and write_file.
int print_training_recipe(const SessionArguments& model, int steps, const std::string& out);

/// Trains, showing the progress on standard error, and writes the session if one is asked for; with --json
/// prints the losses and what was measured at the end. Ctrl+C and a loss that is no longer finite end the
/// training, and what is learned by then is written. Throws UsageError, Error as TrainingRun and write_file.
int train(const TrainArguments& arguments);

}  // namespace attnscope
