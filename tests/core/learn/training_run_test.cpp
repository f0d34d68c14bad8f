// Training runs and their tasks.
#include "core/learn/training_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <set>

#include "core/error.h"
#include "core/graph/graph.h"
#include "core/graph/stage_table.h"
#include "core/learn/draws.h"
#include "core/learn/seq2seq_batch.h"
#include "core/learn/translate.h"
#include "core/mechanism/evaluate.h"
#include "core/mechanism/mechanisms.h"
#include "core/session/applies.h"
#include "core/session/session.h"
#include "tests/option_values.h"
#include "tests/sanitized.h"

namespace attnscope {
namespace {

std::vector<TaskSentence> some_sentences(const Task& task, int count = 50) {
    Generator generator(7);
    const TaskSentences of_task = task.open({});
    std::vector<TaskSentence> sentences;
    for (int i = 0; i < count; ++i) sentences.push_back(of_task.draw(generator));
    return sentences;
}

std::string title_of(const Task& task) { return std::string(name_of(task.choice)); }

TEST(TaskTest, WhatIsAskedOfAStackIsWhatStandsAtTheKey) {
    for (const Task& task : tasks()) {
        if (task.mechanism != MechanismKind::transformer || task.pattern.empty()) continue;
        const auto words = std::ssize(task.open({}).words);
        for (const TaskSentence& sentence : some_sentences(task)) {
            ASSERT_EQ(sentence.targets.size(), sentence.tokens.size()) << title_of(task);
            ASSERT_EQ(sentence.keys.size(), sentence.tokens.size()) << title_of(task);
            int asked = 0;
            for (std::size_t i = 0; i < sentence.tokens.size(); ++i) {
                EXPECT_LT(sentence.tokens[i], words);
                EXPECT_EQ(sentence.targets[i] < 0, sentence.keys[i] < 0);
                if (sentence.targets[i] < 0) continue;
                ++asked;
                EXPECT_EQ(sentence.tokens[static_cast<std::size_t>(sentence.keys[i])], sentence.targets[i]);
            }
            EXPECT_GT(asked, 0);
        }
    }
}

TEST(TaskTest, SentencesDiffer) {
    for (const Task& task : tasks()) {
        std::set<std::vector<int>> different;
        for (const TaskSentence& sentence : some_sentences(task)) different.insert(sentence.tokens);
        EXPECT_GT(different.size(), task.pattern.empty() ? 30u : 45u) << title_of(task);
    }
}

TEST(TaskTest, TheSentenceInTheFieldIsTheTasks) {
    for (const Task& task : tasks()) {
        const Experiment e = task_experiment(task.choice);
        Generator generator(e.training.data_seed);
        const TaskSentence sentence = task.open(e.training).draw(generator);
        const Trace trace = evaluate(e);
        const bool is_seq2seq = task.mechanism == MechanismKind::seq2seq;
        const auto expect_rows = [&](StageKey key, const std::vector<int>& rows) {
            const Stage* stage = trace.find(key);
            ASSERT_TRUE(stage) << title_of(task);
            ASSERT_EQ(stage->shape().rows, std::ssize(rows)) << title_of(task);
            for (int i = 0; i < stage->shape().rows; ++i)
                if (rows[static_cast<std::size_t>(i)] >= 0) {
                    EXPECT_EQ(stage->buffer.at(0, i, 0),
                              static_cast<float>(rows[static_cast<std::size_t>(i)]))
                        << title_of(task) << " " << i;
                }
        };
        expect_rows(is_seq2seq ? "fed_tokens"_stage : "tokens"_stage, sentence.tokens);
        // The experiment's own loss has no target at its last token, as the text may end there.
        std::vector<int> targets = sentence.targets;
        if (task.pattern.empty()) targets.back() = -1;
        expect_rows("target_tokens"_stage, targets);
        if (is_seq2seq) expect_rows("source"_stage, sentence.source);
    }
}

// ---- translate

std::string words_of(const std::vector<std::string>& words, const std::vector<int>& rows, int first) {
    std::string text;
    for (const int row : rows)
        if (row >= first) text += (text.empty() ? "" : " ") + words[static_cast<std::size_t>(row - first)];
    return text;
}

TEST(TranslateTest, TheFrenchIsRight) {
    std::map<std::string, std::string> expected = {
        {"the black cat sees the house", "le chat noir voit la maison"},
        {"I see a small house", "je vois une petite maison"},
        {"she does not want a white car", "elle ne veut pas une voiture blanche"},
        {"they find the dog", "ils trouvent le chien"},
        {"we do not watch a cat", "nous ne regardons pas un chat"},
        {"you want the book", "tu veux le livre"}};
    const std::vector<std::string> english = english_words(), french = french_words();
    Generator generator(3);
    const std::size_t not_drawn = test::k_sanitized ? 4 : 0;
    for (int i = 0; i < 200000 && expected.size() > not_drawn; ++i) {
        const TaskSentence sentence = draw_translation(generator);
        const auto found = expected.find(words_of(english, sentence.source, 0));
        if (found == expected.end()) continue;
        EXPECT_EQ(words_of(french, sentence.targets, k_special_words), found->second) << found->first;
        expected.erase(found);
    }
    EXPECT_EQ(expected.size(), not_drawn) << expected.begin()->first << " was not drawn";
}

TEST(TranslateTest, EachKeyIsTheEnglishOfItsWord) {
    const std::vector<std::string> english = english_words(), french = french_words();
    std::map<std::string, std::set<std::string>> looked_at;
    for (const TaskSentence& sentence : some_sentences(task_of(TaskKind::translate), 2000)) {
        ASSERT_EQ(sentence.tokens.size(), sentence.targets.size());
        ASSERT_EQ(sentence.keys.size(), sentence.targets.size());
        EXPECT_EQ(sentence.tokens.front(), k_bos);
        EXPECT_EQ(sentence.targets.back(), k_eos);
        EXPECT_TRUE(std::equal(sentence.tokens.begin() + 1, sentence.tokens.end(), sentence.targets.begin()));
        for (std::size_t i = 0; i + 1 < sentence.targets.size(); ++i)
            if (sentence.keys[i] >= 0)
                looked_at[french[static_cast<std::size_t>(sentence.targets[i] - k_special_words)]].insert(
                    english[static_cast<std::size_t>(
                        sentence.source[static_cast<std::size_t>(sentence.keys[i])])]);
    }
    using Words = std::set<std::string>;
    EXPECT_EQ(looked_at["noire"], Words{"black"});
    EXPECT_EQ(looked_at["petit"], Words{"small"});
    EXPECT_EQ(looked_at["ne"], Words{"not"});
    EXPECT_EQ(looked_at["pas"], Words{"not"});
    EXPECT_EQ(looked_at["voit"], Words{"sees"});
    EXPECT_EQ(looked_at["chat"], Words{"cat"});
    EXPECT_EQ(looked_at["la"], (Words{"house", "car", "table", "flower"}));
}

TEST(DatesTest, TheDateIsRightAndEachDigitsKeyIsWhatItCopies) {
    const TaskSentences dates = task_of(TaskKind::dates).open({});
    for (const TaskSentence& sentence : some_sentences(task_of(TaskKind::dates), 500)) {
        const std::string from = words_of(dates.source_words, sentence.source, 0);
        const std::string to = words_of(dates.words, sentence.targets, k_special_words);
        ASSERT_EQ(to.size(), 19u) << to;
        const std::string year{to[0], ' ', to[2], ' ', to[4], ' ', to[6]};
        EXPECT_TRUE(from.ends_with(year)) << from << " | " << to;
        const std::string day{to[16], ' ', to[18]};
        EXPECT_TRUE(from.starts_with(to[16] == '0' ? day.substr(2) + " " : day + " ")) << from << " | " << to;
        for (std::size_t i = 0; i < sentence.keys.size(); ++i) {
            if (sentence.keys[i] < 0 || i == 5 || i == 6) continue;
            EXPECT_EQ(sentence.source[static_cast<std::size_t>(sentence.keys[i])],
                      sentence.targets[i] - k_special_words);
        }
        EXPECT_GE(sentence.source[static_cast<std::size_t>(sentence.keys[5])], 10) << "the name of the month";
    }
}

TEST(TextTest, ATextTooShortIsRefusedAndOneThatIsTypedIsLearned) {
    for (const char* text : {"", "one two three and four"})
        EXPECT_NO_THROW(task_of(TaskKind::next_word).open({.corpus = text}));
    for (const char* text : {"word", "  \n ", "a b"}) {
        EXPECT_THROW(task_of(TaskKind::next_word).open({.corpus = text}), Error) << text;
    }
    Experiment e = task_experiment(TaskKind::next_character);
    e.input.dim = 16;
    e.training.corpus = "abcabcabcabcabcabcabcabcabcabcabcabc";
    TrainingRun run(e);
    run.go_to(20);
    EXPECT_EQ(run.start().input.words, "abc");
    EXPECT_GT(run.measure().accuracy, 0.9);
}

// ---- batches

/// The batch's loss and gradients as the mean of those of its sentences.
void expect_mean_of_each(const Experiment& model, const Parameters& parameters,
                         const std::vector<TaskSentence>& batch) {
    const BatchResult together = batch_gradients(model, parameters, batch);
    double loss = 0, accuracy = 0, pattern = 0;
    int looked = 0;
    Parameters sum;
    for (const TaskSentence& sentence : batch) {
        const BatchResult alone = batch_gradients(model, parameters, {&sentence, 1});
        const double share = static_cast<double>(alone.targets) / together.targets;
        loss += share * alone.loss;
        accuracy += share * alone.accuracy;
        pattern += alone.patterns.front().sum;
        looked += alone.patterns.front().count;
        for (const auto& [name, gradient] : alone.gradients) {
            const auto [place, is_new] = sum.try_emplace(name, static_cast<float>(share) * gradient);
            if (!is_new) place->second += static_cast<float>(share) * gradient;
        }
    }
    EXPECT_NEAR(together.loss, loss, 1e-6);
    EXPECT_NEAR(together.accuracy, accuracy, 1e-12);
    EXPECT_EQ(together.patterns.front().count, looked);
    EXPECT_NEAR(together.patterns.front().sum, pattern, 1e-4);
    // Sums of the same float32 numbers in another order.
    ASSERT_EQ(sum.size(), together.gradients.size());
    for (const auto& [name, gradient] : sum)
        EXPECT_LE((gradient - together.gradients.at(name)).cwiseAbs().maxCoeff(), 2e-6) << name;
}

TEST(BatchTest, SentencesTogetherGiveTheGradientsOfEach) {
    for (const TaskKind kind : {TaskKind::induction, TaskKind::sort, TaskKind::translate}) {
        const TrainingRun start(task_experiment(kind));
        expect_mean_of_each(start.start(), start.parameters(), some_sentences(task_of(kind), 5));
    }
}

TEST(BatchTest, TheDecoderOfManySentencesIsThatOfTheGraph) {
    for (const Encoder encoder : {Encoder::bidirectional, Encoder::forward})
        for (const AlignmentState state : {AlignmentState::previous, AlignmentState::current})
            for (const DecoderAttention attention : {DecoderAttention::additive, DecoderAttention::none}) {
                Experiment e = task_experiment(TaskKind::translate);
                e.seq2seq.encoder = encoder;
                e.seq2seq.alignment_state = state;
                e.seq2seq.decoder_attention = attention;
                e.input.dim = 5;
                e.seq2seq.encoder_size = 4;
                e.seq2seq.decoder_size = 6;
                e.weighting.hidden = 3;
                const TrainingRun run(e);
                ASSERT_TRUE(computes_together(run.start()));
                const std::vector<TaskSentence> batch = some_sentences(task_of(TaskKind::translate), 7);
                const BatchResult fast = batch_gradients(run.start(), run.parameters(), batch);
                // A mask that closes nothing is enough for one sentence at a time.
                Experiment one_by_one = run.start();
                one_by_one.weighting.mask = {{MaskForm::window, {4096, 4096}}};
                ASSERT_FALSE(computes_together(one_by_one));
                const BatchResult slow = batch_gradients(one_by_one, run.parameters(), batch);
                EXPECT_NEAR(fast.loss, slow.loss, 1e-6);
                EXPECT_EQ(fast.accuracy, slow.accuracy);
                ASSERT_EQ(fast.patterns.size(), attention == DecoderAttention::none ? 0u : 1u);
                ASSERT_EQ(fast.patterns.size(), slow.patterns.size());
                for (std::size_t i = 0; i < fast.patterns.size(); ++i)
                    EXPECT_NEAR(fast.patterns[i].value(), slow.patterns[i].value(), 1e-6);
                ASSERT_EQ(fast.gradients.size(), slow.gradients.size());
                for (const auto& [name, gradient] : slow.gradients)
                    EXPECT_LE((gradient - fast.gradients.at(name)).cwiseAbs().maxCoeff(),
                              2e-6 * std::max(1.0f, gradient.cwiseAbs().maxCoeff()))
                        << name;
            }
}

/// A setting that seq2seq_batch() forgot would have no effect, or another, in training alone.
TEST(BatchTest, WithEveryValueOfEverySettingTheDecoderOfManySentencesIsThatOfTheGraph) {
    Session base;
    base.experiment = task_experiment(TaskKind::translate);
    base.experiment.input.dim = 8;
    base.experiment.seq2seq.encoder_size = 4;
    base.experiment.seq2seq.decoder_size = 6;
    base.experiment.weighting.hidden = 3;
    const std::vector<TaskSentence> batch = some_sentences(task_of(TaskKind::translate), 3);
    const auto is_valid = [](const Experiment& e) {
        try {
            check(e);
            return can_be_trained(e);
        } catch (const Error&) {
            return false;
        }
    };
    std::set<std::string_view> compared;
    std::size_t visited = 0;
    for (const Option& option : options()) {
        if (!option.in_experiment() || option.section == OptionSection::training) continue;
        if (option.type == OptionType::matrices) continue;
        const bool used = why_unused(option, base.experiment).empty();
        for (const std::string& value : test::other_values(option, base.experiment)) {
            Session changed = base;
            set_from_text(changed, option, value);
            if (changed.experiment == base.experiment || !is_valid(changed.experiment)) continue;
            const TrainingRun run(changed.experiment);
            if (!computes_together(run.start()) || !test::is_visited(visited++, 4)) continue;
            SCOPED_TRACE(std::string(option.name) + " " + value);
            const BatchResult fast = batch_gradients(run.start(), run.parameters(), batch);
            Experiment one_by_one = run.start();
            one_by_one.weighting.mask = {{MaskForm::window, {4096, 4096}}};
            const BatchResult slow = batch_gradients(one_by_one, run.parameters(), batch);
            EXPECT_NEAR(fast.loss, slow.loss, 1e-6);
            ASSERT_EQ(fast.gradients.size(), slow.gradients.size());
            for (const auto& [name, gradient] : slow.gradients)
                EXPECT_LE((gradient - fast.gradients.at(name)).cwiseAbs().maxCoeff(),
                          2e-6 * std::max(1.0f, gradient.cwiseAbs().maxCoeff()))
                    << name;
            if (used) compared.insert(option.name);
        }
    }
    for (const char* name : {"dim", "hidden", "encoder", "decoder-attention", "encoder-size", "decoder-size"})
        EXPECT_TRUE(test::k_sanitized || compared.contains(name)) << name;
    EXPECT_FALSE(compared.empty());
}

// ---- runs

void expect_same_bits(const Parameters& a, const Parameters& b) {
    ASSERT_EQ(a.size(), b.size());
    for (const auto& [name, values] : a) {
        const Matrix& other = b.at(name);
        ASSERT_EQ(values.size(), other.size()) << name;
        EXPECT_EQ(
            std::memcmp(values.data(), other.data(), sizeof(float) * static_cast<std::size_t>(values.size())),
            0)
            << name;
    }
}

/// The translator, small, with batches of two parts.
Experiment small_translator() {
    Experiment e = task_experiment(TaskKind::translate);
    e.input.dim = e.seq2seq.encoder_size = e.seq2seq.decoder_size = e.weighting.hidden = 4;
    e.training.batch = 20;
    return e;
}

TEST(RunTest, TheSameTrainingGivesTheSameBitsOnOneThreadAndOnTwo) {
    for (const Experiment& e : {task_experiment(TaskKind::induction), small_translator()}) {
        TrainingRun first(e, 1), second(e, 2);
        for (int i = 0; i < 3; ++i) {
            first.advance();
            second.advance();
            EXPECT_EQ(first.records().back().loss, second.records().back().loss);
        }
        expect_same_bits(first.parameters(), second.parameters());
    }
}

TEST(RunTest, GoingBackAndOnAgainGivesTheSameBits) {
    TrainingRun straight(small_translator()), run(small_translator());
    Parameters fifth;
    for (int i = 0; i < 23; ++i) {
        straight.advance();
        if (straight.step() == 5) fifth = straight.parameters();
    }
    run.go_to(21);
    run.go_to(5);
    EXPECT_EQ(run.step(), 5);
    EXPECT_EQ(run.records().size(), 21u);
    expect_same_bits(run.parameters(), fifth);
    run.go_to(0);
    EXPECT_EQ(run.step(), 0);
    run.go_to(23);
    EXPECT_EQ(run.records().size(), 23u);
    expect_same_bits(run.parameters(), straight.parameters());
    for (std::size_t i = 0; i < 23; ++i) EXPECT_EQ(run.records()[i].loss, straight.records()[i].loss);
}

TEST(RunTest, OfALongRunEveryOtherKeptStateIsDropped) {
    if (test::k_sanitized) GTEST_SKIP() << "many steps, which a sanitizer makes slow";
    Experiment e = task_experiment(TaskKind::copy);
    e.input.dim = 2;
    e.training.batch = 1;
    TrainingRun run(e);
    run.go_to(700);
    const Parameters last = run.parameters();
    run.go_to(333);
    run.go_to(700);
    expect_same_bits(run.parameters(), last);
    EXPECT_LT(run.kept_bytes(), std::size_t{64} << 20);
}

TEST(RunTest, TranslatingIsLearnedAndAnArticleLooksAtItsNoun) {
    if (test::k_sanitized) GTEST_SKIP() << "many steps, which a sanitizer makes slow";
    TrainingRun run(task_experiment(TaskKind::translate));
    const Measurement before = run.measure();
    EXPECT_LT(before.accuracy, 0.2);
    run.go_to(150);
    const Measurement after = run.measure();
    EXPECT_LT(after.loss, 0.1);
    EXPECT_GT(after.accuracy, 0.97);
    EXPECT_GT(after.patterns.front(), before.patterns.front() + 0.3);
}

TEST(RunTest, ReversingIsLearnedAndItsHeadLooksAtTheMirroredPlace) {
    if (test::k_sanitized) GTEST_SKIP() << "many steps, which a sanitizer makes slow";
    TrainingRun run(task_experiment(TaskKind::reverse));
    const Measurement before = run.measure();
    run.go_to(60);
    const Measurement after = run.measure();
    EXPECT_LT(after.loss, before.loss / 4);
    EXPECT_GT(after.accuracy, 0.9);
    EXPECT_GT(after.patterns[after.best_head()], 0.5);
}

TEST(RunTest, WhatIsLearnedIsAnOrdinaryExperiment) {
    TrainingRun run(task_experiment(TaskKind::copy));
    run.go_to(2);
    const Trace trace = evaluate(run.experiment());
    EXPECT_EQ(Matrix(trace.find({"W_q"_stage, 1})->buffer.host().head(0)), run.parameters().at("1.W_q"));
    EXPECT_EQ(Matrix(trace.find("table"_stage)->buffer.host().head(0)), run.parameters().at("E"));
    EXPECT_EQ(run.experiment().training.step, 2);
    EXPECT_EQ(untrained(run.experiment()), run.start());
    const Experiment again = at_step(run.start(), 2);
    EXPECT_EQ(again, run.experiment());
}

TEST(RunTest, AnotherSentenceAndAnotherStepAreOfTheSameRun) {
    const Experiment start = task_experiment(TaskKind::reverse);
    Experiment other = at_step(start, 1);
    other.input.text = "b a";
    EXPECT_TRUE(are_of_one_run(start, other));
    other.training.optimizer.learning_rate *= 2;
    EXPECT_FALSE(are_of_one_run(start, other));
    other = start;
    other.attention.position = Position::none;
    EXPECT_FALSE(are_of_one_run(start, other));
}

TEST(RunTest, ALossThatIsNotFiniteEndsItAtTheLastParametersWhoseLossIs) {
    Experiment e = task_experiment(TaskKind::copy);
    e.training.optimizer = {.kind = OptimizerKind::sgd, .learning_rate = 1e30};
    TrainingRun run(e);
    std::vector<Parameters> all;
    EXPECT_THROW(
        {
            for (int i = 0; i < 20; ++i) {
                all.push_back(run.parameters());
                run.advance();
            }
        },
        Error);
    ASSERT_GE(all.size(), 2u);
    // The last step that was taken made parameters whose loss is not finite.
    EXPECT_EQ(run.step(), std::ssize(all) - 2);
    expect_same_bits(all[all.size() - 2], run.parameters());
    EXPECT_TRUE(std::isfinite(run.measure().loss));
}

TEST(RunTest, AModelThatCannotBeTrainedIsRefused) {
    const auto refusal = [](const auto& change) {
        Experiment e = task_experiment(TaskKind::copy);
        change(e);
        try {
            TrainingRun run(e);
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_EQ(refusal([](Experiment&) {}), "");
    EXPECT_NE(refusal([](Experiment& e) { e.training.batch = 0; }).find("batch 0"), std::string::npos);
    EXPECT_NE(refusal([](Experiment& e) { e.training.task = TaskKind::none; }).find("task"),
              std::string::npos);
    EXPECT_NE(refusal([](Experiment& e) { e.training.task = TaskKind::translate; }).find("use seq2seq"),
              std::string::npos);
    EXPECT_NE(refusal([](Experiment& e) { e.attention.position = Position::alibi; }).find("alibi"),
              std::string::npos);
}

/// A model of a task, not tied to its table, with its parameters as custom matrices.
Experiment learned(TaskKind task, const std::function<void(Experiment&)>& edit = {}) {
    Experiment e = task_experiment(task);
    e.transformer.tied = false;
    if (edit) edit(e);
    return with_parameters(e, TrainingRun(e).parameters());
}

bool can_be_built(const Experiment& e) {
    return succeeds([&] { build(e); });
}

TEST(ParametersFitTest, ThoseOfEveryTaskFitTheModelThatLearnsIt) {
    for (const Task& task : tasks())
        EXPECT_EQ(why_parameters_do_not_fit(learned(task.choice)), "") << title_of(task);
    EXPECT_EQ(
        why_parameters_do_not_fit(learned(
            TaskKind::translate, [](Experiment& e) { e.weighting.normalizer = Normalization::local_p; })),
        "");
}

/// After `fitting` of the edits the experiment still takes the learned parameters: exactly where its graph
/// can be built with them.
void expect_fits_where_the_graph_does(const Experiment& start,
                                      const std::vector<std::function<void(Experiment&)>>& edits,
                                      int fitting) {
    int found = 0;
    for (std::size_t i = 0; i < edits.size(); ++i) {
        Experiment e = start;
        edits[i](e);
        const std::string why = why_parameters_do_not_fit(e);
        EXPECT_EQ(why.empty(), can_be_built(e)) << why << ", edit " << i;
        found += why.empty();
    }
    EXPECT_EQ(found, fitting);
}

TEST(ParametersFitTest, AnotherModelOfAStackTakesThemWhereItsGraphDoes) {
    const Experiment start = learned(TaskKind::sort);
    const std::vector<std::function<void(Experiment&)>> edits = {
        [](Experiment& e) { e.input.dim *= 2; },
        [](Experiment& e) { e.attention.heads *= 2; },
        [](Experiment& e) { e.attention.feed_forward_size += 1; },
        [](Experiment& e) { e.attention.feed_forward_size = 0; },
        [](Experiment& e) { e.attention.context_length += 1; },
        [](Experiment& e) { e.attention.position = Position::sinusoidal, e.attention.context_length += 1; },
        [](Experiment& e) { e.transformer.layers += 1; },
        [](Experiment& e) { e.transformer.layers = 1; },
        [](Experiment& e) { e.transformer.tied = true; },
        [](Experiment& e) { e.transformer.norm = Norm::after; },
        [](Experiment& e) { e.input.words += " unheard-of"; },
        [](Experiment& e) { e.weights.custom.erase("W_out"); },
        [](Experiment& e) { e.weighting.temperature = 2; }};
    expect_fits_where_the_graph_does(start, edits, 9);
}

TEST(ParametersFitTest, AnotherTranslatorTakesThemWhereItsGraphDoes) {
    const Experiment start = learned(TaskKind::translate);
    const std::vector<std::function<void(Experiment&)>> edits = {
        [](Experiment& e) { e.input.dim += 1; },
        [](Experiment& e) { e.seq2seq.encoder_size += 1; },
        [](Experiment& e) { e.seq2seq.decoder_size += 1; },
        [](Experiment& e) { e.seq2seq.encoder = Encoder::forward; },
        [](Experiment& e) { e.seq2seq.alignment_state = AlignmentState::current; },
        [](Experiment& e) { e.seq2seq.decoder_attention = DecoderAttention::none; },
        [](Experiment& e) { e.seq2seq.decoder_attention = DecoderAttention::none, e.weighting.hidden += 1; },
        [](Experiment& e) { e.seq2seq.decode = Decode::greedy; },
        [](Experiment& e) { e.seq2seq.decode = Decode::greedy, e.input.words2 += " inouï"; },
        [](Experiment& e) { e.weighting.hidden += 1; },
        [](Experiment& e) { e.weighting.normalizer = Normalization::local_p; },
        [](Experiment& e) { e.input.words += " unheard-of"; },
        [](Experiment& e) { e.input.words2 += " inouï"; }};
    expect_fits_where_the_graph_does(start, edits, 5);
}

TEST(ParametersFitTest, WhyNotIsSaidOfTheFirstThatDoesNot) {
    Experiment e = learned(TaskKind::sort);
    const Matrix& given = e.weights.find_custom("1.W_1")->values();
    e.attention.feed_forward_size += 1;
    EXPECT_EQ(why_parameters_do_not_fit(e),
              "1.W_1 is " + std::to_string(given.rows()) + " × " + std::to_string(given.cols()) +
                  ", but must be " + std::to_string(given.rows() + 1) + " × " + std::to_string(given.cols()));
    e.mechanism = MechanismKind::attention;
    EXPECT_EQ(why_parameters_do_not_fit(e), "no custom matrix is a parameter of attention");
    // Whether a sentence can be computed is another question.
    Experiment silent = learned(TaskKind::copy);
    silent.input.text = "";
    EXPECT_FALSE(can_be_built(silent));
    EXPECT_EQ(why_parameters_do_not_fit(silent), "");
}

TEST(OptimizerTest, TheLearningRateRisesAndFalls) {
    Optimizer optimizer{.learning_rate = 0.5};
    EXPECT_EQ(learning_rate_at(optimizer, 1), 0.5);
    EXPECT_EQ(learning_rate_at(optimizer, 100000), 0.5);
    optimizer.warm_up = 10;
    EXPECT_DOUBLE_EQ(learning_rate_at(optimizer, 1), 0.05);
    EXPECT_DOUBLE_EQ(learning_rate_at(optimizer, 10), 0.5);
    optimizer.decay = 100;
    EXPECT_DOUBLE_EQ(learning_rate_at(optimizer, 60), 0.25);
    EXPECT_NEAR(learning_rate_at(optimizer, 35), 0.5 * (1 + std::sqrt(0.5)) / 2, 1e-15);
    EXPECT_NEAR(learning_rate_at(optimizer, 110), 0, 1e-16);
    EXPECT_NEAR(learning_rate_at(optimizer, 5000), 0, 1e-16);
}

}  // namespace
}  // namespace attnscope
