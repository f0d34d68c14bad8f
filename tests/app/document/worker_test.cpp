#include "app/document/worker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "app/document/readiness.h"
#include "core/error.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "core/op/op.h"
#include "tests/fake_backend.h"
#include "tests/with_loss.h"

namespace attnscope {
namespace {

using namespace std::chrono_literals;

Experiment seeded(std::int64_t seed) {
    Experiment experiment;
    experiment.weights.seed = seed;
    return experiment;
}

/// Takes long enough to be overtaken.
Experiment slow(std::int64_t seed, int words = 1000) {
    Experiment experiment = seeded(seed);
    experiment.input.text.clear();
    for (int i = 0; i < words; ++i) experiment.input.text += "word" + std::to_string(i) + " ";
    experiment.input.dim = 256;
    experiment.attention.heads = 8;
    return experiment;
}

TEST(WorkerTest, GivesTheTraceThatEvaluateGives) {
    Worker worker({}, {});
    worker.request(SlotName::live, seeded(5));
    worker.wait();
    const auto result = worker.take();
    ASSERT_TRUE(result && result->trace) << (result ? result->error : "no result");
    const Trace expected = evaluate(seeded(5));
    EXPECT_EQ(result->experiment, seeded(5));
    EXPECT_EQ(result->trace->experiment, seeded(5));
    ASSERT_EQ(result->trace->records.size(), expected.records.size());
    for (std::size_t i = 0; i < expected.records.size(); ++i) {
        const Buffer& given = result->trace->records[i].stage->buffer;
        const Buffer& wanted = expected.records[i].stage->buffer;
        ASSERT_EQ(given.shape(), wanted.shape());
        for (int h = 0; h < wanted.shape().heads; ++h)
            EXPECT_TRUE(given.host().head(h) == wanted.host().head(h)) << expected.records[i].stage->name();
    }
}

TEST(WorkerTest, MeansAreReadyOnceTheyAreWantedAndNothingElseIsComputedAgain) {
    std::promise<void> allowed;
    allowed.set_value();
    const auto card = std::make_shared<test::FakeBackend>(
        [may = allowed.get_future().share()](const Op&, const Shape& shape) {
            return std::make_shared<test::SlowMean>(shape, may);
        });
    Worker worker({}, {});
    worker.compute_on([&] { return BackendChoice{card, ""}; });
    Experiment e = seeded(1);
    e.attention.heads = 2;
    worker.request(SlotName::live, e);
    worker.wait();
    const auto before = worker.take();
    ASSERT_TRUE(before && before->trace);
    EXPECT_FALSE(before->trace->find("weights"_stage)->buffer.known_mean());
    const int steps = card->operations;
    worker.prepare_for(SlotName::live, {{HeadChoice::Kind::mean}});
    worker.wait();
    const auto after = worker.take();
    ASSERT_TRUE(after && after->trace);
    EXPECT_TRUE(after->trace->find("weights"_stage)->buffer.known_mean());
    EXPECT_EQ(card->operations, steps);
    EXPECT_EQ(after->trace->find("weights"_stage), before->trace->find("weights"_stage));
    worker.prepare_for(SlotName::live, {{HeadChoice::Kind::mean}});
    EXPECT_FALSE(worker.busy(SlotName::live)) << "they are there";
    worker.prepare_for(SlotName::live, {});
    EXPECT_FALSE(worker.busy(SlotName::live));
}

/// Large enough that only what is shown is found out.
Experiment large() {
    Experiment experiment = seeded(1);
    experiment.input.text.clear();
    for (int i = 0; i < 300; ++i) experiment.input.text += "word" + std::to_string(i) + " ";
    experiment.attention.heads = 4;
    return experiment;
}

bool knows_levels(const Trace& trace, int head) {
    const Buffer& weights = trace.find("weights"_stage)->buffer;
    return weights.known_pooled(head, weights.levels()).has_value();
}

TEST(WorkerTest, AResultIsReadyToDrawForTheHeadThatIsShown) {
    Worker worker({}, {});
    worker.prepare_for(SlotName::live, {{HeadChoice::Kind::one, 2}});
    worker.request(SlotName::live, large());
    worker.wait();
    const auto result = worker.take();
    ASSERT_TRUE(result && result->trace) << (result ? result->error : "no result");
    for (const StageRecord& record : result->trace->records) {
        const Buffer& buffer = record.stage->buffer;
        const int head = std::min(2, buffer.shape().heads - 1);
        EXPECT_TRUE(buffer.known_range()) << record.stage->name();
        EXPECT_TRUE(buffer.known_pooled(head, buffer.levels())) << record.stage->name();
    }
    EXPECT_FALSE(knows_levels(*result->trace, 1));
    EXPECT_FALSE(result->trace->find("weights"_stage)->buffer.known_mean());
}

TEST(WorkerTest, TheNewestTraceIsDeliveredAgainWhenItIsReadyForAnotherHead) {
    std::atomic<int> wakes = 0;
    Worker worker({}, [&] { ++wakes; });
    worker.request(SlotName::live, large());
    worker.wait();
    const auto before = worker.take();
    ASSERT_TRUE(before && before->trace);
    EXPECT_FALSE(knows_levels(*before->trace, 3));
    worker.prepare_for(SlotName::live, {{HeadChoice::Kind::one, 3}});
    EXPECT_FALSE(worker.busy(SlotName::beside));
    worker.wait();
    const auto after = worker.take();
    ASSERT_TRUE(after);
    EXPECT_EQ(after->trace, before->trace) << "nothing is computed again";
    EXPECT_TRUE(knows_levels(*after->trace, 3));
    worker.prepare_for(SlotName::live, {});
    worker.prepare_for(SlotName::live, {{HeadChoice::Kind::one, 3}});
    EXPECT_FALSE(worker.busy(SlotName::live)) << "they are there";
    while (wakes < 2) std::this_thread::yield();
}

TEST(WorkerTest, PercentilesAreReadyOnceTheyAreWanted) {
    Worker worker({}, {});
    worker.request(SlotName::live, large());
    worker.wait();
    const auto before = worker.take();
    ASSERT_TRUE(before && before->trace);
    const Buffer& weights = before->trace->find("weights"_stage)->buffer;
    EXPECT_FALSE(weights.known_percentiles(0));
    worker.prepare_for(SlotName::live, {.head = {}, .percentiles = true});
    worker.wait();
    const auto after = worker.take();
    ASSERT_TRUE(after);
    EXPECT_EQ(after->trace, before->trace) << "nothing is computed again";
    EXPECT_TRUE(weights.known_percentiles(0));
    EXPECT_FALSE(weights.known_percentiles(1));
    worker.request(SlotName::live, seeded(2));
    worker.wait();
    const auto next = worker.take();
    ASSERT_TRUE(next && next->trace);
    EXPECT_TRUE(next->trace->find("weights"_stage)->buffer.known_percentiles(0)) << "wanted from then on";
}

TEST(WorkerTest, WhereMasksDifferTheirMeanIsReadyWithThatOfTheHeads) {
    Worker worker({}, {});
    Experiment e = large();
    e.weighting.normalizer = Normalization::local_p;
    worker.prepare_for(SlotName::live, {{HeadChoice::Kind::mean}});
    worker.request(SlotName::live, e);
    worker.wait();
    const auto result = worker.take();
    ASSERT_TRUE(result && result->trace) << (result ? result->error : "no result");
    const Buffer& mask = result->trace->find("mask"_stage)->buffer;
    ASSERT_EQ(mask.shape().heads, 4);
    ASSERT_TRUE(mask.known_mean());
    EXPECT_TRUE(mask.known_mean()->known_pooled(0, mask.levels()));
    EXPECT_TRUE(is_ready(*result->trace, {{HeadChoice::Kind::mean}}));
}

Experiment with_two_heads_and_a_loss() {
    Experiment e = seeded(1);
    e.attention.heads = 2;
    return test::with_loss(e);
}

TEST(WorkerTest, GradientsThatAreWantedComeWithTheTrace) {
    Worker worker({}, {});
    worker.prepare_for(SlotName::live, {{HeadChoice::Kind::mean}}, true);
    worker.request(SlotName::live, with_two_heads_and_a_loss());
    worker.wait();
    const auto result = worker.take();
    ASSERT_TRUE(result && result->trace);
    const Stage* gradient = result->trace->find_named("grad.weights");
    ASSERT_NE(gradient, nullptr);
    EXPECT_TRUE(gradient->buffer.known_range());
    EXPECT_TRUE(gradient->buffer.known_mean());
    worker.request(SlotName::live, seeded(1));
    worker.wait();
    const auto without_loss = worker.take();
    ASSERT_TRUE(without_loss && without_loss->trace) << "a trace without a loss is none without gradients";
    EXPECT_TRUE(without_loss->trace->gradients.empty());
}

TEST(WorkerTest, GradientsThatAreWantedLaterAreDeliveredWithTheSameStages) {
    Worker worker({}, {});
    worker.request(SlotName::live, with_two_heads_and_a_loss());
    worker.wait();
    const auto before = worker.take();
    ASSERT_TRUE(before && before->trace);
    EXPECT_TRUE(before->trace->gradients.empty());
    worker.prepare_for(SlotName::live, {}, true);
    worker.wait();
    const auto after = worker.take();
    ASSERT_TRUE(after && after->trace);
    EXPECT_FALSE(after->trace->gradients.empty());
    EXPECT_EQ(after->trace->find("weights"_stage), before->trace->find("weights"_stage));
    worker.prepare_for(SlotName::live, {}, false);
    worker.prepare_for(SlotName::live, {}, true);
    EXPECT_FALSE(worker.busy(SlotName::live)) << "they are there";
}

WantedPictures weights_alone() { return {.other_heads = true, .stage = "weights"_stage}; }

bool waits(const Trace& trace) { return trace.find("context"_stage)->buffer.is_waiting(); }

TEST(WorkerTest, WhatWaitedIsEvaluatedOnceItIsShown) {
    Worker worker({}, {});
    worker.prepare_for(SlotName::live, weights_alone());
    worker.request(SlotName::live, large());
    worker.wait();
    const auto before = worker.take();
    ASSERT_TRUE(before && before->trace);
    EXPECT_TRUE(waits(*before->trace));
    worker.prepare_for(SlotName::live, {{HeadChoice::Kind::one, 0}});
    worker.wait();
    const auto after = worker.take();
    ASSERT_TRUE(after && after->trace);
    EXPECT_FALSE(waits(*after->trace));
    EXPECT_TRUE(after->trace->find("context"_stage)->buffer.known_range(0));
    EXPECT_EQ(after->trace->find("weights"_stage), before->trace->find("weights"_stage));
}

TEST(WorkerTest, WhatWaitedIsEvaluatedAlthoughANewerExperimentFails) {
    Worker worker({}, {});
    worker.prepare_for(SlotName::live, weights_alone());
    worker.request(SlotName::live, large());
    worker.wait();
    ASSERT_TRUE(worker.take());
    Experiment wrong = large();
    wrong.attention.heads = 3;
    worker.request(SlotName::live, wrong);
    worker.wait();
    const auto failed = worker.take();
    ASSERT_TRUE(failed && !failed->trace);
    worker.prepare_for(SlotName::live, {{HeadChoice::Kind::one, 0}});
    worker.wait();
    const auto after = worker.take();
    ASSERT_TRUE(after && after->trace) << (after ? after->error : "nothing was prepared");
    EXPECT_EQ(after->experiment, large());
    EXPECT_FALSE(waits(*after->trace));
}

TEST(WorkerTest, StoppedIsSaidWithoutWaitingForWhatDoesNotStop) {
    Worker worker({}, {});
    EXPECT_FALSE(worker.stopped());
    std::promise<void> begun, allowed;
    worker.compute_on([&] {
        begun.set_value();
        allowed.get_future().wait();
        return BackendChoice{};
    });
    begun.get_future().wait();
    worker.stop();
    EXPECT_FALSE(worker.stopped());
    allowed.set_value();
    while (!worker.stopped()) std::this_thread::yield();
    worker.request(SlotName::live, seeded(1));
    EXPECT_FALSE(worker.take()) << "nothing is computed any more";
}

TEST(WorkerTest, AResultIsTakenOnce) {
    Worker worker({}, {});
    EXPECT_FALSE(worker.take());
    worker.request(SlotName::live, seeded(1));
    worker.wait();
    EXPECT_TRUE(worker.take());
    EXPECT_FALSE(worker.take());
}

TEST(WorkerTest, TheNewestRequestWins) {
    Worker worker({}, {});
    for (int seed = 0; seed < 200; ++seed) worker.request(SlotName::live, seeded(seed));
    worker.wait();
    const auto result = worker.take();
    ASSERT_TRUE(result && result->trace);
    EXPECT_EQ(result->trace->experiment.weights.seed, Seed(199));
    EXPECT_FALSE(worker.take());
}

TEST(WorkerTest, ANewRequestCancelsTheRunningOne) {
    std::atomic<int> wakes = 0;
    constexpr int k_rounds = 10;
    {
        Worker worker({}, [&] { ++wakes; });
        for (int i = 0; i < k_rounds; ++i) {
            worker.request(SlotName::live, slow(i));
            std::this_thread::sleep_for(10ms);  // it has begun, and is far from its end
            worker.request(SlotName::live, seeded(i));
            worker.wait();
            const auto result = worker.take();
            ASSERT_TRUE(result && result->trace);
            EXPECT_EQ(result->trace->experiment, seeded(i));
        }
    }
    EXPECT_GE(wakes, k_rounds);
    // Each of the slow ones would have waked too; a machine that stands still for a moment may finish some.
    EXPECT_LE(wakes, k_rounds + k_rounds / 2) << "what was overtaken was computed to its end";
}

TEST(WorkerTest, ASettingThatIsDraggedShowsOnTheWay) {
    // Each evaluation takes less than this moment, on a slow machine, too.
    Worker worker({}, {}, 1min);
    worker.request(SlotName::live, slow(0, 400));
    worker.wait();
    ASSERT_TRUE(worker.take());
    const auto deadline = std::chrono::steady_clock::now() + 1min;
    int shown = 0, seed = 0;
    while (shown < 3 && std::chrono::steady_clock::now() < deadline) {
        worker.request(SlotName::live, slow(++seed, 400));
        std::this_thread::sleep_for(1ms);
        shown += worker.take() ? 1 : 0;
    }
    EXPECT_EQ(shown, 3);
    worker.request(SlotName::live, slow(++seed, 400));
    worker.wait();
    const auto last = worker.take();
    ASSERT_TRUE(last && last->trace);
    EXPECT_EQ(last->trace->experiment, slow(seed, 400));
}

TEST(WorkerTest, AnEvaluationThatTakesLongerThanThoseBeforeItIsCanceledOnceThatIsSeen) {
    Experiment quick = slow(1, 400), longer = slow(2, 400), last = slow(3, 400);
    quick.attention.heads = last.attention.heads = 1;
    quick.input.dim = last.input.dim = 16;
    longer.attention.score = Score::additive;  // many times the work
    std::chrono::nanoseconds took = 1min;
    for (int i = 0; i < 4; ++i) {
        const auto began = std::chrono::steady_clock::now();
        evaluate(quick, {});
        took = std::min<std::chrono::nanoseconds>(took, std::chrono::steady_clock::now() - began);
    }
    Worker worker({}, {}, std::chrono::ceil<std::chrono::milliseconds>(4 * took));
    worker.request(SlotName::live, quick);
    worker.wait();
    ASSERT_TRUE(worker.take());
    worker.request(SlotName::live, longer);
    std::this_thread::sleep_for(1ms);
    worker.request(SlotName::live, last);
    std::optional<WorkResult> result;
    while (!result) {
        std::this_thread::sleep_for(1ms);
        result = worker.take();  // as each frame does
    }
    ASSERT_TRUE(result->trace);
    EXPECT_EQ(result->experiment, last);
}

TEST(WorkerTest, AnErrorIsAResult) {
    Worker worker({}, {});
    Experiment wrong = seeded(1);
    wrong.input.table_size = -7;
    worker.request(SlotName::live, wrong);
    worker.wait();
    const auto result = worker.take();
    ASSERT_TRUE(result);
    EXPECT_FALSE(result->trace);
    EXPECT_EQ(result->experiment, wrong);
    EXPECT_NE(result->error.find("table-size -7"), std::string::npos) << result->error;
}

TEST(WorkerTest, GoesOnAfterAnError) {
    Worker worker({}, {});
    Experiment wrong;
    wrong.input.text.clear();
    worker.request(SlotName::live, wrong);
    worker.wait();
    worker.request(SlotName::live, seeded(2));
    worker.wait();
    const auto result = worker.take();
    ASSERT_TRUE(result && result->trace);
    EXPECT_EQ(result->trace->experiment, seeded(2));
}

TEST(WorkerTest, WhatIsTooLargeIsAnError) {
    Worker worker({.threads = 0, .memory_limit = 1000, .cancel = {}}, {});
    worker.request(SlotName::live, seeded(1));
    worker.wait();
    const auto result = worker.take();
    ASSERT_TRUE(result);
    EXPECT_FALSE(result->trace);
    EXPECT_FALSE(result->error.empty());
}

TEST(WorkerTest, AResultWakes) {
    std::promise<void> woken;
    Worker worker({}, [&] { woken.set_value(); });
    worker.request(SlotName::live, seeded(3));
    EXPECT_EQ(woken.get_future().wait_for(60s), std::future_status::ready);
    EXPECT_TRUE(worker.take());
}

TEST(WorkerTest, TheWakeMayAskTheWorker) {
    Worker* asked = nullptr;
    std::promise<bool> there;
    Worker worker({}, [&] { there.set_value(asked->take().has_value()); });
    asked = &worker;
    worker.request(SlotName::live, seeded(3));
    auto answer = there.get_future();
    ASSERT_EQ(answer.wait_for(60s), std::future_status::ready);
    EXPECT_TRUE(answer.get());
}

TEST(WorkerTest, IsBusyUntilTheResultIsThere) {
    Worker worker({}, {});
    EXPECT_FALSE(worker.busy(SlotName::live));
    worker.request(SlotName::live, slow(1));
    EXPECT_TRUE(worker.busy(SlotName::live));
    worker.wait();
    EXPECT_FALSE(worker.busy(SlotName::live));
}

TEST(WorkerTest, WaitingForNothingReturns) { Worker({}, {}).wait(); }

TEST(WorkerTest, WaitingEndsWithTheResultOrAtItsLimit) {
    Worker worker({}, {});
    worker.request(SlotName::live, Experiment{});
    EXPECT_TRUE(worker.wait_for(SlotName::live, std::chrono::minutes(1)));
    EXPECT_TRUE(worker.take());
    Experiment large;
    large.input.text.clear();
    for (int i = 0; i < 4000; ++i) large.input.text += "w" + std::to_string(i) + " ";
    worker.request(SlotName::live, large);
    EXPECT_FALSE(worker.wait_for(SlotName::live, std::chrono::milliseconds(0)));
    EXPECT_TRUE(worker.busy(SlotName::live));
}

TEST(WorkerTest, EndsInTheMiddleOfAnEvaluation) {
    for (int i = 0; i < 5; ++i) {
        Worker worker({}, {});
        worker.request(SlotName::live, slow(i));
        std::this_thread::sleep_for(std::chrono::milliseconds(i));
    }
}

TEST(WorkerTest, StagesThatDidNotChangeAreReused) {
    Worker worker({}, {});
    worker.request(SlotName::live, seeded(1));
    worker.wait();
    const auto first = worker.take();
    Experiment hotter = seeded(1);
    hotter.weighting.temperature = 2;
    worker.request(SlotName::live, hotter);
    worker.wait();
    const auto second = worker.take();
    ASSERT_TRUE(first && first->trace && second && second->trace);
    EXPECT_EQ(first->trace->find("query"_stage), second->trace->find("query"_stage));
    EXPECT_NE(first->trace->find("weights"_stage), second->trace->find("weights"_stage));
}

TEST(WorkerSlotTest, EachSlotHasItsOwnResult) {
    Worker worker({}, {});
    worker.request(SlotName::beside, seeded(2));
    worker.request(SlotName::live, seeded(1));
    worker.wait();
    const auto first = worker.take(), second = worker.take();
    ASSERT_TRUE(first && first->trace && second && second->trace);
    EXPECT_FALSE(worker.take());
    EXPECT_EQ(first->slot, SlotName::live);
    EXPECT_EQ(first->trace->experiment, seeded(1));
    EXPECT_EQ(second->slot, SlotName::beside);
    EXPECT_EQ(second->trace->experiment, seeded(2));
}

/// A card that says when its first operation begins, and waits there until it is canceled or allowed to go
/// on.
class HeldCard : public test::FakeBackend {
public:
    std::shared_ptr<const DeviceValues> compute(const Op&, std::span<const Buffer* const>,
                                                std::stop_token cancel) override {
        if (first_.exchange(false)) {
            begun.set_value();
            while (!allowed && !cancel.stop_requested()) std::this_thread::yield();
        }
        if (cancel.stop_requested()) throw Canceled{};
        return nullptr;
    }

    std::promise<void> begun;
    std::atomic<bool> allowed = false;

private:
    std::atomic<bool> first_ = true;
};

TEST(WorkerSlotTest, ARequestDoesNotCancelTheOtherSlots) {
    const auto card = std::make_shared<HeldCard>();
    Worker worker({}, {});
    worker.compute_on([&] { return BackendChoice{card, ""}; });
    worker.request(SlotName::beside, seeded(2));
    card->begun.get_future().wait();
    for (int seed = 10; seed < 15; ++seed) worker.request(SlotName::live, seeded(seed));
    EXPECT_TRUE(worker.busy(SlotName::live));
    EXPECT_TRUE(worker.busy(SlotName::beside));
    card->allowed = true;
    worker.wait();
    const auto a = worker.take(), b = worker.take();
    ASSERT_TRUE(a && a->trace && b && b->trace);
    EXPECT_EQ(a->trace->experiment, seeded(14)) << "the newest one wins";
    EXPECT_EQ(b->trace->experiment, seeded(2));
    EXPECT_EQ(b->trace->backend, BackendKind::gpu) << "what was computed before the card was chosen";
}

TEST(WorkerSlotTest, ANewRequestCancelsItsOwnSlots) {
    const auto card = std::make_shared<HeldCard>();
    Worker worker({}, {});
    worker.compute_on([&] { return BackendChoice{card, ""}; });
    worker.request(SlotName::beside, seeded(2));
    card->begun.get_future().wait();
    worker.request(SlotName::beside, seeded(3));
    worker.wait();
    const auto result = worker.take();
    ASSERT_TRUE(result && result->trace);
    EXPECT_EQ(result->trace->experiment, seeded(3));
    EXPECT_FALSE(worker.take());
}

TEST(WorkerSlotTest, AClosedSlotIsCanceledAndItsResultDropped) {
    const auto card = std::make_shared<HeldCard>();
    Worker worker({}, {});
    worker.compute_on([&] { return BackendChoice{card, ""}; });
    worker.request(SlotName::beside, seeded(2));
    card->begun.get_future().wait();
    worker.request(SlotName::live, seeded(1));
    worker.close(SlotName::beside);
    worker.wait();
    const auto result = worker.take();
    ASSERT_TRUE(result && result->trace);
    EXPECT_EQ(result->slot, SlotName::live);
    EXPECT_FALSE(worker.take());

    worker.request(SlotName::beside, seeded(2));
    worker.wait();
    worker.close(SlotName::beside);
    EXPECT_FALSE(worker.take());
    worker.compute_again();
    worker.wait();
    EXPECT_TRUE(worker.take());
    EXPECT_FALSE(worker.take()) << "nothing is computed for a closed slot";
}

TEST(WorkerSlotTest, ASlotReusesWhatEqualsTheOthers) {
    Worker worker({}, {});
    worker.request(SlotName::live, seeded(1));
    worker.wait();
    Experiment hotter = seeded(1);
    hotter.weighting.temperature = 2;
    worker.request(SlotName::beside, hotter);
    worker.wait();
    const auto a = worker.take(), b = worker.take();
    ASSERT_TRUE(a && a->trace && b && b->trace);
    EXPECT_EQ(a->trace->find("query"_stage), b->trace->find("query"_stage));
    EXPECT_NE(a->trace->find("weights"_stage), b->trace->find("weights"_stage));
}

std::function<BackendChoice()> choosing(std::shared_ptr<Backend> backend) {
    return [=] { return BackendChoice{backend, "as the test asked"}; };
}

WorkResult result_of(Worker& worker) {
    worker.wait();
    return worker.take().value_or(WorkResult{});
}

void expect_the_processor(const WorkResult& result, const std::string& notice) {
    ASSERT_TRUE(result.trace) << result.error;
    EXPECT_EQ(result.trace->backend, BackendKind::cpu);
    EXPECT_EQ(result.notice, notice);
}

TEST(WorkerBackendTest, WhatIsChosenComputesTheNewestExperimentAgain) {
    const auto card = std::make_shared<test::FakeBackend>();
    Worker worker({}, {});
    worker.request(SlotName::live, seeded(1));
    worker.wait();
    EXPECT_FALSE(worker.backend().on_card);
    std::promise<void> seen;
    worker.compute_on([&] {
        seen.get_future().wait();
        return BackendChoice{card, "as the test asked"};
    });
    EXPECT_TRUE(worker.busy(SlotName::live));
    seen.set_value();
    const WorkResult result = result_of(worker);
    ASSERT_TRUE(result.trace) << result.error;
    EXPECT_EQ(result.trace->backend, BackendKind::gpu);
    EXPECT_EQ(result.experiment, seeded(1));
    EXPECT_GT(card->operations, 0);
    EXPECT_TRUE(worker.backend().on_card);
    EXPECT_EQ(worker.backend().reason, "as the test asked");

    worker.compute_on(choosing(nullptr));
    EXPECT_EQ(result_of(worker).trace->backend, BackendKind::cpu);
    EXPECT_FALSE(worker.backend().on_card);
}

TEST(WorkerBackendTest, WhereThereIsNoneTheProcessorComputesAndTheReasonIsKnown) {
    Worker worker({}, {});
    worker.compute_on([]() -> BackendChoice { throw Error(ErrorKind::backend, "no OpenGL 4.3"); });
    worker.request(SlotName::live, seeded(1));
    EXPECT_EQ(result_of(worker).trace->backend, BackendKind::cpu);
    EXPECT_EQ(worker.backend().reason, "no OpenGL 4.3");
}

TEST(WorkerBackendTest, ACardThatFailsGivesWayToTheProcessor) {
    const auto card = std::make_shared<test::FakeBackend>(
        [](const Op&, const Shape&) -> std::shared_ptr<const DeviceValues> {
            throw Error(ErrorKind::backend, "the card is lost");
        });
    Worker worker({}, {});
    worker.compute_on(choosing(card));
    worker.wait();
    worker.request(SlotName::live, seeded(1));
    expect_the_processor(result_of(worker), "the card is lost (computing on the CPU)");
    EXPECT_FALSE(worker.backend().on_card);
    const int steps = card->operations;
    worker.request(SlotName::live, seeded(2));
    EXPECT_EQ(result_of(worker).notice, "");
    EXPECT_EQ(card->operations, steps) << "a lost card is asked again";
}

TEST(WorkerBackendTest, ACardThatHangsIsLeftBehind) {
    std::promise<void> begun, allowed;
    const auto left = std::make_shared<std::promise<void>>();
    const auto card =
        std::make_shared<test::FakeBackend>([&begun, left, may = allowed.get_future().share()](
                                                const Op&, const Shape&) -> std::shared_ptr<DeviceValues> {
            begun.set_value();
            may.wait();
            left->set_value();
            throw Error(ErrorKind::backend, "the card was reset");
        });
    std::chrono::steady_clock::time_point start;
    {
        Worker worker({}, {});
        worker.compute_on([&] { return BackendChoice{card, ""}; });
        worker.request(SlotName::live, seeded(1));
        begun.get_future().wait();
        start = std::chrono::steady_clock::now();
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, Worker::k_longest_end + 400ms);
    allowed.set_value();
    left->get_future().wait();
}

TEST(WorkerBackendTest, WhatDoesNotFitTheCardIsComputedByTheProcessorAlone) {
    std::atomic<bool> full = true;
    const auto card = std::make_shared<test::FakeBackend>(
        [&](const Op&, const Shape&) -> std::shared_ptr<const DeviceValues> {
            if (full) throw Error(ErrorKind::too_large, "the card is full");
            return nullptr;
        });
    Worker worker({}, {});
    worker.compute_on(choosing(card));
    worker.wait();
    worker.request(SlotName::live, seeded(1));
    expect_the_processor(result_of(worker), "the card is full (computing on the CPU)");
    full = false;
    worker.request(SlotName::live, seeded(2));
    EXPECT_EQ(result_of(worker).trace->backend, BackendKind::gpu);
}

TEST(WorkerBackendTest, ValuesThatCannotBeReadAreComputedAgain) {
    const auto card = std::make_shared<test::FakeBackend>(
        [](const Op& op, const Shape& shape) -> std::shared_ptr<const DeviceValues> {
            return std::holds_alternative<op::WeightedSum>(op) ? std::make_shared<test::LostValues>(shape)
                                                               : nullptr;
        });
    Worker worker({}, {});
    worker.compute_on(choosing(card));
    worker.request(SlotName::live, seeded(1));
    WorkResult result = result_of(worker);
    ASSERT_TRUE(result.trace && result.trace->backend == BackendKind::gpu) << result.error;
    worker.leave_card("the card is lost");
    result = result_of(worker);
    ASSERT_TRUE(result.trace) << result.error;
    EXPECT_EQ(result.trace->backend, BackendKind::cpu);
    EXPECT_EQ(worker.backend().reason, "the card is lost");
    EXPECT_NO_THROW(result.trace->find("context"_stage)->buffer.host());
}

TEST(WorkerBackendTest, BothSlotsAreComputedOnWhatIsChosenAndAgainWhenItIsLost) {
    const auto card = std::make_shared<test::FakeBackend>();
    Worker worker({}, {});
    worker.request(SlotName::live, seeded(1));
    worker.request(SlotName::beside, seeded(2));
    worker.wait();
    const auto take_both = [&](BackendKind backend) {
        worker.wait();
        for (const SlotName slot : {SlotName::live, SlotName::beside}) {
            const auto result = worker.take();
            ASSERT_TRUE(result && result->trace);
            EXPECT_EQ(result->slot, slot);
            EXPECT_EQ(result->trace->backend, backend);
        }
    };
    take_both(BackendKind::cpu);
    worker.compute_on(choosing(card));
    take_both(BackendKind::gpu);
    worker.leave_card("the card is lost");
    take_both(BackendKind::cpu);
}

TEST(WorkerBackendTest, ASlotMayStayOnTheProcessorAndReusesNothingFromTheCard) {
    const auto card = std::make_shared<test::FakeBackend>();
    Worker worker({}, {});
    worker.compute_on(choosing(card));
    worker.request(SlotName::live, seeded(1));
    worker.wait();
    const auto live = worker.take();
    const auto pinned = [&](bool on_cpu) {
        worker.request(SlotName::pinned, seeded(1), on_cpu);
        worker.wait();
        return worker.take();
    };
    const auto on_cpu = pinned(true);
    ASSERT_TRUE(live && live->trace && on_cpu && on_cpu->trace);
    EXPECT_EQ(live->trace->backend, BackendKind::gpu);
    EXPECT_EQ(on_cpu->trace->backend, BackendKind::cpu);
    for (const StageRecord& record : on_cpu->trace->records)
        EXPECT_NE(record.stage, live->trace->stage(record.stage->key())) << record.stage->name();
    const auto on_card = pinned(false);
    ASSERT_TRUE(on_card && on_card->trace);
    EXPECT_EQ(on_card->trace->backend, BackendKind::gpu);
    for (const StageRecord& record : on_card->trace->records)
        EXPECT_NE(record.stage, on_cpu->trace->stage(record.stage->key())) << record.stage->name();
}

TEST(WorkerBackendTest, ACardThatFailsForOneSlotIsLeftByBoth) {
    std::atomic<bool> lost = false;
    const auto card = std::make_shared<test::FakeBackend>(
        [&](const Op&, const Shape&) -> std::shared_ptr<const DeviceValues> {
            if (lost) throw Error(ErrorKind::backend, "the card is lost");
            return nullptr;
        });
    Worker worker({}, {});
    worker.compute_on(choosing(card));
    worker.request(SlotName::live, seeded(1));
    worker.request(SlotName::beside, seeded(2));
    worker.wait();
    while (worker.take()) {
    }
    lost = true;
    worker.request(SlotName::live, seeded(3));
    worker.wait();
    const auto a = worker.take(), b = worker.take();
    ASSERT_TRUE(a && a->trace && b && b->trace);
    EXPECT_EQ(a->trace->backend, BackendKind::cpu);
    EXPECT_EQ(b->trace->backend, BackendKind::cpu);
    EXPECT_EQ(b->trace->experiment, seeded(2));
}

TEST(WorkerBackendTest, WhatIsWantedAtOnceDoesNotWaitForTheProcessor) {
    const auto card = std::make_shared<test::FakeBackend>();
    Worker worker({}, {});
    worker.request(SlotName::live, slow(1));
    worker.compute_on(choosing(card), true);
    const WorkResult result = result_of(worker);
    ASSERT_TRUE(result.trace) << result.error;
    EXPECT_EQ(result.trace->backend, BackendKind::gpu);
    EXPECT_EQ(result.experiment, slow(1));
    EXPECT_FALSE(worker.busy(SlotName::live));
}

TEST(WorkerBackendTest, ComputingAgainReusesNothing) {
    Worker worker({}, {});
    worker.request(SlotName::live, seeded(1));
    const auto first = result_of(worker).trace;
    worker.compute_again();
    const auto second = result_of(worker).trace;
    ASSERT_TRUE(first && second);
    EXPECT_NE(first->find("query"_stage), second->find("query"_stage));
}

TEST(WorkerTest, EachSlotIsReadyForTheHeadThatIsShownOfIt) {
    Worker worker({}, {});
    worker.prepare_for(SlotName::live, {{HeadChoice::Kind::one, 1}});
    worker.prepare_for(SlotName::pinned, {{HeadChoice::Kind::one, 3}});
    worker.request(SlotName::live, large());
    worker.request(SlotName::pinned, large());
    worker.wait();
    const auto live = worker.take(), pinned = worker.take();
    ASSERT_TRUE(live && pinned);
    ASSERT_EQ(live->slot, SlotName::live);
    ASSERT_EQ(pinned->slot, SlotName::pinned);
    EXPECT_TRUE(is_ready(*live->trace, {{HeadChoice::Kind::one, 1}}));
    EXPECT_TRUE(is_ready(*pinned->trace, {{HeadChoice::Kind::one, 3}}));
}

}  // namespace
}  // namespace attnscope
