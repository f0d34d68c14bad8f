#include "core/learn/tasks.h"

#include <algorithm>
#include <array>
#include <set>

namespace attnscope {
namespace {

using Words = std::vector<std::string>;

/// Whole numbers from low to high − 1, as torch.randint draws them.
std::vector<int> integers(Generator& generator, int count, int low, int high) {
    std::vector<std::int64_t> drawn(static_cast<std::size_t>(count));
    generator.randint(drawn, low, high);
    return {drawn.begin(), drawn.end()};
}

/// `count` different ones of 0 … of − 1, as the start of torch.randperm(of).
std::vector<int> different(Generator& generator, int count, int of) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(of));
    generator.randperm(order);
    return {order.begin(), order.begin() + count};
}

Words letters(int count) {
    Words words;
    for (int i = 0; i < count; ++i) words.emplace_back(1, static_cast<char>('a' + i));
    return words;
}

// ---- induction

constexpr int k_letters = 16, k_length = 24, k_shortest = 3, k_longest = 10;

/// A word of 3 to 10 different letters, repeated to 24 letters. From the second time on each next letter can
/// be known: it is the one after the letter's last occurrence.
TaskSentence draw_induction(Generator& generator) {
    const int period = integers(generator, 1, k_shortest, k_longest + 1).front();
    const std::vector<int> word = different(generator, period, k_letters);
    TaskSentence sentence;
    for (int i = 0; i < k_length; ++i) sentence.tokens.push_back(word[static_cast<std::size_t>(i % period)]);
    for (int i = 0; i < k_length; ++i) {
        const bool known = i >= period && i + 1 < k_length;
        sentence.targets.push_back(known ? sentence.tokens[static_cast<std::size_t>(i) + 1] : -1);
        sentence.keys.push_back(known ? i + 1 - period : -1);
    }
    return sentence;
}

void set_up_induction(Experiment& e, Optimizer& optimizer, int& batch) {
    e.input.dim = 32;
    e.attention.heads = 2;
    e.attention.position = Position::learned;
    e.attention.context_length = k_length;
    e.weighting.mask = {{MaskForm::causal}};
    e.transformer = {.layers = 2, .norm = Norm::before, .objective = Objective::next};
    optimizer = {.kind = OptimizerKind::adamw, .learning_rate = 1e-2, .weight_decay = 1e-2};
    batch = 16;
}

// ---- copy, reverse, sort: a target for every position

constexpr int k_row = 12, k_symbols = 12;

TaskSentence mapped(const std::vector<int>& tokens, const std::vector<int>& sources) {
    TaskSentence sentence{tokens, {}, sources};
    for (const int source : sources) sentence.targets.push_back(tokens[static_cast<std::size_t>(source)]);
    return sentence;
}

TaskSentence draw_copy(Generator& generator) {
    std::vector<int> sources(k_row);
    for (int i = 0; i < k_row; ++i) sources[static_cast<std::size_t>(i)] = i;
    return mapped(integers(generator, k_row, 0, k_symbols), sources);
}

TaskSentence draw_reverse(Generator& generator) {
    std::vector<int> sources(k_row);
    for (int i = 0; i < k_row; ++i) sources[static_cast<std::size_t>(i)] = k_row - 1 - i;
    return mapped(integers(generator, k_row, 0, k_symbols), sources);
}

/// Different letters, so that each place has one source.
TaskSentence draw_sort(Generator& generator) {
    constexpr int k_few = 6;
    const std::vector<int> tokens = different(generator, k_few, k_symbols);
    std::vector<int> sources(k_few);
    for (int i = 0; i < k_few; ++i) sources[static_cast<std::size_t>(i)] = i;
    std::ranges::sort(sources, {}, [&](int i) { return tokens[static_cast<std::size_t>(i)]; });
    return mapped(tokens, sources);
}

void set_up_mapping(Experiment& e, Optimizer& optimizer, int& batch) {
    e.input.dim = 32;
    e.attention.heads = 1;
    e.attention.position = Position::learned;
    e.attention.context_length = k_row;
    e.weighting.mask.clear();
    e.transformer = {.layers = 1, .norm = Norm::before, .objective = Objective::position};
    optimizer = {.kind = OptimizerKind::adam, .learning_rate = 1e-2};
    batch = 32;
}

void set_up_sort(Experiment& e, Optimizer& optimizer, int& batch) {
    set_up_mapping(e, optimizer, batch);
    e.attention.heads = 2;
    e.attention.feed_forward_size = 64;
    e.transformer.layers = 2;
    optimizer.learning_rate = 5e-3;
}

// ---- associative recall

constexpr int k_keys = 8, k_pairs = 5;

/// Pairs of a letter and a digit, then one of the letters and its digit, which can be known.
TaskSentence draw_recall(Generator& generator) {
    const std::vector<int> keys = different(generator, k_pairs, k_keys);
    const std::vector<int> values = integers(generator, k_pairs, k_keys, 2 * k_keys);
    const int asked = integers(generator, 1, 0, k_pairs).front();
    TaskSentence sentence;
    for (int i = 0; i < k_pairs; ++i) {
        sentence.tokens.push_back(keys[static_cast<std::size_t>(i)]);
        sentence.tokens.push_back(values[static_cast<std::size_t>(i)]);
    }
    sentence.tokens.push_back(keys[static_cast<std::size_t>(asked)]);
    const std::size_t last = sentence.tokens.size() - 1;
    sentence.tokens.push_back(values[static_cast<std::size_t>(asked)]);
    sentence.targets.assign(sentence.tokens.size(), -1);
    sentence.keys.assign(sentence.tokens.size(), -1);
    sentence.targets[last] = sentence.tokens.back();
    sentence.keys[last] = 2 * asked + 1;
    return sentence;
}

void set_up_recall(Experiment& e, Optimizer& optimizer, int& batch) {
    set_up_induction(e, optimizer, batch);
    e.attention.context_length = 2 * k_pairs + 2;
    batch = 64;
}

Words letters_and_digits() {
    Words words = letters(k_keys);
    for (int i = 0; i < k_keys; ++i) words.push_back(std::to_string(i));
    return words;
}

const std::array k_tasks = {
    Task{
        TaskKind::induction, "continue a word that repeats",
        "A head of layer 1 attends to the previous letter; a head of layer 2 then attends to the letter that "
        "followed the same letter earlier, and predicts it.",
        "induction", [] { return letters(k_letters); }, draw_induction, set_up_induction},
    Task{TaskKind::copy, "predict each letter", "Each position attends to itself: the diagonal.", "diagonal",
         [] { return letters(k_symbols); }, draw_copy, set_up_mapping},
    Task{TaskKind::reverse, "predict the letters from last to first",
         "Each position attends to the one that mirrors it: the antidiagonal.", "antidiagonal",
         [] { return letters(k_symbols); }, draw_reverse, set_up_mapping},
    Task{TaskKind::sort, "predict the letters in alphabetical order",
         "Position 1 attends to the letter that comes first in the alphabet, position 2 to the next.",
         "sources", [] { return letters(k_symbols); }, draw_sort, set_up_sort},
    Task{TaskKind::recall, "predict the digit that followed a letter",
         "The last letter attends to the digit after its first occurrence, and predicts it.", "recall",
         letters_and_digits, draw_recall, set_up_recall},
};
static_assert(k_tasks.size() == choices<TaskKind>().size());

}  // namespace

std::span<const Task> tasks() { return k_tasks; }

const Task& task_of(TaskKind kind) { return k_tasks[static_cast<std::size_t>(kind)]; }

Example example_of(const TaskSentence& sentence) {
    const auto row = [](const std::vector<int>& numbers) {
        Matrix matrix(1, std::ssize(numbers));
        std::ranges::copy(numbers, matrix.data());
        return matrix;
    };
    return {{"tokens", row(sentence.tokens)}, {"targets", row(sentence.targets)}};
}

std::string text_of(const Task& task, std::span<const int> tokens) {
    const Words words = task.words();
    std::string text;
    for (const int token : tokens) text += (text.empty() ? "" : " ") + words[static_cast<std::size_t>(token)];
    return text;
}

void set_sentence(Experiment& experiment, const Task& task, const TaskSentence& sentence) {
    std::string all;
    for (const std::string& word : task.words()) all += (all.empty() ? "" : " ") + word;
    experiment.input.words = all;
    experiment.input.table_size = 0;
    experiment.input.tokenizer = TokenizerKind::whitespace;
    experiment.input.text = text_of(task, sentence.tokens);
    const bool each = experiment.transformer.objective == Objective::position;
    experiment.input.text2 = each ? text_of(task, sentence.targets) : "";
}

}  // namespace attnscope
