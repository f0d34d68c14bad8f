// The threads that compute and survey what a very long text shows.
#include "app/document/tile_maker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "app/document/overview_maker.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "tests/sanitized.h"

namespace attnscope {
namespace {

Trace long_trace() {
    Experiment e;
    e.input.text.clear();
    for (int i = 0; i < 70; ++i) e.input.text += "w" + std::to_string(i % 23) + " ";
    e.attention.heads = 8;
    return evaluate(e, {}, {.on_demand = {.most_cells = 0, .kept_cells = 16}});
}

TEST(TileMakerTest, APartIsComputedOnceAndKept) {
    const Trace trace = long_trace();
    std::atomic<int> woken = 0;
    auto made_by = std::make_unique<TileMaker>([&] { ++woken; });
    TileMaker& maker = *made_by;
    const TileRequest request{trace.stage("weights"_stage), 2, TileRequest::What::tile, 0, {3, 5, 7, 9}};
    maker.begin_frame(false);
    EXPECT_EQ(maker.find(request), nullptr);
    maker.wait();
    EXPECT_TRUE(maker.update());
    EXPECT_FALSE(maker.update());
    const auto made = maker.find(request);
    ASSERT_NE(made, nullptr);
    EXPECT_EQ(*made, request.stage->buffer.on_demand()->tile(2, 0, Pool::dominant, request.region, {}));
    EXPECT_EQ(maker.find(request), made);
    EXPECT_FALSE(maker.busy());
    TileRequest means = request;
    means.level = 1;
    means.pool = Pool::mean;
    EXPECT_EQ(maker.find(means), nullptr);
    maker.wait();
    ASSERT_NE(maker.find(means), nullptr);
    EXPECT_EQ(*maker.find(means),
              request.stage->buffer.on_demand()->tile(2, 1, Pool::mean, means.region, {}));
    made_by.reset();
    EXPECT_EQ(woken, 2);
}

/// What was used longest ago makes room for what is new.
TEST(TileMakerTest, PartsAreKeptAsFarAsTheyFit) {
    if (test::k_thread_sanitized) GTEST_SKIP() << "it fills 96 MiB, which takes a minute there";
    Experiment e;
    e.input.text.clear();
    for (int i = 0; i < 5000; ++i) e.input.text += "w" + std::to_string(i % 23) + " ";
    const Trace trace = evaluate(e);
    const StagePtr scores = trace.stage("scores"_stage);
    ASSERT_TRUE(scores->buffer.on_demand());
    TileMaker maker({});
    const auto part = [&](int i) {  // of 16 MiB, six of which fit
        return TileRequest{scores, 0, TileRequest::What::tile, 0, {i, 0, 1024, 4096}};
    };
    const auto make = [&](int i) {
        maker.begin_frame(false);
        if (maker.find(part(i))) return;
        maker.wait();
        EXPECT_NE(maker.find(part(i)), nullptr) << i;
    };
    for (int i = 0; i < 6; ++i) make(i);
    make(0);  // is used again
    make(6);
    EXPECT_NE(maker.find(part(0)), nullptr);
    for (int i = 2; i < 7; ++i) EXPECT_NE(maker.find(part(i)), nullptr) << i;
    EXPECT_EQ(maker.find(part(1)), nullptr);
}

TEST(TileMakerTest, SamplesWaitWhileSomethingIsSurveyed) {
    const Trace trace = long_trace();
    TileMaker maker({});
    const StagePtr weights = trace.stage("weights"_stage);
    const TileRequest sample{trace.stage("context"_stage), 0, TileRequest::What::preview};
    const TileRequest preview{weights, -1, TileRequest::What::preview};
    const TileRequest tile{weights, 0, TileRequest::What::tile, 0, {0, 0, 4, 4}};
    maker.begin_frame(true);
    for (const TileRequest& each : {sample, preview, tile}) EXPECT_EQ(maker.find(each), nullptr);
    maker.wait();
    EXPECT_NE(maker.find(tile), nullptr);
    EXPECT_NE(maker.find(preview), nullptr);
    EXPECT_EQ(maker.find(sample), nullptr);
    EXPECT_TRUE(maker.busy()) << "the sample still waits";
    maker.begin_frame(false);
    EXPECT_FALSE(maker.busy()) << "what a new frame did not ask for is dropped";
    EXPECT_EQ(maker.find(sample), nullptr);
    maker.wait();
    EXPECT_NE(maker.find(sample), nullptr);
}

/// The sample of a large stage takes seconds, and would hold back what a person moves into sight or asks for.
TEST(TileMakerTest, WhatIsAskedForStopsASampleThatRuns) {
    Experiment e;
    e.input.text.clear();
    for (int i = 0; i < 40000; ++i) e.input.text += "w" + std::to_string(i % 23) + " ";
    e.input.dim = 128;
    const Trace trace = evaluate(e);
    const StagePtr scores = trace.stage("scores"_stage);
    const TileRequest sample{trace.stage("context"_stage), 0, TileRequest::What::preview};
    const TileRequest tile{scores, 0, TileRequest::What::tile, 0, {0, 0, 4, 4}};
    const TileRequest preview{scores, 0, TileRequest::What::preview};
    std::atomic<int> woken = 0;
    const auto expect_stopped = [&](const auto& ask, int made) {
        woken = 0;
        auto made_by = std::make_unique<TileMaker>([&] { ++woken; });
        TileMaker& maker = *made_by;
        do {
            ASSERT_EQ(maker.find(sample), nullptr);
            std::this_thread::yield();
            maker.begin_frame(false);  // drops what does not run
        } while (!maker.busy());
        ask(maker);
        maker.wait();
        maker.begin_frame(true);  // the sample is not begun anew
        EXPECT_EQ(maker.find(sample), nullptr) << "it ended without a result";
        made_by.reset();
        EXPECT_EQ(woken, 1 + made);
    };
    for (const TileRequest& request : {tile, preview})
        expect_stopped(
            [&](TileMaker& maker) {
                EXPECT_EQ(maker.find(request), nullptr);
                maker.wait();
                EXPECT_NE(maker.find(request), nullptr);
            },
            1);
    expect_stopped([](TileMaker& maker) { maker.begin_frame(true); }, 0);  // a survey begins
}

TEST(OverviewMakerTest, ItSurveysWhatWasAskedForLastAndKeepsFourSurveys) {
    const Trace trace = long_trace();
    OverviewMaker maker({});
    const StagePtr weights = trace.stage("weights"_stage);
    for (int head = 0; head < 6; ++head) {
        maker.request({weights, head});
        maker.wait();
        EXPECT_TRUE(maker.update());
        EXPECT_EQ(maker.known()->of.head, head);
        EXPECT_TRUE(maker.known()->is_complete);
        for (const auto& [pool, name] : choices<Pool>())
            EXPECT_NE(weights->buffer.known_percentiles(head, pool), nullptr) << name;
    }
    for (int head = 0; head < 6; ++head)
        EXPECT_EQ(weights->buffer.on_demand()->is_surveyed(head), head >= 2) << head;
    EXPECT_EQ(maker.progress(), std::nullopt);
}

}  // namespace
}  // namespace attnscope
