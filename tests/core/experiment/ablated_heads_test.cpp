// Which heads are ablated, as text, in a stack and in attention alone.
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

Experiment attention_alone() {
    Experiment e = stack();
    e.mechanism = MechanismKind::attention;
    return e;
}

/// The contexts of the first head are 0 or their mean, those of the second as they were.
void expect_first_ablated(Experiment e, int layer) {
    e.attention.ablated = {{std::max(layer, 1), 1}};
    const Trace zero = evaluate(e);
    e.attention.ablation = Ablation::mean;
    const Trace mean = evaluate(e);
    const Stage &context = *zero.find({"context"_stage, layer}),
                &of_zero = *zero.find({"ablated"_stage, layer}),
                &of_mean = *mean.find({"ablated"_stage, layer});
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

TEST(AblatedHeadsTest, HaveAContextOfZeroOrItsMean) {
    expect_first_ablated(stack(), 2);
    expect_first_ablated(attention_alone(), 0);
}

TEST(AblatedHeadsTest, TheOtherLayersHaveNone) {
    Experiment e = stack();
    e.attention.ablated = {{2, 1}};
    EXPECT_EQ(evaluate(e).find({"ablated"_stage, 1}), nullptr);
}

TEST(AblatedHeadsTest, TheHeadsAreJoinedAsTheyAreAfterIt) {
    Experiment e = attention_alone();
    e.attention.ablated = {{1, 2}};
    const Trace trace = evaluate(e);
    const Stage &context = *trace.find("context"_stage), &joined = *trace.find("concat"_stage);
    const int columns = context.shape().columns;
    for (int i = 0; i < joined.shape().rows; ++i)
        for (int j = 0; j < columns; ++j) {
            EXPECT_EQ(joined.buffer.at(0, i, j), context.buffer.at(0, i, j));
            EXPECT_EQ(joined.buffer.at(0, i, columns + j), 0);
        }
}

TEST(AblatedHeadsTest, AMechanismWithoutHeadsHasNone) {
    Experiment e = attention_alone();
    e.attention.ablated = {{1, 2}};
    EXPECT_TRUE(is_ablated(e, {1, 2}));
    EXPECT_FALSE(is_ablated(e, {1, 1}));
    e.mechanism = MechanismKind::seq2seq;
    EXPECT_FALSE(is_ablated(e, {1, 2})) << "they are kept, and have no effect";
}

TEST(AblatedHeadsTest, AHeadThatIsGoneIsForgotten) {
    Experiment e = attention_alone();
    e.attention.ablated = {{1, 1}, {1, 3}, {2, 1}};
    drop_missing_heads(e);
    EXPECT_EQ(e.attention.ablated, (std::vector<HeadPlace>{{1, 1}}));
}

void expect_refused(Experiment e, const HeadPlace& place, const char* heads) {
    e.attention.ablated = {place};
    try {
        check(e);
        ADD_FAILURE() << place.layer << "." << place.head;
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find(heads), std::string::npos) << error.what();
    }
}

TEST(AblatedHeadsTest, OneThatIsNotThereIsRefused) {
    for (const HeadPlace place : {HeadPlace{3, 1}, HeadPlace{1, 3}})
        expect_refused(stack(), place, "the layers are 1 to 2, with heads 1 to 2");
    for (const HeadPlace place : {HeadPlace{2, 1}, HeadPlace{1, 3}})
        expect_refused(attention_alone(), place, "attention has one layer, with heads 1 to 2");
}

}  // namespace
}  // namespace attnscope
