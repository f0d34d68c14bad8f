#include "core/session/applies.h"

#include "core/learn/training_run.h"
#include "core/mechanism/mechanisms.h"

namespace attnscope {
namespace {

/// Of the options of training, none of which changes a trace.
std::string why_not_trained_with(std::string_view option, const Experiment& e) {
    if (const std::string_view why = mechanism_of(e).why_not_trained; !why.empty()) return std::string(why);
    if (option == "task") return "";
    if (e.training.task == TaskKind::none) return "no task is chosen";
    if (task_of(e.training.task).mechanism != e.mechanism) return "another mechanism learns the task";
    const bool of_text =
        e.training.task == TaskKind::next_word || e.training.task == TaskKind::next_character;
    if (option == "corpus" && !of_text) return "the task draws its own sentences";
    if (option == "momentum" && e.training.optimizer.kind != OptimizerKind::sgd)
        return "only sgd has momentum";
    if (option == "train-ablated" && e.mechanism != MechanismKind::transformer)
        return "only the heads of a transformer are ablated";
    return "";
}

}  // namespace

std::string why_unused(const Option& option, const Experiment& experiment) {
    if (option.section == "Training") return why_not_trained_with(option.name, experiment);
    if (!option.in_experiment()) return "";
    // What decides the first parameters starts the run again.
    if (can_be_trained(experiment) && experiment.training.step > 0)
        return why_unused(option, untrained(experiment));
    return mechanism_of(experiment).why_unused(option.name, experiment);
}

}  // namespace attnscope
