// Tasks: what a model can be trained on, with fresh examples at every step.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/choice.h"
#include "core/experiment/experiment.h"
#include "core/learn/batch.h"
#include "core/learn/optimizer.h"
#include "core/random/generator.h"

namespace attnscope {

enum class TaskKind { induction, copy, reverse, sort, recall };
constexpr auto choice_names(TaskKind) {
    using enum TaskKind;
    return std::to_array<ChoiceName<TaskKind>>(
        {{induction, "induction"}, {copy, "copy"}, {reverse, "reverse"}, {sort, "sort"}, {recall, "recall"}});
}

/// A sentence of a task: rows of its words, each position's target (−1: none), and the key that a head which
/// has learned the task looks at from each position (−1: any), by which heads are scored.
struct TaskSentence {
    std::vector<int> tokens, targets, keys;
};

struct Task {
    TaskKind choice;
    std::string_view summary;   ///< "continue a word that repeats"
    std::string_view look_for;  ///< what to see in the weights once it is learned
    std::string_view pattern;   ///< of the heads' score: "induction"
    std::vector<std::string> (*words)();
    /// The next sentence; the generator gives the numbers that torch.randint would.
    TaskSentence (*draw)(Generator& generator);
    /// The model and the optimizer with which it is learned within seconds.
    void (*set_up)(Experiment& experiment, Optimizer& optimizer, int& batch);
};

std::span<const Task> tasks();
const Task& task_of(TaskKind kind);

/// For batch_gradients().
Example example_of(const TaskSentence& sentence);
/// Tokens as text: "c f a c f".
std::string text_of(const Task& task, std::span<const int> tokens);
/// The same sentence, with the task's words, as an experiment's input and target.
void set_sentence(Experiment& experiment, const Task& task, const TaskSentence& sentence);

}  // namespace attnscope
