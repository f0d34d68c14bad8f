#include "core/op/mask.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/graph/explain.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "tests/special_numbers.h"

namespace attnscope {
namespace {

using namespace test;

op::Mask everything() {
    Matrix custom = Matrix::Ones(3, 4), bias = Matrix::Zero(3, 4);
    custom(0, 3) = 0;
    bias(0, 3) = -k_infinity;
    return {.queries = 3,
            .keys = 4,
            .rules = {{MaskForm::causal, {}}, {MaskForm::valid, {2}}},
            .window = 1,
            .custom = std::make_shared<const Matrix>(custom),
            .bias = std::make_shared<const Matrix>(bias)};
}

TEST(MaskTest, AKeyIsWithinTheWindowUpToItsEndAndNeverNearNan) {
    EXPECT_TRUE(op::is_within(2, 4, 2));
    EXPECT_TRUE(op::is_within(2, 0, 2));
    EXPECT_FALSE(op::is_within(1.5, 4, 2));
    EXPECT_FALSE(op::is_within(NAN, 0, 2));
}

TEST(MaskTest, EverythingThatClosesAPairIsNamed) {
    using Names = std::vector<std::string>;
    EXPECT_EQ(everything().closing(0, 3, 0.5),
              (Names{"causal", "padding", "custom mask", "custom bias of −∞", "local window, D = 1"}));
    EXPECT_EQ(everything().closing(0, 1, 0.5), Names{"causal"});
    EXPECT_EQ(everything().closing(2, 0), Names{}) << "without a center there is no window";
    EXPECT_EQ(everything().closing(2, 0, NAN), Names{"local window, D = 1"});
}

TEST(MaskTest, WithoutTheWindowItIsOpenWhereNothingElseCloses) {
    EXPECT_EQ(everything().without_window(), (Matrix{{1, 0, 0, 0}, {1, 1, 0, 0}, {1, 1, 0, 0}}));
}

TEST(MaskTest, ARowIsThatOfTheMaskWithinItsWindow) {
    EXPECT_EQ(everything().row(1, {}), everything().without_window().row(1));
    EXPECT_EQ(everything().row(1, 1.5), (Matrix{{0, 1, 0, 0}}));
    EXPECT_EQ(everything().row(1, NAN).sum(), 0);
}

TEST(MaskTest, ADecodersClosedWordsAreExplainedAsAnAttentionsKeys) {
    Experiment e;
    e.input.text = "a b c d";
    e.input.text2 = "x y z";
    e.weighting.normalizer = Normalization::local_m;
    e.weighting.local_window = 1;
    e.weighting.mask = {{MaskForm::valid, {2}}};
    for (const auto& [mechanism, mask, masked] :
         {std::tuple{MechanismKind::attention, "mask"_stage, "masked"_stage},
          std::tuple{MechanismKind::seq2seq, "alignment_mask"_stage, "alignment_masked"_stage}}) {
        e.mechanism = mechanism;
        const Trace trace = evaluate(e);
        const auto remark = [&](StageKey stage, int i, int j) {
            return explain(trace, *trace.find(stage), 0, i, j).remark;
        };
        for (const StageKey stage : {mask, masked})
            EXPECT_EQ(remark(stage, 0, 2), "closed by the mask: padding + local window, D = 1");
        EXPECT_EQ(remark(mask, 0, 0), "open: this query may attend to this key");
        EXPECT_EQ(remark(masked, 0, 0), "");
    }
}

}  // namespace
}  // namespace attnscope
