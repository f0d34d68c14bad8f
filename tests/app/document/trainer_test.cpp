// The thread that takes the steps of a run, and the document that follows it.
#include "app/document/trainer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "app/document/document.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"

namespace attnscope {
namespace {

Session session_of(TaskKind kind) {
    Session session;
    session.experiment = task_experiment(kind);
    return session;
}

/// Small, so that a step takes a moment.
Session small() {
    Session session = session_of(TaskKind::copy);
    session.experiment.input.dim = 4;
    session.experiment.training.batch = 2;
    return session;
}

/// Updates until it holds, for ten seconds at most.
template <typename Condition>
bool soon(Document& document, const Condition& holds) {
    for (int i = 0; i < 1000; ++i) {
        document.update();
        if (holds()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
}

TEST(TrainerTest, TakesStepsUpToTheGoalAndFilmsThem) {
    Trainer trainer(0, {});
    trainer.begin(small().experiment);
    trainer.film(small().experiment);
    trainer.play(0, 30);
    trainer.wait();
    TrainingProgress progress;
    EXPECT_TRUE(trainer.update(progress));
    EXPECT_FALSE(trainer.update(progress));
    EXPECT_EQ(progress.step, 30);
    ASSERT_EQ(progress.records.size(), 30u);
    EXPECT_FALSE(progress.moving);
    ASSERT_TRUE(progress.measured);
    TrainingRun run(small().experiment);
    run.go_to(30);
    EXPECT_EQ(progress.records.back().loss, run.records().back().loss);
    EXPECT_EQ(*progress.parameters, run.parameters());
    EXPECT_EQ(progress.measured->loss, run.measure().loss);
    ASSERT_GE(progress.film.size(), 5u);
    EXPECT_EQ(progress.film.front().step, 0);
    for (const FilmFrame& frame : progress.film)
        EXPECT_EQ(frame.trace->experiment, at_step(run.start(), frame.step)) << frame.step;
}

TEST(TrainerTest, AFilmHasTheFirstAndTheLastStepAndMoreOfTheEarlyOnes) {
    EXPECT_EQ(film_steps(0, 9), std::vector<int>{0});
    const std::vector<int> steps = film_steps(640, 9);
    EXPECT_EQ(steps, (std::vector<int>{0, 10, 40, 90, 160, 250, 360, 490, 640}));
}

TEST(DocumentTrainingTest, TheSessionFollowsTheRunAsOneStepOfUndo) {
    Document document(small(), {}, {});
    document.settle();
    const Session before = document.session();
    document.play(20);
    document.settle();
    EXPECT_EQ(document.experiment(), at_step(before.experiment, 20));
    EXPECT_EQ(document.trace()->experiment, document.experiment());
    document.undo();
    EXPECT_EQ(document.session(), before);
    document.settle();
    EXPECT_EQ(document.experiment().training.step, 0) << "what the trainer knows does not return by itself";
    document.redo();
    EXPECT_EQ(document.experiment().training.step, 20);
}

TEST(DocumentTrainingTest, EveryStepCanBeGoneToAndPlayedOnFrom) {
    Document document(small(), {}, {});
    document.play(20);
    document.settle();
    document.go_to_step(7);
    document.settle();
    EXPECT_EQ(document.experiment(), at_step(small().experiment, 7));
    EXPECT_EQ(document.training().records.size(), 20u);
    document.play(25);
    document.settle();
    EXPECT_EQ(document.experiment(), at_step(small().experiment, 25));
    document.go_to_step(0);
    document.settle();
    EXPECT_EQ(document.experiment(), untrained(small().experiment));
}

TEST(DocumentTrainingTest, PlayingAndPausing) {
    Document document(small(), {}, {});
    document.play();
    ASSERT_TRUE(soon(document, [&] { return document.experiment().training.step > 3; }));
    EXPECT_TRUE(document.training().moving);
    document.pause();
    document.settle();
    EXPECT_FALSE(document.training().moving);
    const int step = document.experiment().training.step;
    EXPECT_EQ(step, document.training().step);
    EXPECT_EQ(document.experiment(), at_step(small().experiment, step));
}

TEST(DocumentTrainingTest, ASavedStepIsRepeatedBeforeTheRunGoesOn) {
    Session saved = small();
    saved.experiment = at_step(saved.experiment, 9);
    Document document(saved, {}, {});
    EXPECT_FALSE(document.is_of_run());
    document.play(12);
    document.settle();
    EXPECT_EQ(document.training().records.size(), 12u);
    EXPECT_EQ(document.experiment(), at_step(small().experiment, 12));
}

TEST(DocumentTrainingTest, AnotherSentenceIsOfTheSameRunAndAnotherSettingIsNot) {
    Document document(small(), {}, {});
    document.play(8);
    document.settle();
    document.change([](Session& s) { s.experiment.input.text = s.experiment.input.text2 = "b a c"; });
    EXPECT_TRUE(document.is_of_run());
    document.settle();
    EXPECT_EQ(document.trace()->rows.size(), 3u);
    EXPECT_EQ(document.training().film.back().trace->rows.size(), 3u);
    // A mask is shown with what was learned …
    document.change([](Session& s) { s.experiment.weighting.mask = {{MaskForm::causal}}; });
    EXPECT_FALSE(document.is_of_run());
    EXPECT_EQ(document.experiment().training.step, 8);
    // … and another seed or width draws other parameters.
    document.change([](Session& s) { s.experiment.input.dim = 8; });
    EXPECT_EQ(document.experiment().training.step, 0);
    EXPECT_TRUE(document.experiment().weights.custom.empty());
    document.undo();
    document.change([](Session& s) { s.experiment.weights.seed = 5; });
    EXPECT_EQ(document.experiment().training.step, 0);
}

TEST(DocumentTrainingTest, ARunThatDivergesSaysSoAndStandsAtTheLastGoodStep) {
    Session session = small();
    session.experiment.training.optimizer = {.kind = OptimizerKind::sgd, .learning_rate = 1e30};
    Document document(session, {}, {});
    document.play();
    ASSERT_TRUE(soon(document, [&] { return !document.training().problem.empty(); }));
    EXPECT_NE(document.training().problem.find("learning rate"), std::string::npos);
    document.settle();
    EXPECT_FALSE(document.training().moving);
    // Where the loss is still finite: the first step leads nowhere.
    EXPECT_EQ(document.training().records.size(), 1u);
    EXPECT_EQ(document.experiment().training.step, 0);
    EXPECT_TRUE(std::isfinite(document.trace()->find("loss"_stage)->buffer.at(0, 0, 0)));
}

TEST(DocumentTrainingTest, AnotherRunBesideDoesNotShowTheCourseOfTheLastOne) {
    Document document(small(), {}, {});
    document.train_beside(find_variation("no positions"));
    document.play(6);
    document.settle();
    document.go_to_step(0);
    document.settle();
    document.train_beside(find_variation("another seed"));
    document.settle();
    EXPECT_TRUE(document.training_beside().records.empty());
    EXPECT_EQ(document.slot(SlotName::beside)->trace->experiment,
              varied(small().experiment, *find_variation("another seed")).value());
}

TEST(DocumentTrainingTest, TheRunBesideFollowsUndo) {
    Document document(small(), {}, {});
    document.train_beside(find_variation("no positions"));
    document.play(6);
    document.settle();
    document.undo();
    document.settle();
    EXPECT_EQ(document.experiment().training.step, 0);
    EXPECT_EQ(document.slot(SlotName::beside)->trace->experiment.training.step, 0);
}

TEST(DocumentTrainingTest, AblatedHeadsAreOfWhatIsShownAndTheRunStays) {
    Session session;
    session.experiment = task_experiment(TaskKind::induction);
    session.experiment.input.dim = 8;
    session.experiment.training.batch = 4;
    Document document(session, {}, {});
    document.play(20);
    document.settle();
    const Experiment learned = document.experiment();
    const double whole = document.training().measured->loss;
    document.change([](Session& s) { s.experiment.attention.ablated = {{2, 1}, {2, 2}}; });
    document.settle();
    EXPECT_TRUE(document.is_of_run());
    EXPECT_EQ(document.training().records.size(), 20u);
    EXPECT_NE(document.training().measured->loss, whole) << "measured without them";
    EXPECT_EQ(document.training().film.back().trace->experiment, document.experiment());
    // Played on, the whole model learns.
    document.play(25);
    document.settle();
    Experiment expected = at_step(learned, 25);
    expected.attention.ablated = {{2, 1}, {2, 2}};
    EXPECT_EQ(document.experiment(), expected);
    // A run without them is another one.
    document.train_beside(find_variation("without the ablated heads"));
    document.settle();
    const Experiment& beside = document.slot(SlotName::beside)->trace->experiment;
    EXPECT_EQ(beside.training.ablated, expected.attention.ablated);
    EXPECT_EQ(beside.training.step, 25);
    EXPECT_NE(beside.weights.custom, expected.weights.custom);
    // Heads that are no longer there are forgotten.
    document.change([](Session& s) { s.experiment.transformer.layers = 1; });
    EXPECT_TRUE(document.experiment().attention.ablated.empty());
}

TEST(DocumentTrainingTest, WhatCannotBeTrainedSaysWhy) {
    Session session = small();
    session.experiment.attention.position = Position::alibi;
    Document document(session, {}, {});
    document.play();
    ASSERT_TRUE(soon(document, [&] { return !document.training().problem.empty(); }));
    EXPECT_NE(document.training().problem.find("alibi"), std::string::npos);
    // Pressed again, it says so again.
    document.play();
    ASSERT_TRUE(soon(document, [&] { return !document.training().problem.empty(); }));
    EXPECT_NE(document.training().problem.find("alibi"), std::string::npos);
    document.settle();
    EXPECT_FALSE(document.training().moving);
}

TEST(TrainerTest, AtRestTheNextStepsChangesOfTheWeightsAreKnown) {
    Trainer trainer(0, {});
    trainer.begin(small().experiment);
    trainer.film(small().experiment);
    trainer.play(0, 5);
    trainer.wait();
    TrainingProgress progress;
    trainer.update(progress);
    ASSERT_EQ(progress.step, 5);
    ASSERT_EQ(progress.changes.size(), 1u) << "of one layer";
    const Trace now = evaluate(at_step(small().experiment, 5)),
                next = evaluate(at_step(small().experiment, 6));
    const StageKey key{"weights"_stage, 1};
    float largest = 0;
    for (int i = 0; i < now.find(key)->shape().rows; ++i)
        for (int j = 0; j < now.find(key)->shape().columns; ++j) {
            const float change = next.find(key)->buffer.at(0, i, j) - now.find(key)->buffer.at(0, i, j);
            const WeightsChange& of_layer = progress.changes[0];
            EXPECT_EQ(of_layer.change->buffer.at(0, i, j), change);
            EXPECT_EQ(of_layer.before->buffer.at(0, i, j), now.find(key)->buffer.at(0, i, j));
            EXPECT_EQ(of_layer.after->buffer.at(0, i, j), next.find(key)->buffer.at(0, i, j));
            largest = std::max(largest, std::abs(change));
        }
    EXPECT_GT(largest, 1e-4f);
    EXPECT_EQ(progress.records.size(), 5u) << "the step is not taken";
}

TEST(DocumentTrainingTest, ARunBesideTakesTheSameSteps) {
    Document document(small(), {}, {});
    document.settle();
    EXPECT_EQ(document.beside(), nullptr);
    const Variation& variation = *find_variation("no positions");
    document.train_beside(&variation);
    ASSERT_EQ(document.beside(), &variation);
    document.settle();
    const Experiment other = varied(small().experiment, variation).value();
    EXPECT_EQ(document.slot(SlotName::beside)->trace->experiment, other) << "before any step, as it is drawn";
    document.play(12);
    document.settle();
    EXPECT_EQ(document.experiment(), at_step(small().experiment, 12));
    EXPECT_EQ(document.slot(SlotName::beside)->trace->experiment, at_step(other, 12));
    EXPECT_EQ(document.training_beside().records.size(), 12u);
    document.go_to_step(5);
    document.settle();
    EXPECT_EQ(document.slot(SlotName::beside)->trace->experiment, at_step(other, 5));
    // Another sentence is shown in both.
    document.change([](Session& s) { s.experiment.input.text = s.experiment.input.text2 = "b a c"; });
    document.settle();
    EXPECT_EQ(document.slot(SlotName::beside)->trace->rows.size(), 3u);
    EXPECT_EQ(document.slot(SlotName::beside)->trace->experiment.training.step, 5);
    // Chosen late, it catches up.
    document.train_beside(find_variation("another seed"));
    document.settle();
    EXPECT_EQ(document.slot(SlotName::beside)->trace->experiment.training.step, 5);
    document.train_beside(nullptr);
    document.settle();
    EXPECT_EQ(document.slot(SlotName::beside), nullptr);
    EXPECT_EQ(document.beside(), nullptr);
}

TEST(DocumentTrainingTest, ARunBesideThatChangesNothingIsNone) {
    Document document(small(), {}, {});
    document.train_beside(find_variation("no attention"));  // of the encoder and decoder
    document.settle();
    EXPECT_EQ(document.beside(), nullptr);
    document.play(3);
    document.settle();
    EXPECT_EQ(document.experiment().training.step, 3);
}

TEST(DocumentTrainingTest, ADragThroughStepsIsOneStepOfUndo) {
    Document document(small(), {}, {});
    document.play(20);
    document.settle();
    const Session learned = document.session();
    for (const int step : {15, 12, 9}) {
        document.go_to_step(step, step != 15);
        EXPECT_EQ(document.wanted_step(), step);
        document.settle();
    }
    EXPECT_EQ(document.experiment().training.step, 9);
    document.undo();
    EXPECT_EQ(document.session(), learned);
}

}  // namespace
}  // namespace attnscope
