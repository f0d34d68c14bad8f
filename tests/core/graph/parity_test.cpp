// The report on two traces that should be equal.
#include "core/graph/parity.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/graph/run_options.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"

namespace attnscope {
namespace {

/// A stage of one or more heads, row by row.
StageRecord record(const char* name, const Shape& shape, const std::vector<float>& numbers,
                   double milliseconds = 0) {
    Tensor values(shape);
    std::ranges::copy(numbers, values.values().begin());
    return {.stage = std::make_shared<const Stage>(find_stage_info(name), Buffer(std::move(values))),
            .op = {},
            .inputs = {},
            .milliseconds = milliseconds};
}

Trace trace_of(std::vector<StageRecord> records) {
    Trace trace;
    trace.records = std::move(records);
    return trace;
}

/// The difference of one stage of 1 × n numbers.
StageDifference difference(const std::vector<float>& a, const std::vector<float>& b) {
    const Shape shape{.rows = 1, .columns = static_cast<int>(a.size())};
    return compare(trace_of({record("scores", shape, a)}), trace_of({record("scores", shape, b)})).at(0);
}

/// Numbers that count as a card's, and remember the most rows that were asked for at once.
class FakeCard : public DeviceValues {
public:
    explicit FakeCard(const Shape& shape) : shape_(shape) {}
    const Shape& shape() const override { return shape_; }
    void read(int head, int first, int count, float* rows) const override {
        most_rows = std::max(most_rows, count);
        for (int i = 0; i < count; ++i)
            std::fill_n(rows + std::ptrdiff_t{i} * shape_.columns, shape_.columns,
                        static_cast<float>(head * 1000 + first + i));
    }
    Eigen::VectorXf column(int, int) const override { return {}; }
    ValueRange range(int) const override { return {}; }
    std::vector<float> row_largest(int) const override { return {}; }
    std::vector<float> column_largest(int) const override { return {}; }
    std::shared_ptr<const DeviceValues> mean() const override { return nullptr; }

    mutable int most_rows = 0;

private:
    Shape shape_;
};

TEST(ParityTest, TheLargestAbsoluteAndRelativeDifferenceAreFoundWithTheirCells) {
    const Shape shape{.heads = 2, .rows = 2, .columns = 3, .per_head = true};
    const Trace a = trace_of({record("weights", shape, {1, 2, 3, 4, 5, 6, 100, 8, 9, 0.5f, 11, 12}, 7)});
    const Trace b = trace_of({record("weights", shape, {1, 2, 3, 4, 5, 6, 102, 8, 9, 0.25f, 11, 12}, 3)});
    const std::vector<StageDifference> found = compare(a, b);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].key.stage->name, "weights");
    EXPECT_EQ(found[0].shape, shape);
    EXPECT_EQ(found[0].absolute, 2);
    EXPECT_EQ(found[0].absolute_at, (CellPlace{1, 0, 0}));
    EXPECT_EQ(found[0].relative, 0.5) << "of the larger of both";
    EXPECT_EQ(found[0].relative_at, (CellPlace{1, 1, 0}));
    EXPECT_EQ(found[0].other_kind, 0U);
    EXPECT_EQ(found[0].milliseconds_a, 7);
    EXPECT_EQ(found[0].milliseconds_b, 3);
}

TEST(ParityTest, WhatIsEqualHasNoPlace) {
    const StageDifference same =
        difference({1, -0.0f, NAN, INFINITY, -INFINITY}, {1, 0.0f, NAN, INFINITY, -INFINITY});
    EXPECT_EQ(same.absolute, 0);
    EXPECT_FALSE(same.absolute_at);
    EXPECT_EQ(same.relative, 0);
    EXPECT_FALSE(same.relative_at);
    EXPECT_EQ(same.other_kind, 0U);
    EXPECT_FALSE(same.other_kind_at);
}

TEST(ParityTest, ARelativeDifferenceBelowTheFloorIsRounding) {
    const StageDifference tiny = difference({1e-7f, 2}, {9e-7f, 2.0001f});
    EXPECT_EQ(tiny.relative_at, (CellPlace{0, 0, 1}));
    EXPECT_NEAR(tiny.relative, 5e-5, 1e-6);
    const StageDifference lost = difference({0}, {3e-6f});
    EXPECT_EQ(lost.relative, 1) << "of the larger one, though the other is nothing";
}

TEST(ParityTest, CellsOfAnotherKindAreCountedApartFromDifferences) {
    const StageDifference kinds =
        difference({1, NAN, INFINITY, -INFINITY, -INFINITY, NAN, 3}, {1, 2, -INFINITY, 5, NAN, NAN, 3.5f});
    EXPECT_EQ(kinds.other_kind, 4U);
    EXPECT_EQ(kinds.other_kind_at, (CellPlace{0, 0, 1}));
    EXPECT_EQ(kinds.absolute, 0.5);
    EXPECT_EQ(kinds.absolute_at, (CellPlace{0, 0, 6}));
}

TEST(ParityTest, StagesOfBothAreComparedInOrderAndParametersToo) {
    Experiment experiment;
    experiment.attention.heads = 2;
    const Trace a = evaluate(experiment);
    experiment.weighting.mask = {{MaskForm::causal, {}}};
    const Trace b = evaluate(experiment);
    const std::vector<StageDifference> found = compare(a, b);
    ASSERT_EQ(found.size(), a.records.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].key.stage, a.records[i].stage->info);
        const bool masks = found[i].key.stage->name == "masked";
        EXPECT_EQ(found[i].other_kind > 0, masks) << found[i].key.stage->name;
    }
}

TEST(ParityTest, ACardsValuesAreReadInBlocksAndNotKept) {
    const Shape shape{.heads = 2, .rows = 3000, .columns = 1000, .per_head = true};
    const auto left = std::make_shared<FakeCard>(shape), right = std::make_shared<FakeCard>(shape);
    const auto on_card = [&](const std::shared_ptr<FakeCard>& card) {
        return trace_of(
            {{.stage = std::make_shared<const Stage>(find_stage_info("scores"), Buffer(card)), .op = {}}});
    };
    const StageDifference found = compare(on_card(left), on_card(right)).at(0);
    EXPECT_EQ(found.absolute, 0);
    EXPECT_GT(left->most_rows, 1);
    EXPECT_LE(left->most_rows, 1100);
    EXPECT_LE(right->most_rows, 1100);
    Tensor truth(shape);
    for (int h = 0; h < 2; ++h)
        for (int i = 0; i < shape.rows; ++i)
            truth.head(h).row(i).setConstant(static_cast<float>(h * 1000 + i));
    truth.head(1)(2999, 7) += 1;
    Trace here;
    here.records.push_back(
        {.stage = std::make_shared<const Stage>(find_stage_info("scores"), Buffer(std::move(truth))),
         .op = {}});
    EXPECT_EQ(compare(here, on_card(right)).at(0).absolute_at, (CellPlace{1, 2999, 7}));
}

TEST(ParityTest, OtherShapesAreAnAnswerAndOtherStagesAreStillCompared) {
    using enum StageDifference::State;
    const auto of_tokens = [](int count, float first) {
        const Shape square{.rows = count, .columns = count};
        std::vector<float> numbers(square.size(), first);
        return trace_of(
            {record("scores", square, numbers), record("W_q", {.rows = 1, .columns = 1}, {first})});
    };
    const std::vector<StageDifference> found = compare(of_tokens(8, 1), of_tokens(9, 3));
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].state, shapes_differ);
    EXPECT_EQ(why_not_compared(found[0]), "shapes differ: 8 × 8 and 9 × 9");
    EXPECT_EQ(found[0].absolute, 0);
    EXPECT_FALSE(found[0].absolute_at);
    EXPECT_EQ(found[1].state, compared);
    EXPECT_EQ(why_not_compared(found[1]), "");
    EXPECT_EQ(found[1].absolute, 2);

    StageDifference heads = found[0];
    heads.shape_b = {.heads = 2, .rows = 8, .columns = 8, .per_head = true};
    EXPECT_EQ(why_not_compared(heads), "shapes differ: 8 × 8 and 2 × 8 × 8");
}

TEST(ParityTest, StagesThatOneTraceLacksAreAnAnswer) {
    using enum StageDifference::State;
    const Shape shape{.rows = 1, .columns = 2};
    const Trace a = trace_of({record("scores", shape, {1, 2}), record("weights", shape, {1, 2})});
    const Trace b = trace_of({record("scaled", shape, {1, 2}), record("weights", shape, {1, 2})});
    const std::vector<StageDifference> found = compare(a, b);
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].key, StageKey("scores"_stage));
    EXPECT_EQ(found[0].state, only_in_a);
    EXPECT_EQ(found[0].shape, shape);
    EXPECT_EQ(why_not_compared(found[0]), "only in the first");
    EXPECT_EQ(found[1].state, compared);
    EXPECT_EQ(found[2].key, StageKey("scaled"_stage));
    EXPECT_EQ(found[2].state, only_in_b);
    EXPECT_EQ(why_not_compared(found[2]), "only in the second");
}

TEST(ParityTest, StagesOfDifferentLayersAreDifferentStages) {
    const Shape shape{.rows = 1, .columns = 1};
    const auto in_layer = [&](int layer, float value) {
        Tensor values(shape);
        values.head(0)(0, 0) = value;
        return StageRecord{.stage = StagePtr(new Stage({"scores"_stage, layer}, Buffer(std::move(values)))),
                           .op = {}};
    };
    const std::vector<StageDifference> found =
        compare(trace_of({in_layer(1, 5), in_layer(2, 6)}), trace_of({in_layer(2, 6), in_layer(1, 8)}));
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].absolute, 3);
    EXPECT_EQ(found[1].absolute, 0);
}

TEST(ParityTest, AComparisonCanBeCanceled) {
    const Trace a = trace_of({record("scores", {.rows = 1, .columns = 2}, {1, 2})});
    std::stop_source stop;
    stop.request_stop();
    const Trace other = trace_of({record("scores", {.rows = 1, .columns = 2}, {1, 2})});
    EXPECT_THROW(compare(a, other, stop.get_token()), Canceled);
}

}  // namespace
}  // namespace attnscope
