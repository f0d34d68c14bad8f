// The comparing thread: the newest request counts, and what was found is given once.
#include "app/document/comparer.h"

#include <gtest/gtest.h>

#include <atomic>

#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"

namespace attnscope {
namespace {

ComparedSide side(std::shared_ptr<const Trace> of) { return {std::move(of), {}, 1}; }

std::shared_ptr<const Trace> trace(int seed) {
    Experiment e;
    e.weights.seed = Seed(seed);
    return std::make_shared<const Trace>(evaluate(e));
}

TEST(ComparerTest, GivesTheNewestComparisonOnceAndKeepsIt) {
    std::atomic<int> woken = 0;
    {
        Comparer comparer([&] { ++woken; });
        const auto a = trace(1), b = trace(2), c = trace(3);
        comparer.request({side(a), side(b), "weights"_stage});
        comparer.request({side(a), side(c), "weights"_stage});
        comparer.wait();
        EXPECT_FALSE(comparer.busy());
        EXPECT_EQ(comparer.known(), nullptr) << "not taken yet";
        EXPECT_TRUE(comparer.update());
        EXPECT_FALSE(comparer.update());
        ASSERT_TRUE(comparer.known());
        EXPECT_EQ(comparer.known()->of.b.trace, c);
        EXPECT_EQ(comparer.known()->first_difference()->key, "embedding"_stage);
    }
    // The window is woken after the result is there, perhaps after wait(); the thread has ended now.
    EXPECT_GE(woken, 1);
}

TEST(ComparerTest, TheSameRequestIsNotRepeatedAndAnotherStageKeepsTheFacts) {
    Comparer comparer({});
    const ComparisonRequest request{side(trace(1)), side(trace(2)), "weights"_stage};
    comparer.request(request);
    comparer.wait();
    comparer.update();
    comparer.request(request);
    EXPECT_FALSE(comparer.busy());
    const auto before = comparer.known();
    comparer.request({request.a, request.b, "scores"_stage});
    comparer.wait();
    EXPECT_TRUE(comparer.update());
    EXPECT_EQ(comparer.known()->difference->facts.key, "scores"_stage);
    ASSERT_EQ(comparer.known()->stages.size(), before->stages.size());
    for (std::size_t i = 0; i < before->stages.size(); ++i)
        EXPECT_EQ(comparer.known()->stages[i].largest, before->stages[i].largest);
}

TEST(ComparerTest, WhatIsForgottenIsNotGiven) {
    Comparer comparer({});
    const auto a = trace(1);
    const long uses = a.use_count();
    comparer.request({side(a), side(trace(2)), "weights"_stage});
    comparer.wait();
    comparer.forget();
    EXPECT_FALSE(comparer.update());
    EXPECT_EQ(comparer.known(), nullptr);
    EXPECT_EQ(a.use_count(), uses) << "no trace is kept";
    comparer.request({side(a), side(trace(2)), "weights"_stage});
    comparer.wait();
    EXPECT_TRUE(comparer.update()) << "asked for again";
}

TEST(ComparerTest, MayEndWhileItCompares) {
    Experiment large;
    large.input.text.clear();
    for (int i = 0; i < 300; ++i) large.input.text += "w" + std::to_string(i) + " ";
    const auto a = std::make_shared<const Trace>(evaluate(large));
    for (int i = 0; i < 3; ++i) {
        Comparer comparer({});
        comparer.request({side(a), side(a), "weights"_stage});
    }
}

}  // namespace
}  // namespace attnscope
