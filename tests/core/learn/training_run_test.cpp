// Training runs and their tasks.
#include "core/learn/training_run.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "core/error.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"

namespace attnscope {
namespace {

std::vector<TaskSentence> some_sentences(const Task& task) {
    Generator generator(7);
    std::vector<TaskSentence> sentences;
    for (int i = 0; i < 50; ++i) sentences.push_back(task.draw(generator));
    return sentences;
}

TEST(TaskTest, WhatIsAskedIsWhatStandsAtTheKey) {
    for (const Task& task : tasks())
        for (const TaskSentence& sentence : some_sentences(task)) {
            ASSERT_EQ(sentence.targets.size(), sentence.tokens.size()) << task.pattern;
            ASSERT_EQ(sentence.keys.size(), sentence.tokens.size()) << task.pattern;
            int asked = 0;
            for (std::size_t i = 0; i < sentence.tokens.size(); ++i) {
                EXPECT_LT(sentence.tokens[i], std::ssize(task.words()));
                EXPECT_EQ(sentence.targets[i] < 0, sentence.keys[i] < 0);
                if (sentence.targets[i] < 0) continue;
                ++asked;
                EXPECT_EQ(sentence.tokens[static_cast<std::size_t>(sentence.keys[i])], sentence.targets[i]);
            }
            EXPECT_GT(asked, 0);
        }
}

TEST(TaskTest, SentencesDiffer) {
    for (const Task& task : tasks()) {
        const std::vector<TaskSentence> sentences = some_sentences(task);
        std::set<std::vector<int>> different;
        for (const TaskSentence& sentence : sentences) different.insert(sentence.tokens);
        EXPECT_GT(different.size(), 45u) << task.pattern;
    }
}

TEST(TaskTest, TheSentenceInTheFieldIsTheTasks) {
    for (const Task& task : tasks()) {
        const Experiment e = training_of(task.choice).model;
        Generator generator(training_of(task.choice).seed);
        const TaskSentence sentence = task.draw(generator);
        const Trace trace = evaluate(e);
        const Stage& tokens = *trace.find("tokens"_stage);
        ASSERT_EQ(tokens.shape().rows, std::ssize(sentence.tokens)) << task.pattern;
        for (int i = 0; i < tokens.shape().rows; ++i)
            EXPECT_EQ(tokens.buffer.at(0, i, 0), sentence.tokens[static_cast<std::size_t>(i)]);
        // Where something is asked, the experiment's own loss asks for the same.
        const Stage& targets = *trace.find("target_tokens"_stage);
        for (int i = 0; i < tokens.shape().rows; ++i)
            if (const int target = sentence.targets[static_cast<std::size_t>(i)]; target >= 0) {
                EXPECT_EQ(targets.buffer.at(0, i, 0), target) << task.pattern << " " << i;
            }
    }
}

TEST(BatchTest, SentencesOfOneLengthTogetherGiveTheGradientsOfEach) {
    for (const TaskKind kind : {TaskKind::induction, TaskKind::sort}) {
        const Training training = training_of(kind);
        const TrainingRun start(training);
        std::vector<Example> batch;
        for (const TaskSentence& sentence : some_sentences(task_of(kind)))
            batch.push_back(example_of(sentence));
        batch.resize(5);
        const BatchResult together = batch_gradients(training.model, start.parameters(), batch);
        double loss = 0;
        Parameters sum;
        for (const Example& example : batch) {
            const BatchResult alone = batch_gradients(training.model, start.parameters(), {&example, 1});
            const double share = static_cast<double>(alone.targets) / together.targets;
            loss += share * alone.loss;
            for (const auto& [name, gradient] : alone.gradients) {
                const auto [place, is_new] = sum.try_emplace(name, static_cast<float>(share) * gradient);
                if (!is_new) place->second += static_cast<float>(share) * gradient;
            }
        }
        EXPECT_NEAR(together.loss, loss, 1e-6);
        // Sums of the same float32 numbers in another order.
        for (const auto& [name, gradient] : sum)
            EXPECT_LE((gradient - together.gradients.at(name)).cwiseAbs().maxCoeff(), 2e-6) << name;
    }
}

TEST(RunTest, TheSameTrainingGivesTheSameBits) {
    TrainingRun first(training_of(TaskKind::induction)), second(training_of(TaskKind::induction));
    for (int i = 0; i < 3; ++i) {
        first.step();
        second.step();
        EXPECT_EQ(first.records().back().loss, second.records().back().loss);
    }
    for (const auto& [name, values] : first.parameters())
        EXPECT_EQ(values, second.parameters().at(name)) << name;
}

TEST(RunTest, ReversingIsLearnedAndItsHeadLooksAtTheMirroredPlace) {
    TrainingRun run(training_of(TaskKind::reverse));
    const Measurement before = run.measure();
    for (int i = 0; i < 60; ++i) run.step();
    const Measurement after = run.measure();
    EXPECT_LT(after.loss, before.loss / 4);
    EXPECT_GT(after.accuracy, 0.9);
    EXPECT_GT(after.best().score, 0.5);
}

TEST(RunTest, WhatIsLearnedIsAnOrdinaryExperiment) {
    TrainingRun run(training_of(TaskKind::copy));
    for (int i = 0; i < 2; ++i) run.step();
    const Trace trace = evaluate(run.experiment());
    EXPECT_EQ(Matrix(trace.find({"W_q"_stage, 1})->buffer.host().head(0)), run.parameters().at("1.W_q"));
    EXPECT_EQ(Matrix(trace.find("table"_stage)->buffer.host().head(0)), run.parameters().at("E"));
}

TEST(RunTest, ALossThatIsNotFiniteEndsItAndKeepsTheLastParameters) {
    Training training = training_of(TaskKind::copy);
    training.optimizer = {.kind = OptimizerKind::sgd, .learning_rate = 1e30};
    TrainingRun run(training);
    Parameters last;
    EXPECT_THROW(
        {
            for (int i = 0; i < 20; ++i) {
                last = run.parameters();
                run.step();
            }
        },
        Error);
    EXPECT_LT(run.steps(), 20);
    for (const auto& [name, values] : last) {
        const auto bits = [](const Matrix& m) { return std::vector<float>(m.data(), m.data() + m.size()); };
        EXPECT_EQ(std::memcmp(bits(values).data(), bits(run.parameters().at(name)).data(),
                              sizeof(float) * static_cast<std::size_t>(values.size())),
                  0)
            << name;
    }
}

TEST(RunTest, ABatchOutOfRangeAndAnotherMechanismAreRefused) {
    Training training = training_of(TaskKind::copy);
    training.batch = 0;
    EXPECT_THROW(TrainingRun{training}, Error);
    training.batch = 1;
    training.model.mechanism = MechanismKind::attention;
    EXPECT_THROW(TrainingRun{training}, Error);
}

}  // namespace
}  // namespace attnscope
