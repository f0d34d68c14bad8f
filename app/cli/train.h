// `attnscope train`: learns a task, and writes what was learned as a session.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "app/cli/session_arguments.h"

namespace attnscope {

struct TrainArguments {
    SessionArguments model;  ///< flags of the model, over those of the task
    std::string task, optimizer, out;
    std::optional<std::string> data_seed;
    std::optional<double> learning_rate, clip;
    std::optional<int> batch;
    int steps = 200;
    bool json = false;
};

void add_train_options(CLI::App& command, TrainArguments& arguments);

/// Trains, showing the progress on standard error, and writes the session if one is asked for; with --json
/// prints the losses and what was measured at the end. Ctrl+C ends the training, not the program: what is
/// learned by then is written. Throws UsageError, Error as Run and write_file.
int train(const TrainArguments& arguments);

}  // namespace attnscope
