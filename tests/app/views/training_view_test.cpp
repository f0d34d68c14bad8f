// Training in the window.
#include <chrono>
#include <set>
#include <thread>

#include "app/platform/imgui_compat.h"
#include "core/graph/stage_table.h"
#include "core/learn/training_run.h"
#include "core/recipe/training_recipe.h"
#include "tests/interface.h"

namespace attnscope {
namespace {

/// Small, so that a step takes a moment.
Session small(TaskKind task) {
    Session session;
    session.experiment = task_experiment(task);
    session.experiment.input.dim = 8;
    session.experiment.training.batch = 4;
    session.presentation.view = ViewKind::training;
    return session;
}

class TrainingViewTest : public InterfaceTest {
protected:
    void SetUp() override { start(small(TaskKind::induction)); }

    int step_of_run() { return document().experiment().training.step; }
    ImVec2 button(const char* action, const char* label) { return place_of("attnscope", {action, label}); }
    void take(int steps) {
        document().play(steps);
        settle();
    }
};

TEST_F(TrainingViewTest, ButtonsAndKeysTakeSteps) {
    click(button("training.forward", "+ 1"));
    settle();
    EXPECT_EQ(step_of_run(), 1);
    click(button("training.ten", "+ 10"));
    settle();
    EXPECT_EQ(step_of_run(), 11);
    press(Key::right);
    settle();
    EXPECT_EQ(step_of_run(), 12);
    press(Key::left);
    settle();
    EXPECT_EQ(step_of_run(), 11);
    click(button("training.back", "− 1"));
    settle();
    EXPECT_EQ(step_of_run(), 10);
    press(Key::home);
    settle();
    EXPECT_EQ(step_of_run(), 0);
    EXPECT_EQ(document().training().records.size(), 12u) << "what was learned is still known";
    EXPECT_EQ(document().experiment(), untrained(document().experiment()));
}

TEST_F(TrainingViewTest, SpacePlaysAndPauses) {
    push(pressing(Key::space));
    step_through_input();
    for (int i = 0; i < 2000 && step_of_run() < 3; ++i) {
        document().update();
        step();
    }
    EXPECT_GE(step_of_run(), 3);
    EXPECT_TRUE(document().training().moving);
    push(pressing(Key::space));
    step_through_input();
    settle();
    EXPECT_FALSE(document().training().moving);
    EXPECT_EQ(document().trace()->experiment.training.step, step_of_run());
}

TEST_F(TrainingViewTest, TheBarGoesToAnyStepThatWasTaken) {
    take(40);
    const ImRect bar = area_of("attnscope", {"scrub"});
    click({bar.Min.x + 6 + 0.25f * (bar.GetWidth() - 12), bar.GetCenter().y});
    settle();
    EXPECT_EQ(step_of_run(), 10);
    EXPECT_EQ(document().experiment(), at_step(document().experiment(), 10));
}

TEST_F(TrainingViewTest, AFrameOfTheFilmGoesToItsStep) {
    take(40);
    step(true);
    const auto& film = document().training().film;
    ASSERT_GE(film.size(), 4u);
    const int wanted = film[3].step;
    click(place_of("attnscope", {"frame 3", "tile"}));
    settle();
    EXPECT_EQ(step_of_run(), wanted);
}

TEST_F(TrainingViewTest, AHeadIsFocusedByAClick) {
    click(place_of("attnscope", {"head 3", "tile"}));
    EXPECT_EQ(document().presentation().layer(), 2);
    EXPECT_EQ(document().presentation().head, (HeadChoice{HeadChoice::Kind::one, 1}));
    EXPECT_EQ(document().presentation().stage, (StageKey{"weights"_stage, 2}));
    EXPECT_EQ(document().presentation().view, ViewKind::training);
}

TEST_F(TrainingViewTest, TheScriptOfTheRunIsCopied) {
    take(4);
    compat::text_bridge().clipboard.set("");
    press(Key::c, {.ctrl = true, .shift = true});
    for (int i = 0; i < 2000 && compat::text_bridge().clipboard.get().empty(); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        step();
    }
    EXPECT_EQ(compat::text_bridge().clipboard.get(),
              training_recipe(TrainingRun(untrained(document().experiment())), 4));
}

TEST_F(TrainingViewTest, AnotherSentenceOfTheTask) {
    const std::string first = text();
    press(Key::d, {.ctrl = true});
    settle();
    const std::string second = text();
    EXPECT_NE(second, first);
    EXPECT_EQ(document().problem(), "");
    click(place_of("attnscope", {"another", "New sentence"}));
    settle();
    EXPECT_NE(text(), first);
    EXPECT_NE(text(), second);
    EXPECT_EQ(document().problem(), "");
    EXPECT_TRUE(document().experiment().training.step == 0);
}

TEST_F(TrainingViewTest, WithoutATaskTheTabIsDisabled) {
    start(load_example("scaled-dot-product"));
    click(place_of("attnscope", {"training"}));
    EXPECT_EQ(document().presentation().view, ViewKind::pipeline);
    press(Key::digit_8);
    EXPECT_EQ(document().presentation().view, ViewKind::pipeline);
    press(Key::space);
    EXPECT_EQ(document().training().run, 0);
}

TEST_F(TrainingViewTest, ChoosingATaskSetsUpWhatLearnsIt) {
    Session session;
    session.experiment.mechanism = MechanismKind::transformer;
    start(session);
    const auto pick = [&](const char* task) {
        click(field_of("Task", {"##task"}));
        choose(task);
    };
    pick("reverse");
    EXPECT_EQ(document().presentation().view, ViewKind::training);
    EXPECT_EQ(document().experiment(), task_experiment(TaskKind::reverse));
    settle();
    // The trace is still of the task before, and of another mechanism, when the first frame is drawn.
    pick("translate");
    EXPECT_EQ(document().presentation().view, ViewKind::training);
    EXPECT_EQ(document().experiment(), task_experiment(TaskKind::translate));
    step(true);
    settle();
    EXPECT_EQ(document().trace()->experiment, task_experiment(TaskKind::translate));
}

TEST_F(TrainingViewTest, ARunBesideIsDrawnAndPointedAt) {
    take(3);
    click(place_of("attnscope", {"##beside"}));
    choose("no positions");
    settle();
    ASSERT_NE(document().beside(), nullptr);
    EXPECT_EQ(document().beside()->name, "no positions");
    EXPECT_EQ(document().slot(SlotName::beside)->trace->experiment.training.step, 3);
    step(true);
    std::set<const void*> drawn;
    for (const auto& each : window->host().heatmaps().drawn()) drawn.insert(each.owner.get());
    for (int layer = 1; layer <= 2; ++layer)
        for (const SlotName name : {SlotName::live, SlotName::beside})
            EXPECT_TRUE(drawn.contains(document().slot(name)->trace->find({"weights"_stage, layer})))
                << layer;
    // The encoder and decoder show their alignment, whose cells are proved.
    start(small(TaskKind::translate));
    document().train_beside(find_variation("no backward encoder"));
    settle();
    const ImRect beside = area_of("attnscope", {"beside"});
    push({MouseMove{beside.Min.x + 3, beside.Min.y + 3}});
    step(true);
    ASSERT_TRUE(interaction().hovered);
    EXPECT_EQ(interaction().hovered->slot, SlotName::beside);
    EXPECT_EQ(interaction().hovered->stage, "alignment"_stage);
    document().train_beside(nullptr);
    step(true);
    EXPECT_EQ(document().slot(SlotName::beside), nullptr);
}

TEST_F(TrainingViewTest, AHeadIsAblatedByARightClickWithTheWeightsThatWereLearned) {
    take(30);
    const Experiment learned = document().experiment();
    const auto loss = [&] { return document().trace()->find("loss"_stage)->buffer.at(0, 0, 0); };
    const float before = loss();
    const ImVec2 place = place_of("attnscope", {"head 2", "tile"});
    push({MouseMove{place.x, place.y}, MouseButton{.button = 1, .down = true}});
    step();
    play({MouseButton{.button = 1, .down = false}});
    EXPECT_EQ(document().experiment().attention.ablated, (std::vector<HeadPlace>{{2, 1}}));
    EXPECT_EQ(document().experiment().weights.custom, learned.weights.custom);
    EXPECT_EQ(document().experiment().training.step, 30);
    EXPECT_NE(loss(), before);
    const Stage* context = document().trace()->find({"ablated"_stage, 2});
    ASSERT_NE(context, nullptr);
    EXPECT_EQ(context->buffer.range(0).magnitude(), 0);
    EXPECT_GT(context->buffer.range(1).magnitude(), 0);
    EXPECT_EQ(document().trace()->find({"ablated"_stage, 1}), nullptr);
    push({MouseMove{place.x, place.y}, MouseButton{.button = 1, .down = true}});
    step();
    play({MouseButton{.button = 1, .down = false}});
    EXPECT_EQ(document().experiment(), learned);
    EXPECT_EQ(loss(), before);
}

TEST_F(TrainingViewTest, WithGradientsTheNextStepsChangeIsDrawn) {
    take(3);
    press(Key::g);
    settle();
    step(true);
    const auto& changes = document().training().changes;
    ASSERT_EQ(changes.size(), 2u);
    std::set<const void*> drawn;
    for (const auto& each : window->host().heatmaps().drawn()) drawn.insert(each.owner.get());
    EXPECT_TRUE(drawn.contains(changes.front().change.get())) << "of the layer in view";
    EXPECT_FALSE(drawn.contains(changes.back().change.get()));
    const Stage* gradient = nullptr;
    for (const StagePtr& each : document().trace()->gradients)
        if (each->name() == "1.grad.weights") gradient = each.get();
    EXPECT_TRUE(drawn.contains(gradient));
}

TEST_F(TrainingViewTest, AnotherTextIsLearnedFromItsOwnWords) {
    start(small(TaskKind::next_word));
    take(3);
    const std::string before = document().experiment().input.words;
    click(field_of("Text", {"text", "drag"}));
    push(pressing(Key::a, {.ctrl = true}));
    push(typing("a b a c a b a d"));
    play(pressing(Key::enter));
    const Experiment& e = document().experiment();
    EXPECT_EQ(e.training.corpus, "a b a c a b a d");
    EXPECT_EQ(e.input.words, "a b c d");
    EXPECT_NE(e.input.words, before);
    EXPECT_EQ(e.training.step, 0);
    EXPECT_EQ(document().problem(), "");
    take(2);
    EXPECT_EQ(document().training().problem, "");
    click(field_of("Text", {"text", "drag"}));
    push(pressing(Key::a, {.ctrl = true}));
    push(typing("a"));
    play(pressing(Key::enter));
    EXPECT_EQ(document().experiment().training.corpus, "a b a c a b a d") << "too short to learn from";
    EXPECT_NE(interaction().notice.text.find("at least 4"), std::string::npos) << interaction().notice.text;
}

TEST_F(TrainingViewTest, ManyHeadsHaveNoRoomForTextsButAreDrawn) {
    Session session = small(TaskKind::copy);
    session.experiment.input.dim = 48;
    session.experiment.attention.heads = 24;
    session.experiment.transformer.layers = 24;
    start(session);
    click(place_of("attnscope", {"head 575", "tile"}));
    EXPECT_EQ(document().presentation().layer(), 24);
    EXPECT_EQ(document().presentation().head, (HeadChoice{HeadChoice::Kind::one, 23}));
}

TEST_F(TrainingViewTest, WhatIsLearnedIsWatchedFromNothing) {
    Session session = small(TaskKind::copy);
    session.presentation.view = ViewKind::pipeline;
    session.experiment = at_step(session.experiment, 20);
    session.note = "Learned in 20 steps.";
    start_noted(session);
    click(place_of("attnscope", {"training.watch", "Watch it learn from scratch"}));
    EXPECT_EQ(document().presentation().view, ViewKind::training);
    settle();
    EXPECT_EQ(document().training().records.size(), 20u);
    EXPECT_EQ(document().training().film.front().step, 0);
    // The same run, to the bit.
    EXPECT_EQ(document().experiment(), session.experiment);
}

}  // namespace
}  // namespace attnscope
