#include "app/document/history.h"

#include <gtest/gtest.h>

namespace attnscope {
namespace {

Session with_seed(std::int64_t seed) {
    Session session;
    session.experiment.weights.seed = seed;
    return session;
}

UndoPoint seed_point(std::int64_t seed) { return undo_point(with_seed(seed)); }

TEST(HistoryTest, UndoAndRedoWalkAlongTheChanges) {
    History history(seed_point(0));
    EXPECT_FALSE(history.can_undo());
    EXPECT_FALSE(history.can_redo());
    history.record(seed_point(1));
    history.record(seed_point(2));
    history.undo();
    EXPECT_EQ(history.present(), seed_point(1));
    history.undo();
    EXPECT_EQ(history.present(), seed_point(0));
    EXPECT_FALSE(history.can_undo());
    history.redo();
    history.redo();
    EXPECT_EQ(history.present(), seed_point(2));
    EXPECT_FALSE(history.can_redo());
}

TEST(HistoryTest, AtItsEndsUndoAndRedoStay) {
    History history(seed_point(7));
    history.undo();
    history.redo();
    EXPECT_EQ(history.present(), seed_point(7));
}

TEST(HistoryTest, AChangeAfterUndoDropsWhatCouldBeRedone) {
    History history(seed_point(0));
    history.record(seed_point(1));
    history.undo();
    history.record(seed_point(2));
    EXPECT_FALSE(history.can_redo());
    history.undo();
    EXPECT_EQ(history.present(), seed_point(0));
}

TEST(HistoryTest, WhatChangesNothingIsNoStep) {
    History history(seed_point(0));
    history.record(seed_point(0));
    EXPECT_FALSE(history.can_undo());
}

TEST(HistoryTest, AGestureIsOneStep) {
    History history(seed_point(0));
    for (int seed = 1; seed < 50; ++seed) history.record(seed_point(seed), "drag 1");
    EXPECT_EQ(history.present(), seed_point(49));
    history.undo();
    EXPECT_EQ(history.present(), seed_point(0));
    history.redo();
    EXPECT_EQ(history.present(), seed_point(49));
}

TEST(HistoryTest, AnotherGestureIsAnotherStep) {
    History history(seed_point(0));
    history.record(seed_point(1), "drag 1");
    history.record(seed_point(2), "drag 2");
    history.undo();
    EXPECT_EQ(history.present(), seed_point(1));
}

TEST(HistoryTest, AnEndedGestureDoesNotGoOn) {
    History history(seed_point(0));
    history.record(seed_point(1), "drag 1");
    history.end_gesture();
    history.record(seed_point(2), "drag 1");
    history.undo();
    EXPECT_EQ(history.present(), seed_point(1));
    history.record(seed_point(3), "drag 1");
    history.undo();
    EXPECT_EQ(history.present(), seed_point(1));
}

TEST(HistoryTest, AGestureThatComesBackLeavesNoStep) {
    History history(seed_point(0));
    history.record(seed_point(5));
    history.record(seed_point(6), "drag 1");
    history.record(seed_point(5), "drag 1");
    history.undo();
    EXPECT_EQ(history.present(), seed_point(0));
}

TEST(HistoryTest, AGestureThatComesBackAndGoesOnIsOneStep) {
    History history(seed_point(5));
    history.record(seed_point(6), "drag 1");
    history.record(seed_point(5), "drag 1");
    history.record(seed_point(4), "drag 1");
    history.record(seed_point(3), "drag 1");
    history.undo();
    EXPECT_EQ(history.present(), seed_point(5));
    EXPECT_FALSE(history.can_undo());
}

TEST(HistoryTest, KeepsTheNewestSteps) {
    constexpr int k_changes = 5000;
    History history(seed_point(0));
    for (int seed = 1; seed <= k_changes; ++seed) history.record(seed_point(seed));
    EXPECT_EQ(history.present(), seed_point(k_changes));
    int steps = 0;
    for (; history.can_undo(); ++steps) history.undo();
    EXPECT_GE(steps, 500);
    EXPECT_LT(steps, k_changes) << "the history must not grow without bound";
    EXPECT_EQ(history.present(), seed_point(k_changes - steps));
}

TEST(HistoryTest, UndoCoversTheExperimentTheHeadAndTheStage) {
    Session session;
    session.experiment.attention.heads = 4;
    session.presentation.head = {HeadChoice::Kind::one, 2};
    session.presentation.stage = "query"_stage;
    const UndoPoint point = undo_point(session);
    for (const auto& change : std::initializer_list<void (*)(Session&)>{
             [](Session& s) { s.experiment.input.text = "other"; },
             [](Session& s) { s.presentation.head = {HeadChoice::Kind::mean}; },
             [](Session& s) { s.presentation.stage = "key"_stage; }}) {
        Session changed = session;
        change(changed);
        EXPECT_NE(undo_point(changed), point);
        restore(changed, point);
        EXPECT_EQ(undo_point(changed), point);
    }
}

TEST(HistoryTest, UndoLeavesTheRestOfThePresentation) {
    Session session;
    const UndoPoint point = undo_point(session);
    session.presentation.theme = ThemeKind::light;
    session.presentation.colormap = ColormapKind::magma;
    session.presentation.range = {RangeChoice::Kind::fixed, -1, 1};
    session.presentation.values = false;
    session.presentation.locked = Cell{1, 2};
    session.note = "a note";
    EXPECT_EQ(undo_point(session), point);
    const Session before = session;
    restore(session, point);
    EXPECT_EQ(session, before);
}

TEST(HistoryTest, ALockedCellStaysOneOfItsStage) {
    Session session;
    session.presentation.stage = "query"_stage;
    const UndoPoint query = undo_point(session);
    session.presentation.stage = "weights"_stage;
    session.presentation.locked = Cell{1, 2};
    restore(session, query);
    EXPECT_EQ(session.presentation.locked, (Cell{1, 2}));
    EXPECT_EQ(session.presentation.locked_stage(), "weights"_stage);
}

}  // namespace
}  // namespace attnscope
