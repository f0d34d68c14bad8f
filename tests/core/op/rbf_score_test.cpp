#include "core/op/rbf_score.h"

#include <gtest/gtest.h>

#include "core/graph/explain.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"

namespace attnscope {
namespace {

Experiment kernel(double bandwidth) {
    Experiment e;
    e.attention.score = Score::rbf;
    e.attention.bandwidth = bandwidth;
    e.attention.scale = {Scale::Kind::none};
    e.weights.custom.emplace("query", CustomMatrix(Matrix{{1, 2}, {0, 0}}));
    e.weights.custom.emplace("key", CustomMatrix(Matrix{{3, 1}, {0, 0}}));
    e.weights.custom.emplace("value", CustomMatrix(Matrix{{1, 0}, {0, 1}}));
    return e;
}

TEST(RbfScoreTest, IsTheNegativeSquaredDistanceOverTwoVariances) {
    const Trace trace = evaluate(kernel(2));
    EXPECT_EQ(Matrix(trace.find("scores"_stage)->buffer.host().head(0)),
              (Matrix{{-5.0f / 8, -5.0f / 8}, {-10.0f / 8, 0}}));
}

TEST(RbfScoreTest, ItsProofAddsUpTheSquares) {
    const Trace trace = evaluate(kernel(2));
    const Proof proof = explain(trace, *trace.find("scores"_stage), 0, 0, 0);
    ASSERT_EQ(proof.terms.size(), 2U);
    EXPECT_EQ(proof.terms[0].product(), 4);
    EXPECT_EQ(proof.terms[1].product(), 1);
    EXPECT_EQ(proof.steps.back().value, -5.0 / 8);
}

TEST(RbfScoreTest, ABandwidthWithoutASquareIsRefused) {
    for (const double bandwidth : {0.0, -1.0, 1e-30, 1e30, static_cast<double>(NAN)})
        EXPECT_THROW(check(kernel(bandwidth)), std::exception) << bandwidth;
}

}  // namespace
}  // namespace attnscope
