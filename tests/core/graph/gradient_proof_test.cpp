// The proof of every cell of every gradient, compared with the gradients of the trace.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/graph/explain.h"
#include "core/graph/stage_table.h"
#include "core/op/gradient_proof.h"
#include "core/op/op.h"
#include "tests/core/graph/explain_cases.h"
#include "tests/random_attention.h"
#include "tests/random_seq2seq.h"
#include "tests/random_transformer.h"
#include "tests/sanitized.h"
#include "tests/with_loss.h"

namespace attnscope {
namespace {

using test::Dice, test::with_gradients, test::with_loss;

double largest(const Stage& stage) {
    double magnitude = 0;
    for (const float value : stage.buffer.host().values())
        magnitude = std::max(magnitude, std::isnan(value) ? 0 : std::abs(double{value}));
    return magnitude;
}

/// The sum of the magnitudes of all that a proof adds up.
double magnitude_of(const Proof& proof) {
    double magnitude = 0;
    for (const ProofTerm& term : proof.terms) magnitude += std::abs(term.product());
    for (const ProofStep& step : proof.steps) magnitude += std::abs(step.value);
    return magnitude;
}

/// The shares of a cell add up to it, to the roundings of a float32 sum of all terms (Higham 2002, §3.1), and
/// of the values that a gradient's own formula rounds to float32 first: 64 of them, one after the other in a
/// decoder.
void expect_shares(const Trace& trace, const Stage& gradient, int head, int row, int column) {
    const double value = gradient.buffer.at(head, row, column);
    const auto shares = gradient_shares(trace, gradient, head, row, column);
    double sum = 0, magnitude = std::abs(value);
    std::size_t count = 1;
    for (const GradientShare& share : shares) {
        const Proof& proof = share.proof;
        EXPECT_EQ(proof.terms.empty(), proof.terms_title.empty());
        const bool explained = !proof.terms.empty() || !proof.steps.empty() || !proof.remark.empty();
        EXPECT_TRUE(explained) << share.from->name();
        for (const ProofStep& step : proof.steps) EXPECT_FALSE(step.label.empty());
        sum += proof.value;
        magnitude += magnitude_of(proof);
        count += proof.terms.size() + proof.steps.size() + 1;
    }
    if (gradient.key().stage == "loss"_stage && shares.empty()) sum = 1;
    if (std::isnan(value) || std::isnan(sum) || std::isinf(sum)) return;
    EXPECT_NEAR(sum, value,
                static_cast<double>(count) * 0x1p-23 * magnitude + 64 * 0x1p-24 * largest(gradient));
}

/// The proof on screen ends in the cell.
void expect_proof(const Trace& trace, const Stage& gradient, int head, int row, int column) {
    const Proof proof = explain(trace, gradient, head, row, column);
    const float value =
        head < 0 ? gradient.buffer.mean_row(row)(column) : gradient.buffer.at(head, row, column);
    if (std::isnan(value)) return;
    EXPECT_EQ(proof.value, value);
    EXPECT_EQ(std::ssize(proof.row), gradient.shape().columns);
    EXPECT_FALSE(proof.summary.has_value());
    if (!proof.steps.empty()) {
        EXPECT_EQ(proof.steps.back().value, value);
    } else if (!proof.terms.empty()) {
        EXPECT_EQ(proof.terms_result, value);
    } else {
        EXPECT_FALSE(proof.remark.empty());
    }
}

/// Some cells of every gradient, in every head and in the mean.
void check_some(const Trace& trace, Dice& dice, int cells) {
    for (const StagePtr& gradient : trace.gradients) {
        const Shape& shape = gradient->shape();
        for (int k = 0; k < cells; ++k) {
            const int head = dice.below(shape.heads), row = dice.below(shape.rows),
                      column = dice.below(shape.columns);
            SCOPED_TRACE(std::string(gradient->name()) + " head " + std::to_string(head) + " cell " +
                         std::to_string(row) + "," + std::to_string(column));
            expect_shares(trace, *gradient, head, row, column);
            expect_proof(trace, *gradient, head, row, column);
            if (shape.heads > 1) expect_proof(trace, *gradient, -1, row, column);
            if (testing::Test::HasFailure()) return;
        }
    }
}

class GradientProofTest : public testing::TestWithParam<test::Case> {};

TEST_P(GradientProofTest, EveryGradientIsTheSumOfWhatItsReadersPassBack) {
    Dice dice(5);
    const Trace trace = with_gradients(with_loss(GetParam().experiment));
    EXPECT_FALSE(trace.gradients.empty());
    check_some(trace, dice, 60);
}

INSTANTIATE_TEST_SUITE_P(experiments, GradientProofTest, testing::ValuesIn(test::cases()),
                         [](const auto& each) { return each.param.name; });

template <std::size_t... index>
std::set<std::size_t> with_gradient(std::index_sequence<index...>) {
    std::set<std::size_t> found;
    const auto add = [&]<std::size_t i>(std::integral_constant<std::size_t, i>) {
        if constexpr (!requires { std::variant_alternative_t<i, op::Any>::k_no_gradient; }) found.insert(i);
    };
    (add(std::integral_constant<std::size_t, index>{}), ...);
    return found;
}

TEST(GradientProofsTest, OfEveryOperationAddUpInRandomExperiments) {
    Dice dice(7);
    const std::set<std::size_t> wanted =
        with_gradient(std::make_index_sequence<std::variant_size_v<op::Any>>());
    // Of the probabilities, which no loss reads: the test below.
    std::set<std::size_t> proved = {Op(op::Exponential{}).index()};
    // Until each operation occurred, most of them many times; under a sanitizer a few are enough.
    const auto goes_on = [&](int trial) {
        if (test::k_sanitized) return trial < 20;
        return trial < 150 || (trial < 1000 && !std::ranges::includes(proved, wanted));
    };
    for (int trial = 0; goes_on(trial); ++trial) {
        Trace trace;
        try {
            trace = with_gradients(with_loss(trial % 3 == 0   ? test::random_seq2seq(dice)
                                             : trial % 3 == 1 ? test::random_transformer(dice)
                                                              : test::random_attention(dice)));
        } catch (const Error&) {
            continue;  // its settings exclude each other
        }
        for (const StageRecord& record : trace.records)
            if (trace.find({record.stage->info, record.stage->layer, StageKey::Part::gradient}))
                proved.insert(record.op->index());
        SCOPED_TRACE(trial);
        check_some(trace, dice, 6);
        if (HasFailure()) return;
    }
    for (const std::size_t op : wanted) EXPECT_TRUE(test::k_sanitized || proved.contains(op)) << op;
}

TEST(GradientProofsTest, AnExponentialPassesBackItsValueTimesItsGradient) {
    Tensor x(op::matrix(1, 2)), y(op::matrix(1, 2)), dY(op::matrix(1, 2));
    x.head(0) << 0.5f, -1;
    y.head(0) << std::exp(0.5f), std::exp(-1.0f);
    dY.head(0) << 2, 3;
    const Buffer in(std::move(x)), out(std::move(y)), gradient(std::move(dY));
    const Buffer *const inputs[] = {&in}, *const results[] = {&out}, *const gradients[] = {&gradient};
    op::GradientWords words;
    words.gradient = [](std::size_t) { return "∂ℓ/∂Y"; };
    const Proof proof = explain_gradient(op::Exponential{}, {.inputs = inputs,
                                                             .results = results,
                                                             .gradients = gradients,
                                                             .row = 0,
                                                             .column = 1,
                                                             .words = words});
    EXPECT_FLOAT_EQ(proof.value, 3 * std::exp(-1.0f));
    EXPECT_EQ(proof.steps.front().label, "∂ℓ/∂Y");
}

Trace block_with_loss() {
    Experiment e;
    e.attention.block = Block::post_norm;
    e.attention.projection = Projection::mha;
    e.attention.heads = 2;
    e.attention.output_projection = true;
    e.input.dim = 4;
    return with_gradients(with_loss(e));
}

TEST(GradientWordsTest, AStageThatIsReadSeveralTimesHasTheSumOfItsReaders) {
    const Trace trace = block_with_loss();
    const Stage& gradient = *trace.find_named("grad.embedding");
    const Proof proof = explain(trace, gradient, 0, 1, 2);
    std::vector<std::string> labels;
    for (const ProofStep& step : proof.steps) labels.push_back(step.label);
    EXPECT_EQ(labels, (std::vector<std::string>{"from query", "+ from key", "+ from value",
                                                "+ from residual 1", "their sum"}));
    double sum = 0;
    for (std::size_t i = 0; i + 1 < proof.steps.size(); ++i) sum += proof.steps[i].value;
    EXPECT_NEAR(sum, proof.value, 1e-5);
}

TEST(GradientWordsTest, TheGradientOfTheValuesIsTheWeightsTimesThatOfTheContext) {
    const Trace trace = block_with_loss();
    const Proof proof = explain(trace, *trace.find_named("grad.value_heads"), 1, 3, 0);
    EXPECT_EQ(proof.terms_title.text(), "weight × ∂ℓ/∂C, query by query");
    const Stage &weights = *trace.find("weights"_stage), &dC = *trace.find_named("grad.context");
    ASSERT_EQ(std::ssize(proof.terms), weights.shape().rows);
    for (int i = 0; i < weights.shape().rows; ++i) {
        const ProofTerm& term = proof.terms[static_cast<std::size_t>(i)];
        EXPECT_EQ(term.left, weights.buffer.at(1, i, 3));
        EXPECT_EQ(term.right, dC.buffer.at(1, i, 0));
        EXPECT_EQ(term.label, trace.rows[static_cast<std::size_t>(i)]);
    }
}

TEST(GradientWordsTest, TheSoftmaxPassesBackItsWeightTimesTheDifferenceFromTheRowsMean) {
    const Trace trace = block_with_loss();
    const Proof proof = explain(trace, *trace.find_named("grad.masked"), 0, 1, 4);
    EXPECT_EQ(proof.terms_title.text(), "A · ∂ℓ/∂A, key by key");
    ASSERT_EQ(proof.steps.size(), 3U);
    EXPECT_EQ(proof.steps[0].label, "∂ℓ/∂A");
    EXPECT_TRUE(proof.steps[1].label.starts_with("− row sum ")) << proof.steps[1].label;
    EXPECT_NEAR(proof.steps[1].value, proof.steps[0].value - proof.terms_sum, 1e-9);
}

TEST(GradientWordsTest, TheLosssOwnGradientIsOne) {
    const Trace trace = block_with_loss();
    const Proof proof = explain(trace, *trace.find_named("grad.loss"), 0, 0, 0);
    EXPECT_EQ(proof.value, 1);
    EXPECT_EQ(proof.remark, "the gradient of the loss with respect to itself is 1");
}

TEST(GradientStageTest, IsAStageWithANameAnUnitAndAHeadingOfItsOwn) {
    const Trace trace = block_with_loss();
    const Stage& gradient = *trace.find_named("grad.weights");
    EXPECT_EQ(gradient.name(), "grad.weights");
    EXPECT_EQ(stage_heading(gradient.key()), "∂ℓ/∂weights");
    EXPECT_EQ(gradient.info->unit, Unit::real);
    EXPECT_EQ(gradient.info->symbol, "∂ℓ/∂A");
    EXPECT_EQ(gradient.key(), (StageKey{"weights"_stage, 0, StageKey::Part::gradient}));
    EXPECT_EQ(trace.find(gradient.key()), &gradient);
    EXPECT_EQ(trace.record(gradient.key()), nullptr);
    EXPECT_EQ(find_stage_info("2.grad.weights"), gradient.info);
    EXPECT_TRUE(is_parameter(*find_stage_info("grad.W_q")));
    EXPECT_EQ(find_stage_info("grad.tokens"), nullptr);
    EXPECT_EQ(find_stage_info("grad.mask"), nullptr);
    const StageKey key{"weights"_stage, 2, StageKey::Part::gradient};
    EXPECT_EQ(find_stage_key("2.grad.weights"), key);
    EXPECT_EQ(stage_name(key), "2.grad.weights");
    EXPECT_EQ(stage_name(key.as(StageKey::Part::value)), "2.weights");
    EXPECT_EQ(find_stage_key("2.grad.mask"), std::nullopt);
}

}  // namespace
}  // namespace attnscope
