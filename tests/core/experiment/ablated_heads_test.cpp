// Which heads are ablated, as text and in a stack.
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/experiment/experiment.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"

namespace attnscope {
namespace {

TEST(AblatedHeadsTest, AreReadInOrderAndOnce) {
    EXPECT_EQ(parse_heads("2.1, 1.2,2.1"), (std::vector<HeadPlace>{{1, 2}, {2, 1}}));
    EXPECT_EQ(heads_text(parse_heads("2.1, 1.2")), "1.2, 2.1");
    EXPECT_TRUE(parse_heads("").empty());
    for (const char* text :
         {"2", "2.", ".1", "0.1", "1.0", "a.b", "1.1;2.1", "1.1.1", "99999999999.1", "1.1,,2.1"})
        EXPECT_THROW(parse_heads(text), Error) << text;
}

Experiment stack() {
    Experiment e;
    e.mechanism = MechanismKind::transformer;
    e.input.text = "to be or not to be";
    e.input.dim = 8;
    e.attention.heads = 2;
    return e;
}

TEST(AblatedHeadsTest, HaveAContextOfZeroOrItsMean) {
    Experiment e = stack();
    e.transformer.ablated = {{2, 1}};
    const Trace zero = evaluate(e);
    e.transformer.ablation = Ablation::mean;
    const Trace mean = evaluate(e);
    EXPECT_EQ(zero.find({"ablated"_stage, 1}), nullptr);
    const Stage &context = *zero.find({"context"_stage, 2}), &of_zero = *zero.find({"ablated"_stage, 2}),
                &of_mean = *mean.find({"ablated"_stage, 2});
    const int N = context.shape().rows;
    for (int j = 0; j < context.shape().columns; ++j) {
        double sum = 0;
        for (int i = 0; i < N; ++i) sum += context.buffer.at(0, i, j);
        for (int i = 0; i < N; ++i) {
            EXPECT_EQ(of_zero.buffer.at(0, i, j), 0);
            EXPECT_NEAR(of_mean.buffer.at(0, i, j), sum / N, 1e-6);
            EXPECT_EQ(of_zero.buffer.at(1, i, j), context.buffer.at(1, i, j));
            EXPECT_EQ(of_mean.buffer.at(1, i, j), context.buffer.at(1, i, j));
        }
    }
}

TEST(AblatedHeadsTest, OneThatIsNotThereIsRefused) {
    for (const HeadPlace place : {HeadPlace{3, 1}, HeadPlace{1, 3}}) {
        Experiment e = stack();
        e.transformer.ablated = {place};
        try {
            check(e);
            ADD_FAILURE() << place.layer << "." << place.head;
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find("1 to 2, their heads 1 to 2"), std::string::npos)
                << error.what();
        }
    }
}

}  // namespace
}  // namespace attnscope
