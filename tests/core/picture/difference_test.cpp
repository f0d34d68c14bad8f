// B − A, where one has what the other has.
#include "core/picture/difference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/canceled.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "core/picture/shown_matrix.h"

namespace attnscope {
namespace {

ComparedSide side(const Experiment& e, HeadChoice head = {}, int layer = 1) {
    return {std::make_shared<const Trace>(evaluate(e)), head, layer};
}

Experiment with_text(const char* text) {
    Experiment e;
    e.input.text = text;
    e.input.vocabulary = VocabularyOrder::stable;  // a word keeps its vector
    return e;
}

const StageComparison& facts(const std::vector<StageComparison>& stages, StageKey key) {
    for (const StageComparison& each : stages)
        if (each.key.stage == key.stage) return each;
    ADD_FAILURE() << stage_name(key) << " is not compared";
    return stages.front();
}

TEST(DifferenceTest, IsZeroEverywhereBetweenATraceAndItself) {
    const ComparedSide one = side(Experiment{});
    for (const StageComparison& stage : compare_stages(one, one)) {
        EXPECT_FALSE(stage.differs()) << stage_name(stage.key);
        EXPECT_EQ(stage.state, StageComparison::State::compared);
        EXPECT_TRUE(stage.complete);
        EXPECT_GT(stage.cells, 0u);
    }
}

TEST(DifferenceTest, IsBMinusAOfEachCellAndItsFactsAreOfTheLargest) {
    Experiment other;
    other.weighting.temperature = 3;
    const ComparedSide a = side(Experiment{}), b = side(other);
    const Difference found = *difference(a, b, "weights"_stage);
    const Matrix of_a = a.find("weights"_stage)->buffer.rows(0, 0, 8),
                 of_b = b.find("weights"_stage)->buffer.rows(0, 0, 8);
    double largest = 0, largest_a = 0;
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) {
            EXPECT_EQ(found.values->at(0, i, j), of_b(i, j) - of_a(i, j));
            EXPECT_EQ(found.open->at(0, i, j), 1);
            largest = std::max(largest, std::abs(double(of_b(i, j)) - of_a(i, j)));
            largest_a = std::max<double>(largest_a, std::abs(of_a(i, j)));
        }
    EXPECT_EQ(found.facts.largest, largest);
    EXPECT_EQ(found.facts.relative, largest / largest_a);
    ASSERT_TRUE(found.facts.at);
    EXPECT_EQ(std::abs(double(of_b(found.facts.at->row, found.facts.at->column)) -
                       of_a(found.facts.at->row, found.facts.at->column)),
              largest);
    EXPECT_EQ(found.facts.cells, 64u);
    const auto stages = compare_stages(a, b);
    EXPECT_FALSE(facts(stages, "scores"_stage).differs()) << "temperature comes later";
    EXPECT_TRUE(facts(stages, "context"_stage).differs());
}

/// The standard deviation of numbers, in two passes.
double deviation(const std::vector<double>& numbers) {
    double mean = 0, squares = 0;
    for (const double x : numbers) mean += x / static_cast<double>(numbers.size());
    for (const double x : numbers) squares += (x - mean) * (x - mean);
    return std::sqrt(squares / static_cast<double>(numbers.size()));
}

TEST(DifferenceTest, TheSpreadIsThatOfAllPairsAndOfAllTheirProducts) {
    Experiment e, unscaled;
    e.input.dim = unscaled.input.dim = 12;
    e.attention.heads = unscaled.attention.heads = 3;
    unscaled.attention.scale.kind = Scale::Kind::none;
    const HeadChoice second{HeadChoice::Kind::one, 1};
    const ComparedSide a = side(e, second), b = side(unscaled, second);
    const auto stages = compare_stages(a, b);
    const auto numbers = [](const ComparedSide& of, StageKey key) {
        std::vector<double> all;
        const Matrix values = of.find(key)->buffer.rows(1, 0, 8);
        for (int i = 0; i < 8; ++i)
            for (int j = 0; j < 8; ++j) all.push_back(values(i, j));
        return all;
    };
    std::vector<double> products;
    const std::vector<StagePtr>& operands = a.trace->record("scores"_stage)->inputs;
    ASSERT_EQ(operands[0]->shape().heads, 3);
    ASSERT_EQ(operands[0]->shape().columns, 4);
    const Matrix q = operands[0]->buffer.rows(1, 0, 8), k = operands[1]->buffer.rows(1, 0, 8);
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j)
            for (int f = 0; f < 4; ++f) products.push_back(double{q(i, f)} * k(j, f));
    // Sums in double: of 256 numbers of some units.
    constexpr double k_rounding = 1e-9;
    const StageComparison &scores = facts(stages, "scores"_stage), &scaled = facts(stages, "scaled"_stage);
    EXPECT_NEAR(scores.deviation_a.of_cells, deviation(numbers(a, "scores"_stage)), k_rounding);
    EXPECT_NEAR(scaled.deviation_a.of_cells, deviation(numbers(a, "scaled"_stage)), k_rounding);
    EXPECT_NEAR(scaled.deviation_b.of_cells, deviation(numbers(b, "scaled"_stage)), k_rounding);
    ASSERT_TRUE(scores.deviation_a.of_terms && scores.deviation_b.of_terms);
    EXPECT_NEAR(*scores.deviation_a.of_terms, deviation(products), k_rounding);
    EXPECT_EQ(scores.deviation_b.of_terms, scores.deviation_a.of_terms);
    EXPECT_FALSE(scaled.deviation_a.of_terms) << "no sum of products";
    EXPECT_EQ(facts(stages, "weights"_stage).deviation_a.of_cells, 0) << "they are no scores";
    Experiment longer = e;
    longer.input.vocabulary = VocabularyOrder::stable;
    longer.input.text += " again";
    Experiment stable = e;
    stable.input.vocabulary = VocabularyOrder::stable;
    const StageComparison part =
        difference(side(stable, second), side(longer, second), "scores"_stage)->facts;
    EXPECT_FALSE(part.complete);
    EXPECT_GT(part.deviation_b.of_cells, 0);
    EXPECT_FALSE(part.deviation_b.of_terms) << "not all of its pairs are compared";
    const HeadChoice mean{HeadChoice::Kind::mean};
    EXPECT_FALSE(difference(side(e, mean), side(e, mean), "scores"_stage)->facts.deviation_a.of_terms);
}

TEST(DifferenceTest, TokensAreMatchedInOrderAndTheRestIsLeftOut) {
    const ComparedSide a = side(with_text("the cat sat on the mat")),
                       b = side(with_text("the black cat sat on a mat"));
    const Stage &of_a = *a.find("weights"_stage), &of_b = *b.find("weights"_stage);
    const Counterparts same = counterparts(*a.trace, of_a, *b.trace, of_b);
    EXPECT_EQ(same.rows, (std::vector{0, -1, 1, 2, 3, -1, 5}));
    EXPECT_EQ(same.columns, same.rows);
    EXPECT_FALSE(same.complete);
    const Difference found = *difference(a, b, "weights"_stage);
    EXPECT_EQ(found.facts.cells, 25u);
    EXPECT_FALSE(found.facts.complete);
    for (int i = 0; i < 7; ++i)
        for (int j = 0; j < 7; ++j) {
            const int row = same.rows[std::size_t(i)], column = same.columns[std::size_t(j)];
            const bool both = row >= 0 && column >= 0;
            EXPECT_EQ(found.open->at(0, i, j), both ? 1 : 0);
            EXPECT_EQ(found.values->at(0, i, j),
                      both ? of_b.buffer.at(0, i, j) - of_a.buffer.at(0, row, column) : 0);
        }
    // A word has the same vector in both: what differs are the weights.
    const auto stages = compare_stages(a, b);
    EXPECT_EQ(facts(stages, "embedding"_stage).largest, 0);
    EXPECT_EQ(facts(stages, "embedding"_stage).cells, 5u * 16u);
}

TEST(DifferenceTest, TheCommonOrderIsTheLongest) {
    const ComparedSide a = side(with_text("a b c d a b")), b = side(with_text("b c a d b a"));
    const Counterparts same =
        counterparts(*a.trace, *a.find("weights"_stage), *b.trace, *b.find("weights"_stage));
    int matched = 0, before = -1;
    for (std::size_t i = 0; i < same.rows.size(); ++i) {
        if (same.rows[i] < 0) continue;
        ++matched;
        EXPECT_GT(same.rows[i], before) << "in order";
        before = same.rows[i];
        EXPECT_EQ(a.trace->rows[std::size_t(before)], b.trace->rows[i]);
    }
    EXPECT_EQ(matched, 4) << "b c d b, or b c a b";
}

TEST(DifferenceTest, FeaturesAreMatchedByNumber) {
    Experiment wide;
    wide.input.dim = 20;
    const ComparedSide a = side(Experiment{}), b = side(wide);
    const Difference found = *difference(a, b, "query"_stage);
    EXPECT_EQ(found.columns.size(), 20u);
    EXPECT_EQ(found.columns[15], 15);
    EXPECT_EQ(found.columns[16], -1);
    EXPECT_EQ(found.facts.cells, 8u * 16u);
}

TEST(DifferenceTest, HiddenUnitsBelongToTheirKeys) {
    Experiment e = with_text("one two three"), f = with_text("two three");
    for (Experiment* each : {&e, &f}) each->attention.score = Score::additive;
    f.weighting.hidden = 5;
    const ComparedSide a = side(e), b = side(f);
    const Difference found = *difference(a, b, "score_hidden"_stage);
    EXPECT_EQ(found.rows, (std::vector{1, 2}));
    EXPECT_EQ(found.columns, (std::vector{8, 9, 10, 11, 12, 16, 17, 18, 19, 20}));
}

TEST(DifferenceTest, WhatBothMasksCloseIsLeftOutAndWhatOneClosesIsNot) {
    Experiment causal;
    causal.weighting.mask = {{MaskForm::causal, {}}};
    Experiment hotter = causal;
    hotter.weighting.temperature = 2;
    const Difference both = *difference(side(causal), side(hotter), "weights"_stage);
    EXPECT_EQ(both.facts.cells, 36u);
    EXPECT_EQ(both.open->at(0, 0, 7), 0);
    const ComparedSide open = side(Experiment{}), closed = side(causal);
    const Difference one = *difference(open, closed, "weights"_stage);
    EXPECT_EQ(one.facts.cells, 64u);
    EXPECT_EQ(one.values->at(0, 0, 7), -open.find("weights"_stage)->buffer.at(0, 0, 7));
    const Difference scores = *difference(open, closed, "masked"_stage);
    EXPECT_EQ(scores.facts.other_kind, 28u) << "−∞ in one of them";
    EXPECT_EQ(scores.values->at(0, 0, 7), -std::numeric_limits<float>::infinity());
    EXPECT_EQ(scores.facts.largest, 0);
    EXPECT_TRUE(scores.facts.differs());
}

TEST(DifferenceTest, TwoHeadsTwoLayersAndTheMeanOfOneTraceAreCompared) {
    Experiment e;
    e.mechanism = MechanismKind::transformer;
    e.attention.heads = 2;
    const auto trace = std::make_shared<const Trace>(evaluate(e));
    const auto weights = [&](int layer, int head) {
        const Stage& stage = *trace->find(StageKey{"weights"_stage, layer});
        return shown_matrix(stage, {HeadChoice::Kind::one, head}).values();
    };
    const ComparedSide first{trace, {HeadChoice::Kind::one, 0}, 1};
    const auto check = [&](const ComparedSide& other, const Matrix& expected) {
        const Difference found = *difference(first, other, "weights"_stage);
        const Matrix mine = weights(1, 0);
        for (int i = 0; i < mine.rows(); ++i)
            for (int j = 0; j <= i; ++j) EXPECT_EQ(found.values->at(0, i, j), expected(i, j) - mine(i, j));
    };
    check({trace, {HeadChoice::Kind::one, 1}, 1}, weights(1, 1));
    check({trace, {HeadChoice::Kind::one, 0}, 2}, weights(2, 0));
    const Stage& stage = *trace->find(StageKey{"weights"_stage, 1});
    check({trace, {HeadChoice::Kind::mean}, 1}, stage.buffer.mean().rows(0, 0, 8));
    const auto stages = compare_stages(first, {trace, {HeadChoice::Kind::mean}, 1});
    EXPECT_EQ(facts(stages, "context"_stage).state, StageComparison::State::not_shown);
    EXPECT_NE(why_not_compared(facts(stages, "context"_stage)), "");
    EXPECT_FALSE(facts(stages, "embedding"_stage).differs()) << "it is outside the layers";
}

TEST(DifferenceTest, AStageThatOneLacksIsSaidToBeTheOthers) {
    Experiment with_positions;
    with_positions.attention.position = Position::sinusoidal;
    const ComparedSide a = side(Experiment{}), b = side(with_positions);
    EXPECT_EQ(facts(compare_stages(a, b), "positioned"_stage).state, StageComparison::State::only_in_b);
    EXPECT_EQ(facts(compare_stages(b, a), "positioned"_stage).state, StageComparison::State::only_in_a);
    EXPECT_EQ(difference(a, b, "positioned"_stage), std::nullopt);
}

TEST(DifferenceTest, IsCanceled) {
    std::stop_source cancel;
    cancel.request_stop();
    const ComparedSide one = side(Experiment{});
    EXPECT_THROW(compare_stages(one, one, cancel.get_token()), Canceled);
    const ComparedSide a = side(with_text("a b c d")), b = side(with_text("d c b a"));
    const Stage &of_a = *a.find("weights"_stage), &of_b = *b.find("weights"_stage);
    EXPECT_THROW(counterparts(*a.trace, of_a, *b.trace, of_b, cancel.get_token()), Canceled)
        << "while words are matched";
}

}  // namespace
}  // namespace attnscope
