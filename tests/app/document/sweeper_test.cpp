// The thread that evaluates the experiment for each value of a setting.
#include "app/document/sweeper.h"

#include <gtest/gtest.h>

#include "core/canceled.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "core/session/sweep.h"
#include "tests/drawn_sessions.h"

namespace attnscope {
namespace {

SweepRequest request_of(Sweep sweep, int count) {
    Session session = test::four_heads();
    session.presentation.stage = "weights"_stage;
    return {session, sweep, count};
}

TEST(SweeperTest, AnswersTheNewestRequest) {
    Sweeper sweeper([] {});
    for (const int count : {2, 5, 3}) sweeper.request(request_of(Sweep::seed, count));
    sweeper.wait();
    ASSERT_TRUE(sweeper.update());
    const SweptValues& swept = *sweeper.known();
    EXPECT_EQ(swept.problem, "");
    EXPECT_EQ(swept.of, request_of(Sweep::seed, 3));
    ASSERT_EQ(swept.frames.size(), 3u);
    const auto steps = sweep_steps(swept.of.session, Sweep::seed, 3);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        EXPECT_EQ(swept.frames[i].value, steps[i].value);
        const Trace expected = evaluate(steps[i].session.experiment);
        EXPECT_EQ(Matrix(swept.frames[i].shown.stage->buffer.host().head(0)),
                  Matrix(expected.find("weights"_stage)->buffer.host().head(0)))
            << i;
    }
}

TEST(SweeperTest, SaysWhyThereAreNoFrames) {
    SweepRequest request = request_of(Sweep::temperature, 3);
    request.session.presentation.stage = "key_heads"_stage;
    request.session.presentation.head = {HeadChoice::Kind::mean, 0};
    const SweptValues swept = swept_values(request, nullptr, {});
    EXPECT_TRUE(swept.frames.empty());
    EXPECT_NE(swept.problem, "");
}

TEST(SweeperTest, ACanceledRequestGivesNothing) {
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(swept_values(request_of(Sweep::seed, 3), nullptr, stop.get_token()), Canceled);
    Sweeper sweeper([] {});
    sweeper.request(request_of(Sweep::seed, 3));
    sweeper.forget();
    sweeper.wait();
    sweeper.update();
    EXPECT_FALSE(sweeper.known());
}

}  // namespace
}  // namespace attnscope
