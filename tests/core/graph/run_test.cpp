// What an evaluation leaves for later, and who computes it then.
#include "core/graph/run.h"

#include <gtest/gtest.h>

#include <memory>

#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "tests/fake_backend.h"

namespace attnscope {
namespace {

TEST(RunTest, ACardComputesNothingThatWaitsUntilItIsAskedFor) {
    const auto card = std::make_shared<test::FakeBackend>([](const Op&, const Shape& shape) {
        return std::make_shared<test::SlowMean>(shape, std::shared_future<void>());
    });
    const Trace trace = evaluate({}, {}, {.backend = card.get(), .watched = {.stage = "weights"_stage}});
    const Buffer& context = trace.find("context"_stage)->buffer;
    EXPECT_TRUE(trace.find("weights"_stage)->buffer.is_on_device());
    EXPECT_TRUE(context.is_waiting());
    EXPECT_FALSE(context.known_range());
    const int before = card->operations;
    EXPECT_EQ(context.at(0, 1, 1), 0);
    EXPECT_FALSE(context.is_waiting());
    EXPECT_EQ(card->operations, before + 2) << "of the values, too, which waited as well";
    EXPECT_EQ(context.at(0, 2, 1), 0);
    EXPECT_EQ(card->operations, before + 2) << "it is computed once";
}

TEST(RunTest, DrawsAreMadeInTheirOrderWhateverWaits) {
    Experiment e;
    e.attention.dropout = 0.5;
    e.attention.heads = 2;
    e.attention.output_projection = true;
    const Trace whole = evaluate(e), part = evaluate(e, {}, {.watched = {.stage = "query"_stage}});
    for (const StageRecord& record : whole.records) {
        const Buffer& later = part.stage(record.stage->key())->buffer;
        for (int h = 0; h < later.shape().heads; ++h)
            EXPECT_EQ(Matrix(later.head(h)), Matrix(record.stage->buffer.head(h))) << record.stage->name();
    }
}

TEST(RunTest, WhatWaitedIsComputedWhenItIsLookedAt) {
    const auto looking_at = [](const StageInfo* stage) {
        return EvaluateOptions{.watched = {.stage = stage}};
    };
    const Trace before = evaluate({}, {}, looking_at("scores"_stage));
    ASSERT_TRUE(before.find("context"_stage)->buffer.is_waiting() ||
                before.find("context"_stage)->buffer.is_omitted(0));
    const Trace after = evaluate({}, before, looking_at("weights"_stage)), whole = evaluate({});
    EXPECT_EQ(after.find("query"_stage), before.find("query"_stage));
    EXPECT_FALSE(after.find("weights"_stage)->buffer.is_waiting());
    EXPECT_EQ(Matrix(after.find("context"_stage)->buffer.head(0)),
              Matrix(whole.find("context"_stage)->buffer.head(0)));
}

TEST(RunTest, AllIsComputedWhereTheWatchedStageDoesNotExist) {
    const Trace trace = evaluate({}, {}, {.watched = {.stage = "alignment"_stage}});
    for (const StageRecord& record : trace.records) {
        EXPECT_TRUE(record.computed) << record.stage->name();
        EXPECT_FALSE(record.stage->buffer.is_waiting() || record.stage->buffer.is_omitted(0));
    }
}

TEST(RunTest, WhatWaitsIsNotComputedAndHasNoFacts) {
    Experiment e;
    e.attention.output_projection = true;
    const Trace trace = evaluate(e, {}, {.watched = {.ranges = true, .stage = "weights"_stage}});
    int waiting = 0;
    for (const StageRecord& record : trace.records) {
        EXPECT_EQ(record.computed, !record.stage->buffer.is_waiting()) << record.stage->name();
        if (record.computed) continue;
        EXPECT_FALSE(record.stage->buffer.known_range());
        ++waiting;
    }
    EXPECT_GE(waiting, 3) << "the values, the context, the output";
}

}  // namespace
}  // namespace attnscope
