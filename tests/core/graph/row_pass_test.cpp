// Rows that pass several operations at once, against each operation alone; heads that are not kept.
#include "core/graph/row_pass.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "core/canceled.h"
#include "core/cpu/row_blocks.h"
#include "core/error.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "core/mechanism/mechanisms.h"
#include "core/op/op.h"
#include "tests/random_attention.h"
#include "tests/random_transformer.h"
#include "tests/sanitized.h"

namespace attnscope {
namespace {

using test::Dice;

bool same_bits(ConstMatrixView a, ConstMatrixView b) {
    return a.rows() == b.rows() && a.cols() == b.cols() &&
           std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(float)) == 0;
}

bool same_bits(const Buffer& a, const Buffer& b) {
    if (a.shape() != b.shape()) return false;
    for (int h = 0; h < a.shape().heads; ++h)
        if (!same_bits(a.head(h), b.head(h))) return false;
    return true;
}

/// Sentences of several blocks of rows.
Experiment long_sentence(int tokens, int heads) {
    Experiment e;
    e.input.text.clear();
    for (int i = 0; i < tokens; ++i) e.input.text += "w" + std::to_string(i * 7 % 31) + " ";
    e.attention.projection = Projection::xavier;
    e.attention.heads = heads;
    e.weighting.mask.push_back(parse_mask_rule("causal"));
    return e;
}

/// Random experiments of every setting, and some of more rows than a block has.
const std::vector<Experiment>& many_experiments() {
    static const std::vector<Experiment> made = [] {
        std::vector<Experiment> all;
        Dice dice(7);
        while (all.size() < 200) {
            try {
                Experiment e =
                    all.size() % 4 == 3 ? test::random_transformer(dice) : test::random_attention(dice);
                evaluate(e);
                all.push_back(std::move(e));
            } catch (const Error&) {  // settings that exclude each other
            }
        }
        for (const int heads : {1, 2, 4})
            for (const Score score : {Score::dot, Score::additive, Score::cosine}) {
                all.push_back(long_sentence(150, heads));
                all.back().attention.score = score;
            }
        return all;
    }();
    return made;
}

/// Operations that a pass computed are equal bit for bit to what each computes alone from its inputs.
TEST(RowPassTest, EveryResultIsThatOfItsOperationAlone) {
    int compared = 0;
    for (const Experiment& experiment : many_experiments()) {
        const Trace trace = evaluate(experiment);
        for (const StageRecord& record : trace.records) {
            if (!has_rows(*record.op)) continue;
            std::vector<const Buffer*> inputs;
            for (const StagePtr& input : record.inputs) inputs.push_back(&input->buffer);
            DrawSequence draws;
            const Buffer alone(std::move(forward(*record.op, {inputs, draws})[0]));
            EXPECT_TRUE(same_bits(record.stage->buffer, alone)) << record.stage->name();
            ++compared;
        }
    }
    EXPECT_GT(compared, 1000);
}

std::vector<std::string> names(const Graph& graph, const std::vector<int>& pass) {
    std::vector<std::string> result;
    for (const GraphValue& value : graph.values)
        if (std::ranges::find(pass, value.node) != pass.end()) result.push_back(stage_name(value.key));
    return result;
}

TEST(RowPassTest, ScoresGoToTheContextInOnePass) {
    Experiment experiment;
    experiment.attention.dropout = 0.5;
    const Graph graph = build(experiment);
    const auto passes = row_passes(
        graph, [&](int node) { return has_rows(*graph.nodes[static_cast<std::size_t>(node)].op); });
    const auto longest = std::ranges::max_element(passes, {}, &std::vector<int>::size);
    EXPECT_EQ(names(graph, *longest), (std::vector<std::string>{"query", "scores", "scaled", "masked",
                                                                "weights", "weights_dropped", "context"}));
}

TEST(RowPassTest, EveryNodeIsComputedOnceAndAfterItsInputs) {
    for (const Experiment& experiment : many_experiments()) {
        const Graph graph = build(experiment);
        std::set<int> computed;
        for (const std::vector<int>& pass : row_passes(graph, [&](int node) {
                 return has_rows(*graph.nodes[static_cast<std::size_t>(node)].op);
             })) {
            for (const int node : pass) {
                for (const int input : graph.nodes[static_cast<std::size_t>(node)].inputs)
                    EXPECT_TRUE(computed.contains(graph.values[static_cast<std::size_t>(input)].node));
                EXPECT_TRUE(computed.insert(node).second);
            }
        }
        EXPECT_EQ(computed.size(), graph.nodes.size());
    }
}

EvaluateOptions watching(std::optional<int> head) { return {.watched = {.ranges = true, .head = head}}; }

TEST(RowPassTest, RangesAndLargestValuesAreThoseOfTheValues) {
    for (const Experiment& experiment : many_experiments()) {
        const Trace trace = evaluate(experiment, {}, watching({}));
        for (const StageRecord& record : trace.records) {
            const Buffer& buffer = record.stage->buffer;
            Tensor copy(buffer.shape());
            for (int h = 0; h < buffer.shape().heads; ++h) copy.head(h) = buffer.head(h);
            const Buffer fresh(std::move(copy));
            for (int h = 0; h < buffer.shape().heads; ++h) {
                const ValueRange &found = buffer.range(h), &of_values = fresh.range(h);
                EXPECT_EQ(found.min, of_values.min) << record.stage->name();
                EXPECT_EQ(found.max, of_values.max) << record.stage->name();
                EXPECT_EQ(found.finite, of_values.finite) << record.stage->name();
                EXPECT_EQ(found.zero, of_values.zero) << record.stage->name();
                EXPECT_EQ(found.nan, of_values.nan) << record.stage->name();
                EXPECT_EQ(found.minus_infinity, of_values.minus_infinity) << record.stage->name();
                const std::vector<float>&largest = buffer.row_largest(h), &rows = fresh.row_largest(h);
                EXPECT_TRUE(std::memcmp(largest.data(), rows.data(), rows.size() * sizeof(float)) == 0)
                    << record.stage->name();
            }
        }
    }
}

TEST(RowPassTest, OmittedHeadsAreComputedWhenTheyAreAskedFor) {
    int omitted = 0;
    for (const Experiment& experiment : many_experiments()) {
        const Trace whole = evaluate(experiment), part = evaluate(experiment, {}, watching(1));
        ASSERT_EQ(whole.records.size(), part.records.size());
        for (std::size_t i = 0; i < whole.records.size(); ++i) {
            const Buffer &all = whole.records[i].stage->buffer, &some = part.records[i].stage->buffer;
            const int heads = all.shape().heads, kept = std::min(1, heads - 1);
            EXPECT_FALSE(some.is_omitted(kept));
            omitted += some.is_omitted(0) ? 1 : 0;
            for (int h = 0; h < heads; ++h) {
                EXPECT_EQ(some.range(h).min, all.range(h).min);
                EXPECT_EQ(some.range(h).max, all.range(h).max);
                EXPECT_EQ(some.range(h).finite, all.range(h).finite);
                EXPECT_EQ(some.range(h).zero, all.range(h).zero);
                const std::vector<float>&largest = some.row_largest(h), &rows = all.row_largest(h);
                EXPECT_EQ(std::memcmp(largest.data(), rows.data(), rows.size() * sizeof(float)), 0);
                EXPECT_TRUE(same_bits(some.head(h), all.head(h))) << whole.records[i].stage->name();
                EXPECT_FALSE(some.is_omitted(h));
            }
            EXPECT_TRUE(some.shape() == all.shape());
        }
    }
    EXPECT_GT(omitted, 100);
}

/// For every stage of every experiment: nothing else is looked at.
TEST(RowPassTest, WhatNothingLooksAtWaitsAndIsTheSameThen) {
    std::size_t waiting = 0, omitted = 0;
    const std::vector<Experiment>& experiments = many_experiments();
    for (std::size_t i = 0; i < experiments.size(); i += 3) {
        if (!test::is_visited(i / 3, 5)) continue;
        const Trace whole = evaluate(experiments[i]);
        std::set<const StageInfo*> stages;
        for (const StageRecord& record : whole.records) stages.insert(record.stage->info);
        for (const StageInfo* const stage : stages) {
            const Trace part = evaluate(experiments[i], {}, {.watched = {.ranges = true, .stage = stage}});
            ASSERT_EQ(whole.records.size(), part.records.size());
            for (const StageRecord& record : part.records) {
                const Buffer& buffer = record.stage->buffer;
                waiting += buffer.is_waiting() ? 1 : 0;
                omitted += buffer.is_omitted(0) ? 1 : 0;
                if (record.stage->info != stage && record.stage->info->role != StageRole::mask) continue;
                EXPECT_FALSE(buffer.is_waiting() || buffer.is_omitted(0)) << record.stage->name();
            }
            // In turn from the first to the last and from the last to the first, which others are computed
            // for.
            const std::size_t count = whole.records.size();
            for (std::size_t each = 0; each < count; ++each) {
                const std::size_t at = i % 2 == 0 ? each : count - 1 - each;
                EXPECT_TRUE(same_bits(whole.records[at].stage->buffer, part.records[at].stage->buffer))
                    << whole.records[at].stage->name() << " while " << stage->name << " is watched";
                EXPECT_FALSE(part.records[at].stage->buffer.is_waiting());
            }
        }
    }
    EXPECT_GT(waiting, 200u);
    EXPECT_GT(omitted, 100u);
}

TEST(RowPassTest, WhatTheWeightsDoNotNeedWaitsForWhoeverAsks) {
    Experiment experiment = long_sentence(150, 4);
    experiment.attention.output_projection = true;
    experiment.attention.block = Block::post_norm;
    const Trace whole = evaluate(experiment);
    const StageInfo *const last = "norm_2"_stage, *const weights = "weights"_stage,
                           *const scores = "scores"_stage;
    const Buffer& all = whole.find(last)->buffer;
    const auto expect = [&](const auto& read) {
        const Trace trace = evaluate(experiment, {}, {.watched = {.stage = weights}});
        const Buffer& some = trace.find(last)->buffer;
        ASSERT_TRUE(some.is_waiting() || some.is_omitted(0));
        EXPECT_FALSE(trace.find(weights)->buffer.is_omitted(3));
        EXPECT_EQ(read(some), read(all));
        EXPECT_TRUE(trace.find(scores)->buffer.is_omitted(3)) << "passed again, not kept";
    };
    expect([](const Buffer& b) { return b.at(0, 140, 7); });
    expect([](const Buffer& b) { return b.row(0, 140).eval(); });
    expect([](const Buffer& b) { return b.column(0, 7).eval(); });
    expect([](const Buffer& b) { return b.rows(0, 100, 20); });
    expect([](const Buffer& b) { return Matrix(b.pooled(0, 2)); });
    expect([](const Buffer& b) { return b.range(0).max; });
    expect([](const Buffer& b) { return b.row_largest(0); });
    expect([](const Buffer& b) { return b.percentiles(0); });
    expect([](const Buffer& b) {
        Matrix region(10, 5);
        b.read(0, {100, 3, 10, 5}, {region.data(), 10, 5});
        return region;
    });
}

/// What each way of reading values of a head that was omitted gives, each on a trace of its own.
TEST(RowPassTest, EveryWayOfReadingComputesWhatWasOmitted) {
    const Experiment experiment = long_sentence(150, 4);
    const Trace whole = evaluate(experiment);
    const StageInfo* const weights = "weights"_stage;
    const Buffer& all = whole.find(weights)->buffer;
    const auto expect = [&](const auto& read) {
        const Trace trace = evaluate(experiment, {}, watching(0));
        const Buffer& some = trace.find(weights)->buffer;
        ASSERT_TRUE(some.is_omitted(3));
        EXPECT_EQ(read(some), read(all));
    };
    expect([](const Buffer& b) { return b.at(3, 140, 7); });
    expect([](const Buffer& b) { return b.row(3, 140).eval(); });
    expect([](const Buffer& b) { return b.column(3, 7).eval(); });
    expect([](const Buffer& b) { return b.rows(3, 100, 20); });
    expect([](const Buffer& b) { return Matrix(b.pooled(3, 2)); });
    expect([](const Buffer& b) { return Matrix(b.host().head(3)); });
    expect([](const Buffer& b) { return Matrix(b.mean().head(0)); });
    expect([](const Buffer& b) { return b.mean_at(140, 7); });
    expect([](const Buffer& b) { return b.percentiles(3); });
    expect([](const Buffer& b) {
        Matrix region(10, 20);
        b.read(3, {100, 30, 10, 20}, {region.data(), 10, 20});
        return region;
    });
}

TEST(RowPassTest, ATraceOfOmittedHeadsIsReused) {
    Experiment experiment = long_sentence(150, 4);
    const Trace before = evaluate(experiment, {}, watching(0));
    experiment.weighting.temperature = 2;
    const Trace after = evaluate(experiment, before, watching(2));
    EXPECT_EQ(after.find("scores"_stage), before.find("scores"_stage));
    const Trace whole = evaluate(experiment);
    for (const StageRecord& record : whole.records)
        EXPECT_TRUE(same_bits(record.stage->buffer, after.stage(record.stage->key())->buffer))
            << record.stage->name();
}

/// What is reused decides which operations a pass has, but no digit: blocks of rows are the same in any pass.
TEST(RowPassTest, WhatIsReusedChangesNoBit) {
    struct Size {
        int tokens, dim, heads;
    };
    for (const Size& size : {Size{700, 300, 1}, Size{1100, 1024, 1}, Size{300, 96, 3}}) {
        Experiment experiment = long_sentence(size.tokens, size.heads);
        experiment.input.dim = size.dim;
        const Trace before = evaluate(experiment);
        experiment.weighting.temperature = 2;
        const Trace reused = evaluate(experiment, before), fresh = evaluate(experiment);
        EXPECT_EQ(reused.find("scores"_stage), before.find("scores"_stage));
        for (const StageRecord& record : fresh.records)
            EXPECT_TRUE(same_bits(record.stage->buffer, reused.stage(record.stage->key())->buffer))
                << size.tokens << " " << record.stage->name();
    }
}

/// Some rows of an omitted head are read without the others, as the proof of a cell does for every head.
TEST(RowPassTest, ARowOfAnOmittedHeadIsComputedWithoutTheOtherBlocks) {
    const Trace trace = evaluate(long_sentence(600, 4), {}, watching(0));
    const Buffer& weights = trace.find("weights"_stage)->buffer;
    for (int h = 1; h < 4; ++h) {
        EXPECT_NEAR(weights.row(h, 300).sum(), 1, 1e-5);
        EXPECT_EQ(weights.at(h, 300, 301), 0);  // masked
    }
    EXPECT_NEAR(weights.mean_row(300).sum(), 1, 1e-5);
    EXPECT_TRUE(weights.is_omitted(3));
    EXPECT_TRUE(trace.find("scores"_stage)->buffer.is_omitted(3));
}

TEST(RowPassTest, ThreadsMayAskForOmittedHeadsAtOnce) {
    const Experiment experiment = long_sentence(150, 4);
    const Trace whole = evaluate(experiment), trace = evaluate(experiment, {}, watching(0));
    const auto read_all = [&] {
        for (const char* const name : {"weights", "masked", "scores", "scaled"})
            for (int h = 0; h < 4; ++h)
                EXPECT_TRUE(same_bits(trace.find_named(name)->buffer.head(h),
                                      whole.find_named(name)->buffer.head(h)));
    };
    std::thread other(read_all);
    read_all();
    other.join();
}

TEST(RowPassTest, APassIsTheSameOnAnyNumberOfThreadsAndIsCanceled) {
    const Experiment experiment = long_sentence(600, 2);
    EvaluateOptions one = watching(0), two = watching(0);
    one.threads = 1;
    two.threads = 2;
    const Trace left = evaluate(experiment, {}, one), right = evaluate(experiment, {}, two);
    for (const StageRecord& record : left.records)
        EXPECT_TRUE(same_bits(record.stage->buffer, right.stage(record.stage->key())->buffer));
    std::stop_source cancel;
    cancel.request_stop();
    two.cancel = cancel.get_token();
    EXPECT_THROW(evaluate(experiment, {}, two), Canceled);
}

}  // namespace
}  // namespace attnscope
