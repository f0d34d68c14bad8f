#include "core/op/layer_norm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/graph/explain.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"

namespace attnscope {
namespace {

/// Rows of variance 1, 4 and 0.
Experiment normed(double epsilon) {
    Experiment e;
    e.attention.projection = Projection::none;
    e.attention.block = Block::pre_norm;
    e.attention.layer_norm_epsilon = epsilon;
    e.weights.custom.emplace("embedding", CustomMatrix(Matrix{{1, 3}, {5, 1}, {4, 4}}));
    return e;
}

TEST(LayerNormTest, EpsilonIsAddedToTheVariance) {
    const Trace trace = evaluate(normed(0.25));
    const ConstMatrixView N = trace.find("norm_1"_stage)->buffer.host().head(0);
    EXPECT_FLOAT_EQ(N(0, 0), static_cast<float>(-1 / std::sqrt(1.25)));
    EXPECT_FLOAT_EQ(N(1, 0), static_cast<float>(2 / std::sqrt(4.25)));
    EXPECT_EQ(N(2, 1), 0);
}

TEST(LayerNormTest, ItsProofDividesByTheRootWithEpsilon) {
    const Trace trace = evaluate(normed(0.25));
    const Proof proof = explain(trace, *trace.find("norm_1"_stage), 0, 1, 0);
    ASSERT_GE(proof.steps.size(), 2U);
    EXPECT_DOUBLE_EQ(proof.steps[proof.steps.size() - 2].value, 2 / std::sqrt(4.25));
}

TEST(LayerNormTest, AnEpsilonThatIsNotAboveZeroOrAboveOneIsRefused) {
    for (const double epsilon : {0.0, -1e-5, 1.5, static_cast<double>(NAN)})
        EXPECT_THROW(check(normed(epsilon)), std::exception) << epsilon;
    EXPECT_NO_THROW(check(normed(1)));
}

}  // namespace
}  // namespace attnscope
