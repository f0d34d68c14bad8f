#include <gtest/gtest.h>

#include <cmath>

#include "core/graph/explain.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"

namespace attnscope {
namespace {

/// Two tokens whose output is an input of the words' scores: log p is the log softmax of `W_out`'s columns.
Trace word_scores() {
    Experiment e;
    e.input.text = "a b";
    e.weights.custom.emplace("query", CustomMatrix(Matrix{{0, 0}, {0, 0}}));
    e.weights.custom.emplace("key", CustomMatrix(Matrix{{0, 0}, {0, 0}}));
    e.weights.custom.emplace("value", CustomMatrix(Matrix{{1, 0}, {1, 0}}));
    e.weights.custom.emplace("W_out", CustomMatrix(Matrix{{0, 5}, {1, 5}, {-90, 5}}));
    return evaluate(e);
}

TEST(ExponentialTest, AWordsProbabilityIsItsShareOfTheExponentials) {
    const Trace trace = word_scores();
    const Tensor& p = trace.find("probabilities"_stage)->buffer.host();
    const double sum = 1 + std::exp(1.0);
    EXPECT_FLOAT_EQ(p.head(0)(0, 0), static_cast<float>(1 / sum));
    EXPECT_FLOAT_EQ(p.head(0)(1, 1), static_cast<float>(std::exp(1.0) / sum));
    EXPECT_LT(p.head(0)(0, 2), 1e-38);
}

TEST(ExponentialTest, ItsProofStartsFromTheLogarithm) {
    const Trace trace = word_scores();
    const Proof proof = explain(trace, *trace.find("probabilities"_stage), 0, 0, 1);
    ASSERT_EQ(proof.steps.size(), 2U);
    EXPECT_EQ(proof.steps[0].value, trace.find("log_probs"_stage)->buffer.at(0, 0, 1));
    EXPECT_FLOAT_EQ(static_cast<float>(proof.steps[1].value),
                    static_cast<float>(std::exp(proof.steps[0].value)));
}

}  // namespace
}  // namespace attnscope
