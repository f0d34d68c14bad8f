// Tasks: what a model can be trained on, with fresh sentences at every step.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/experiment/experiment.h"
#include "core/learn/task_sentence.h"
#include "core/random/generator.h"

namespace attnscope {

/// The sentences of a task, and their words.
struct TaskSentences {
    std::vector<std::string> source_words = {};  ///< of the encoder; empty: a stack of layers learns it
    std::vector<std::string> words = {};         ///< of the stack, or of the decoder after <bos> and <eos>
    /// The next sentence; the generator gives the numbers that torch.randint would.
    std::function<TaskSentence(Generator&)> draw = nullptr;
    /// The next of the sentences that no run trains on; nullptr: as `draw`, by another generator.
    std::function<TaskSentence(Generator&)> draw_held_out = nullptr;
    TokenizerKind tokenizer = TokenizerKind::whitespace;
};

struct Task {
    TaskKind choice;
    MechanismKind mechanism;    ///< that learns it
    std::string_view summary;   ///< "continue a word that repeats"
    std::string_view look_for;  ///< what to see in the weights once it is learned
    std::string_view pattern;   ///< of the heads' score: "induction"; empty: there is none
    /// The sentences of a run. Throws Error(bad_input) for a text that cannot be learned from.
    TaskSentences (*open)(const Training& training);
    /// Sets the model, optimizer and batch with which the task is learned within seconds.
    void (*set_up)(Experiment& experiment);
    bool reads_corpus = false;  ///< its sentences are those of Training::corpus
};

/// Every task; `none` has no row.
std::span<const Task> tasks();
/// The task of a kind other than `none`.
const Task& task_of(TaskKind kind);

/// The next `count` sentences.
std::vector<TaskSentence> draw_sentences(const std::function<TaskSentence(Generator&)>& draw,
                                         Generator& generator, int count);

/// Makes the input the first sentence that the task's run learns, and the words those of the task. Throws
/// Error(bad_input) as Task::open.
void set_first_sentence(Experiment& experiment);
/// The default experiment, set up for a task, with one of its sentences.
Experiment task_experiment(TaskKind kind);
/// The sentence, and the task's words, as an experiment's input and target.
void set_sentence(Experiment& experiment, const TaskSentences& sentences, const TaskSentence& sentence);

}  // namespace attnscope
