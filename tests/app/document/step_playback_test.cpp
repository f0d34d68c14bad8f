// Where the view of steps stands.
#include "app/document/step_playback.h"

#include <gtest/gtest.h>

namespace attnscope {
namespace {

TEST(StepPlaybackTest, BeginsWithAllStepsTaken) {
    StepPlayback playback;
    playback.steps = 8;
    EXPECT_EQ(playback.shown(), 8);
    EXPECT_EQ(playback.current(), 7);
    EXPECT_EQ(playback.share(7), 1);
    EXPECT_FALSE(playback.playing);
}

TEST(StepPlaybackTest, StepsGoToWholeStepsAndPause) {
    StepPlayback playback;
    playback.steps = 8;
    playback.step(1);
    EXPECT_EQ(playback.shown(), 8) << "there is no step after the last";
    playback.step(-1);
    EXPECT_EQ(playback.shown(), 7);
    playback.position = 2.5;
    playback.playing = true;
    playback.step(1);
    EXPECT_EQ(playback.shown(), 3);
    EXPECT_FALSE(playback.playing);
    playback.position = 2.5;
    playback.step(-1);
    EXPECT_EQ(playback.shown(), 2);
    for (int i = 0; i < 5; ++i) playback.step(-1);
    EXPECT_EQ(playback.shown(), 0);
    EXPECT_EQ(playback.current(), -1);
}

TEST(StepPlaybackTest, PlaysFromTheStartIfAllStepsWereTakenAndEndsThere) {
    StepPlayback playback;
    playback.steps = 3;
    playback.play_or_pause();
    EXPECT_TRUE(playback.playing);
    EXPECT_EQ(playback.shown(), 0);
    playback.advance(1, 2);
    EXPECT_DOUBLE_EQ(playback.shown(), 0.5) << "the first step takes as long as it is told";
    playback.play_or_pause();
    playback.advance(10, 2);
    EXPECT_DOUBLE_EQ(playback.shown(), 0.5) << "paused";
    playback.play_or_pause();
    playback.advance(1 + k_step_seconds / 2, 2);
    EXPECT_DOUBLE_EQ(playback.shown(), 1.5);
    EXPECT_EQ(playback.current(), 1);
    EXPECT_DOUBLE_EQ(playback.share(1), 0.5);
    EXPECT_EQ(playback.share(2), 0);
    playback.advance(10, 2);
    EXPECT_EQ(playback.shown(), 3);
    EXPECT_FALSE(playback.playing);
    EXPECT_FALSE(playback.position) << "all of them, even of a row with more steps";
}

TEST(StepPlaybackTest, APositionBeyondARowWithFewerStepsIsAllOfThem) {
    StepPlayback playback;
    playback.steps = 8;
    playback.go_to(6);
    playback.steps = 4;
    EXPECT_EQ(playback.shown(), 4);
    EXPECT_EQ(playback.current(), 3);
}

}  // namespace
}  // namespace attnscope
