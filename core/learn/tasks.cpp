#include "core/learn/tasks.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/error.h"
#include "core/learn/draws.h"
#include "core/learn/translate.h"
#include "core/text/tokenizer.h"
#include "core/text/vocabulary.h"

namespace attnscope {
namespace {

using Words = std::vector<std::string>;

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

void set_up_induction(Experiment& e) {
    e.mechanism = MechanismKind::transformer;
    e.input.dim = 32;
    e.attention.heads = 2;
    e.attention.position = Position::learned;
    e.attention.context_length = k_length;
    e.weighting.mask = {{MaskForm::causal}};
    e.transformer = {.layers = 2, .norm = Norm::before, .objective = Objective::next};
    e.training.optimizer = {.kind = OptimizerKind::adamw, .learning_rate = 1e-2, .weight_decay = 1e-2};
    e.training.batch = 16;
}

// ---- copy, reverse, sort: a target for every position

constexpr int k_row = 12, k_symbols = 12;

TaskSentence mapped(const std::vector<int>& tokens, const std::vector<int>& sources) {
    TaskSentence sentence{.tokens = tokens, .keys = sources};
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

void set_up_mapping(Experiment& e) {
    e.mechanism = MechanismKind::transformer;
    e.input.dim = 32;
    e.attention.heads = 1;
    e.attention.position = Position::learned;
    e.attention.context_length = k_row;
    e.weighting.mask.clear();
    e.transformer = {.layers = 1, .norm = Norm::before, .objective = Objective::position};
    e.training.optimizer = {.kind = OptimizerKind::adam, .learning_rate = 1e-2};
    e.training.batch = 32;
}

void set_up_sort(Experiment& e) {
    set_up_mapping(e);
    e.attention.heads = 2;
    e.attention.feed_forward_size = 64;
    e.transformer.layers = 2;
    e.training.optimizer.learning_rate = 5e-3;
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

void set_up_recall(Experiment& e) {
    set_up_induction(e);
    e.attention.context_length = 2 * k_pairs + 2;
    e.training.batch = 64;
}

Words letters_and_digits() {
    Words words = letters(k_keys);
    for (int i = 0; i < k_keys; ++i) words.push_back(std::to_string(i));
    return words;
}

// ---- translate

/// Bahdanau's encoder and decoder, 32 wide. Translations are learned from any seed, but the gender of a noun
/// can reach its article through the encoder alone; from this seed the article attends to the noun.
void set_up_translation(Experiment& e) {
    constexpr int k_width = 32;
    e.mechanism = MechanismKind::seq2seq;
    e.weights.seed = 7;
    e.input.dim = e.seq2seq.encoder_size = e.seq2seq.decoder_size = e.weighting.hidden = k_width;
    e.training.optimizer = {.kind = OptimizerKind::adam, .learning_rate = 5e-3, .clip = 5};
    e.training.batch = 32;
}

// ---- dates

constexpr std::array<std::string_view, 12> k_months{"January",   "February", "March",    "April",
                                                    "May",       "June",     "July",     "August",
                                                    "September", "October",  "November", "December"};
constexpr int k_first_year = 1900, k_years = 150, k_digits = 10;

Words digits() {
    Words words;
    for (int i = 0; i < k_digits; ++i) words.push_back(std::to_string(i));
    return words;
}

Words date_words() {
    Words words = digits();
    words.insert(words.end(), k_months.begin(), k_months.end());
    return words;
}

Words iso_words() {
    Words words = digits();
    words.emplace_back("-");
    return words;
}

int days_in(int month, int year) {
    constexpr std::array k_days{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return k_days[static_cast<std::size_t>(month)] + (leap && month == 1 ? 1 : 0);
}

/// "2 7 January 1 9 9 4" to "1 9 9 4 - 0 1 - 2 7". Each digit's key is the digit that it copies, those of the
/// month's number are its name; a day of one digit has no key for its 0.
TaskSentence draw_date(Generator& generator) {
    const int year = k_first_year + integers(generator, 1, 0, k_years).front();
    const int month = integers(generator, 1, 0, static_cast<int>(k_months.size())).front();
    const int day = 1 + integers(generator, 1, 0, days_in(month, year)).front();
    TaskSentence sentence{.tokens = {k_bos}};
    const bool two_digits = day >= 10;
    if (two_digits) sentence.source.push_back(day / 10);
    sentence.source.push_back(day % 10);
    const int at_month = static_cast<int>(sentence.source.size());
    sentence.source.push_back(k_digits + month);
    const auto say = [&](int word, int key) {
        sentence.targets.push_back(k_special_words + word);
        sentence.keys.push_back(key);
    };
    for (int i = 0, power = 1000; i < 4; ++i, power /= 10) {
        sentence.source.push_back(year / power % 10);
        say(year / power % 10, at_month + 1 + i);
    }
    say(k_digits, -1);
    say((month + 1) / 10, at_month);
    say((month + 1) % 10, at_month);
    say(k_digits, -1);
    say(day / 10, two_digits ? 0 : -1);
    say(day % 10, two_digits ? 1 : 0);
    sentence.tokens.insert(sentence.tokens.end(), sentence.targets.begin(), sentence.targets.end());
    sentence.targets.push_back(k_eos);
    sentence.keys.push_back(-1);
    return sentence;
}

// ---- the next token of a text

constexpr std::size_t k_window = 32, k_held_out_part = 10;

/// The text that is learned unless another one is typed.
constexpr const char* k_own_text =
    "The cat sees the dog. The dog sees the cat. The dog runs, and the cat runs. When the dog runs, the cat "
    "sits in the "
    "tree. When the cat sits in the tree, the dog sits under the tree. The dog waits. The cat waits. The "
    "rain comes, and "
    "the dog runs home. When the dog runs home, the cat comes down. The cat runs home in the rain. The cat "
    "sits by the "
    "fire. The dog sits by the fire. The rain comes down, and the fire is warm. The cat sleeps. The dog "
    "sleeps.";

/// The words as a text that the tokenizer cuts into the same words.
std::string joined(const Words& words, TokenizerKind kind) {
    std::string text;
    for (const std::string& word : words)
        text += (text.empty() || tokenizer_of(kind).keeps_spaces ? "" : " ") + word;
    return text;
}

TaskSentences open_text(const Training& training, TokenizerKind kind) {
    const std::string& text = training.corpus.empty() ? k_own_text : training.corpus;
    // Folded first, so that each folded character is a token.
    const Words tokens = tokenize(fold(text), tokenizer_of(kind));
    constexpr std::size_t k_fewest = 4, k_most_words = 5000;
    if (tokens.size() < k_fewest)
        throw Error(ErrorKind::bad_input,
                    fmt::format("the training text has {} token{}: write at least {} (corpus)", tokens.size(),
                                tokens.size() == 1 ? "" : "s", k_fewest));
    const Vocabulary vocabulary = make_vocabulary(tokens, vocabulary_rule(VocabularyOrder::alphabetical));
    if (vocabulary.words.size() > k_most_words)
        throw Error(ErrorKind::too_large,
                    fmt::format("the training text has {} different tokens and the limit is {}: "
                                "use a part of it (corpus)",
                                vocabulary.words.size(), k_most_words));
    if (tokenize(joined(vocabulary.words, kind), list_tokenizer_of(kind)) != vocabulary.words)
        throw Error(ErrorKind::bad_input, "the training text has combining characters: remove them (corpus)");
    const std::size_t count = tokens.size(), held_out = count / k_held_out_part;
    // A short text has no part to hold out.
    const std::size_t learned = held_out >= 2 * k_window ? count - held_out : count;
    const auto windows = [ids = vocabulary.ids](std::size_t begin, std::size_t end) {
        const std::size_t length = std::min(k_window, end - begin - 1);
        return [ids, begin, length, places = static_cast<int>(end - begin - length)](Generator& generator) {
            const auto first =
                ids.begin() + static_cast<std::ptrdiff_t>(begin) + integers(generator, 1, 0, places).front();
            const auto size = static_cast<std::ptrdiff_t>(length);
            return TaskSentence{.tokens = {first, first + size}, .targets = {first + 1, first + 1 + size}};
        };
    };
    return {.words = vocabulary.words,
            .draw = windows(0, learned),
            .draw_held_out = learned < count ? windows(learned, count) : windows(0, learned),
            .tokenizer = kind};
}

void set_up_text(Experiment& e) {
    e.mechanism = MechanismKind::transformer;
    e.input.dim = 64;
    e.attention.heads = 4;
    e.attention.position = Position::learned;
    e.attention.context_length = 64;
    e.attention.feed_forward_size = 128;
    e.weighting.mask = {{MaskForm::causal}};
    e.transformer = {.layers = 2, .norm = Norm::before, .objective = Objective::next};
    e.training.optimizer = {
        .kind = OptimizerKind::adamw, .learning_rate = 3e-3, .weight_decay = 1e-2, .clip = 1};
    e.training.batch = 16;
}

template <Words (*words)(), TaskSentence (*draw)(Generator&)>
TaskSentences in_stack(const Training&) {
    return {.words = words(), .draw = draw};
}
template <Words (*source_words)(), Words (*words)(), TaskSentence (*draw)(Generator&)>
TaskSentences translated(const Training&) {
    return {.source_words = source_words(), .words = words(), .draw = draw};
}
template <TokenizerKind kind>
TaskSentences of_text(const Training& training) {
    return open_text(training, kind);
}
Words induction_letters() { return letters(k_letters); }
Words symbols() { return letters(k_symbols); }

constexpr MechanismKind k_task_stack = MechanismKind::transformer, k_task_decoder = MechanismKind::seq2seq;

constexpr std::array k_tasks = {
    Task{TaskKind::translate, k_task_decoder, "translate simple English into French",
         "Adjective and noun change places, so their lines cross. An article attends to its noun, whose "
         "gender decides; "
         "\"ne\" and \"pas\" both attend to \"not\".",
         "alignment", translated<english_words, french_words, draw_translation>, set_up_translation},
    Task{TaskKind::dates, k_task_decoder, "write a date as year, month and day",
         "Each digit of the year attends to the digit that it copies, the number of the month to its name.",
         "alignment", translated<date_words, iso_words, draw_date>, set_up_translation},
    Task{
        TaskKind::induction, k_task_stack, "continue a word that repeats",
        "A head of layer 1 attends to the previous letter; a head of layer 2 then attends to the letter that "
        "followed the same letter earlier, and predicts it.",
        "induction", in_stack<induction_letters, draw_induction>, set_up_induction},
    Task{TaskKind::copy, k_task_stack, "predict each letter",
         "Each position attends to itself: the diagonal.", "diagonal", in_stack<symbols, draw_copy>,
         set_up_mapping},
    Task{TaskKind::reverse, k_task_stack, "predict the letters from last to first",
         "Each position attends to the one that mirrors it: the antidiagonal.", "antidiagonal",
         in_stack<symbols, draw_reverse>, set_up_mapping},
    Task{TaskKind::sort, k_task_stack, "predict the letters in alphabetical order",
         "Position 1 attends to the letter that comes first in the alphabet, position 2 to the next.",
         "sources", in_stack<symbols, draw_sort>, set_up_sort},
    Task{TaskKind::recall, k_task_stack, "predict the digit that followed a letter",
         "The last letter attends to the digit after its first occurrence, and predicts it.", "recall",
         in_stack<letters_and_digits, draw_recall>, set_up_recall},
    Task{TaskKind::next_word, k_task_stack, "predict the next word of a text",
         "Heads attend to the words that the next one depends on: the last one, and what followed it before.",
         "", of_text<TokenizerKind::words>, set_up_text, true},
    Task{TaskKind::next_character, k_task_stack, "predict the next character of a text",
         "Heads attend to the beginning of the word, and to the same letters earlier in the text.", "",
         of_text<TokenizerKind::characters>, set_up_text, true},
};
constexpr std::size_t index_of(TaskKind kind) { return static_cast<std::size_t>(kind) - 1; }
static_assert(k_tasks.size() + 1 == choices<TaskKind>().size());
static_assert(std::ranges::all_of(k_tasks,
                                  [](const Task& task) { return &k_tasks[index_of(task.choice)] == &task; }));

/// Rows of a table as text, without those before its words.
std::string text_of(const Words& words, std::span<const int> rows, int first_word, TokenizerKind kind) {
    Words text;
    for (const int row : rows)
        if (row >= first_word) text.push_back(words[static_cast<std::size_t>(row - first_word)]);
    return joined(text, kind);
}

}  // namespace

std::span<const Task> tasks() { return k_tasks; }

const Task& task_of(TaskKind kind) { return k_tasks[index_of(kind)]; }

std::vector<TaskSentence> draw_sentences(const std::function<TaskSentence(Generator&)>& draw,
                                         Generator& generator, int count) {
    std::vector<TaskSentence> sentences;
    for (int i = 0; i < count; ++i) sentences.push_back(draw(generator));
    return sentences;
}

Experiment task_experiment(TaskKind kind) {
    const Task& task = task_of(kind);
    Experiment experiment;
    task.set_up(experiment);
    experiment.training.task = kind;
    set_first_sentence(experiment);
    return experiment;
}

void set_first_sentence(Experiment& experiment) {
    const TaskSentences sentences = task_of(experiment.training.task).open(experiment.training);
    Generator generator(experiment.training.data_seed);
    set_sentence(experiment, sentences, sentences.draw(generator));
}

void set_sentence(Experiment& experiment, const TaskSentences& sentences, const TaskSentence& sentence) {
    Input& input = experiment.input;
    const TokenizerKind kind = sentences.tokenizer;
    input.table_size = 0;
    input.tokenizer = kind;
    if (!sentences.source_words.empty()) {
        input.words = joined(sentences.source_words, kind);
        input.words2 = joined(sentences.words, kind);
        input.text = text_of(sentences.source_words, sentence.source, 0, kind);
        input.text2 = text_of(sentences.words, sentence.targets, k_special_words, kind);
        return;
    }
    input.words = joined(sentences.words, kind);
    input.text = text_of(sentences.words, sentence.tokens, 0, kind);
    const bool each = has_own_targets(experiment.transformer.objective);
    input.text2 = each ? text_of(sentences.words, sentence.targets, 0, kind) : "";
}

}  // namespace attnscope
