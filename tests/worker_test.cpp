#include "app/document/worker.h"
#include "core/attention/evaluate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

namespace attnscope {
namespace {

using namespace std::chrono_literals;

Experiment with_seed(std::int64_t seed) {
    Experiment experiment;
    experiment.seed = seed;
    return experiment;
}

/// Takes long enough to be overtaken.
Experiment slow(std::int64_t seed) {
    Experiment experiment = with_seed(seed);
    experiment.text.clear();
    for (int i = 0; i < 1000; ++i) experiment.text += "word" + std::to_string(i) + " ";
    experiment.dim = 256;
    experiment.heads = 8;
    return experiment;
}

TEST(WorkerTest, GivesTheTraceThatEvaluateGives) {
    Worker worker({}, {});
    worker.request(with_seed(5));
    worker.wait();
    const auto result = worker.take();
    ASSERT_TRUE(result && result->trace) << (result ? result->error : "no result");
    const Trace expected = evaluate(with_seed(5));
    EXPECT_EQ(result->experiment, with_seed(5));
    EXPECT_EQ(result->trace->experiment, with_seed(5));
    ASSERT_EQ(result->trace->records.size(), expected.records.size());
    for (std::size_t i = 0; i < expected.records.size(); ++i) {
        const Buffer& given = result->trace->records[i].stage->buffer;
        const Buffer& wanted = expected.records[i].stage->buffer;
        ASSERT_EQ(given.shape(), wanted.shape());
        for (int h = 0; h < wanted.shape().heads; ++h)
            EXPECT_TRUE(given.host().head(h) == wanted.host().head(h)) << expected.records[i].stage->name();
    }
}

TEST(WorkerTest, AResultIsTakenOnce) {
    Worker worker({}, {});
    EXPECT_FALSE(worker.take());
    worker.request(with_seed(1));
    worker.wait();
    EXPECT_TRUE(worker.take());
    EXPECT_FALSE(worker.take());
}

TEST(WorkerTest, TheNewestRequestWins) {
    Worker worker({}, {});
    for (int seed = 0; seed < 200; ++seed) worker.request(with_seed(seed));
    worker.wait();
    const auto result = worker.take();
    ASSERT_TRUE(result && result->trace);
    EXPECT_EQ(result->trace->experiment.seed, Seed(199));
    EXPECT_FALSE(worker.take());
}

TEST(WorkerTest, ANewRequestCancelsTheRunningOne) {
    std::atomic<int> wakes = 0;
    constexpr int k_rounds = 10;
    {
        Worker worker({}, [&] { ++wakes; });
        for (int i = 0; i < k_rounds; ++i) {
            worker.request(slow(i));
            std::this_thread::sleep_for(10ms);  // it has begun, and is far from its end
            worker.request(with_seed(i));
            worker.wait();
            const auto result = worker.take();
            ASSERT_TRUE(result && result->trace);
            EXPECT_EQ(result->trace->experiment, with_seed(i));
        }
    }
    EXPECT_GE(wakes, k_rounds);
    // Each of the slow ones would have waked too; a machine that stands still for a moment may finish some.
    EXPECT_LE(wakes, k_rounds + k_rounds / 2) << "what was overtaken was computed to its end";
}

TEST(WorkerTest, AnErrorIsAResult) {
    Worker worker({}, {});
    Experiment wrong = with_seed(1);
    wrong.score = "no such function";
    worker.request(wrong);
    worker.wait();
    const auto result = worker.take();
    ASSERT_TRUE(result);
    EXPECT_FALSE(result->trace);
    EXPECT_EQ(result->experiment, wrong);
    EXPECT_NE(result->error.find("no such function"), std::string::npos) << result->error;
}

TEST(WorkerTest, GoesOnAfterAnError) {
    Worker worker({}, {});
    Experiment wrong;
    wrong.text.clear();
    worker.request(wrong);
    worker.wait();
    worker.request(with_seed(2));
    worker.wait();
    const auto result = worker.take();
    ASSERT_TRUE(result && result->trace);
    EXPECT_EQ(result->trace->experiment, with_seed(2));
}

TEST(WorkerTest, WhatIsTooLargeIsAnError) {
    Worker worker({.threads = 0, .memory_limit = 1000, .cancel = {}}, {});
    worker.request(with_seed(1));
    worker.wait();
    const auto result = worker.take();
    ASSERT_TRUE(result);
    EXPECT_FALSE(result->trace);
    EXPECT_FALSE(result->error.empty());
}

TEST(WorkerTest, AResultWakes) {
    std::promise<void> woken;
    Worker worker({}, [&] { woken.set_value(); });
    worker.request(with_seed(3));
    EXPECT_EQ(woken.get_future().wait_for(60s), std::future_status::ready);
    EXPECT_TRUE(worker.take());
}

TEST(WorkerTest, TheWakeMayAskTheWorker) {
    Worker* asked = nullptr;
    std::promise<bool> there;
    Worker worker({}, [&] { there.set_value(asked->take().has_value()); });
    asked = &worker;
    worker.request(with_seed(3));
    auto answer = there.get_future();
    ASSERT_EQ(answer.wait_for(60s), std::future_status::ready);
    EXPECT_TRUE(answer.get());
}

TEST(WorkerTest, IsBusyUntilTheResultIsThere) {
    Worker worker({}, {});
    EXPECT_FALSE(worker.busy());
    worker.request(slow(1));
    EXPECT_TRUE(worker.busy());
    worker.wait();
    EXPECT_FALSE(worker.busy());
}

TEST(WorkerTest, WaitingForNothingReturns) { Worker({}, {}).wait(); }

TEST(WorkerTest, EndsInTheMiddleOfAnEvaluation) {
    for (int i = 0; i < 5; ++i) {
        Worker worker({}, {});
        worker.request(slow(i));
        std::this_thread::sleep_for(std::chrono::milliseconds(i));
    }
}

TEST(WorkerTest, StagesThatDidNotChangeAreTakenOver) {
    Worker worker({}, {});
    worker.request(with_seed(1));
    worker.wait();
    const auto first = worker.take();
    Experiment hotter = with_seed(1);
    hotter.temperature = 2;
    worker.request(hotter);
    worker.wait();
    const auto second = worker.take();
    ASSERT_TRUE(first && first->trace && second && second->trace);
    EXPECT_EQ(first->trace->find("query"), second->trace->find("query"));
    EXPECT_NE(first->trace->find("weights"), second->trace->find("weights"));
}

}  // namespace
}  // namespace attnscope
