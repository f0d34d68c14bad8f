// The transformer's stack: its layers against PyTorch's own pass through the recipe, its names, its settings.
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/graph/gradient.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "core/mechanism/transformer/parameters.h"

namespace attnscope {
namespace {

Experiment stack(int layers = 3, int heads = 2) {
    Experiment e;
    e.mechanism = MechanismKind::transformer;
    e.input.text = "the cat sat on the mat";
    e.input.dim = 8;
    e.attention.heads = heads;
    e.attention.feed_forward_size = 12;
    e.transformer.layers = layers;
    return e;
}

TEST(TransformerTest, EachLayersStagesBearItsNumber) {
    const Trace trace = evaluate(stack());
    for (int layer = 1; layer <= 3; ++layer)
        for (const StageInfo* info : {"norm_1"_stage, "query"_stage, "scores"_stage, "masked"_stage,
                                      "weights"_stage, "context"_stage, "output"_stage, "residual_1"_stage,
                                      "feed_forward"_stage, "residual_2"_stage, "W_q"_stage, "b_2"_stage})
            EXPECT_TRUE(trace.find({info, layer})) << name_in_layer(layer, info->name);
    EXPECT_FALSE(trace.find({"weights"_stage, 4}));
    EXPECT_FALSE(trace.find("weights"_stage));
    EXPECT_EQ(trace.find({"weights"_stage, 2})->name(), "2.weights");
    EXPECT_EQ(trace.find_named("2.weights"), trace.find({"weights"_stage, 2}));
    EXPECT_EQ(trace.find_named("weights"), trace.find({"weights"_stage, 1}));
    EXPECT_EQ(trace.find_named("2.logits"), trace.find("logits"_stage));
    EXPECT_EQ(trace.find_named("4.weights"), nullptr);
}

TEST(TransformerTest, TheResidualStreamGrowsByWhatEachPartAdds) {
    for (const Norm norm : {Norm::none, Norm::before}) {
        Experiment e = stack();
        e.transformer.norm = norm;
        const Trace trace = evaluate(e);
        const auto values = [&](const StageInfo* info, int layer) {
            return Matrix(trace.find({info, layer})->buffer.host().head(0));
        };
        Matrix stream = values("embedding"_stage, 0);
        for (int layer = 1; layer <= 3; ++layer) {
            stream += values("output"_stage, layer);
            EXPECT_EQ(stream, values("residual_1"_stage, layer));
            stream += values("feed_forward"_stage, layer);
            EXPECT_EQ(stream, values("residual_2"_stage, layer));
        }
        EXPECT_EQ(trace.find("norm_final"_stage) != nullptr, norm == Norm::before);
    }
}

TEST(TransformerTest, WithoutUnitsThereIsAttentionAlone) {
    Experiment e = stack();
    e.attention.feed_forward_size = 0;
    const Trace trace = evaluate(e);
    for (const StageInfo* info : {"feed_forward"_stage, "residual_2"_stage, "norm_2"_stage, "W_1"_stage})
        EXPECT_FALSE(trace.find({info, 1})) << info->name;
    EXPECT_TRUE(trace.find({"residual_1"_stage, 3}));
}

TEST(TransformerTest, OtherSettingsKeepTheNumbersOfAWeight) {
    const Trace plain = evaluate(stack());
    const auto W_q = [](const Trace& trace, int layer) {
        return Matrix(trace.find({"W_q"_stage, layer})->buffer.host().head(0));
    };
    Experiment learned = stack(), tied = stack(), deeper = stack(4);
    learned.attention.position = Position::learned;
    tied.transformer.tied = true;
    for (const Experiment& e : {learned, tied, deeper})
        for (int layer = 1; layer <= 3; ++layer) EXPECT_EQ(W_q(evaluate(e), layer), W_q(plain, layer));
    EXPECT_NE(W_q(plain, 1), W_q(plain, 2));
}

TEST(TransformerTest, ACustomMatrixReplacesThatOfItsLayerAlone) {
    Experiment e = stack();
    const Trace before = evaluate(e);
    e.weights.custom.emplace("2.W_v", CustomMatrix(Matrix::Zero(8, 8)));
    const Trace after = evaluate(e, before);
    EXPECT_EQ(after.find({"value"_stage, 2})->buffer.range().max, 0);
    EXPECT_EQ(after.find({"value"_stage, 1}), before.find({"value"_stage, 1})) << "reused";
    e.weights.custom.clear();
    e.weights.custom.emplace("2.W_v", CustomMatrix(Matrix::Zero(8, 7)));
    EXPECT_THROW(evaluate(e), Error);
}

TEST(TransformerTest, ALayerNumberIsPartOfAGivenNameOnlyWhereLayersHaveOne) {
    EXPECT_TRUE(find_overridable("24.W_q"));
    for (const char* name : {"25.W_q", "0.W_q", "02.W_q", "2.W_score", "2.E", "2.", ".W_q", "2W_q"})
        EXPECT_FALSE(find_overridable(name)) << name;
}

TEST(TransformerTest, TheNextTokenIsTheTargetAndTheLastHasNone) {
    const Trace trace = evaluate(stack());
    const Stage &tokens = *trace.find("tokens"_stage), &targets = *trace.find("target_tokens"_stage);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(targets.buffer.at(0, i, 0), tokens.buffer.at(0, i + 1, 0));
    EXPECT_EQ(targets.buffer.at(0, 5, 0), -1);
    const Stage& p = *trace.find("log_probs"_stage);
    double sum = 0;
    for (int i = 0; i < 5; ++i) sum -= p.buffer.at(0, i, static_cast<int>(targets.buffer.at(0, i, 0)));
    EXPECT_NEAR(trace.find("loss"_stage)->buffer.at(0, 0, 0), sum / 5, 1e-6);
    Experiment one = stack();
    one.input.text = "cat";
    EXPECT_FALSE(evaluate(one).find("loss"_stage)) << "one token has no next";
}

TEST(TransformerTest, AtEachPositionTheSecondSentenceIsTheTarget) {
    Experiment e = stack();
    e.transformer.objective = Objective::position;
    EXPECT_FALSE(evaluate(e).find("loss"_stage));
    e.input.text2 = "mat the on sat cat the";
    const Trace trace = evaluate(e);
    EXPECT_EQ(trace.find("target_tokens"_stage)->buffer.at(0, 0, 0),
              trace.find("tokens"_stage)->buffer.at(0, 5, 0));
    e.input.text2 = "mat the";
    EXPECT_THROW(evaluate(e), Error);
}

TEST(TransformerTest, EveryDrawnParameterThatIsUsedHasAGradient) {
    for (const Position position :
         {Position::none, Position::sinusoidal, Position::rope, Position::alibi, Position::learned})
        for (const Norm norm : {Norm::none, Norm::before, Norm::after}) {
            Experiment e = stack(2);
            e.attention.position = position;
            e.transformer.norm = norm;
            e.weighting.mask = {{MaskForm::causal}};
            const Trace trace = evaluate(e);
            std::vector<const StageInfo*> with;
            for (const StagePtr& stage : gradients(trace)) with.push_back(stage->key().stage);
            for (const StagePtr& each : trace.parameters())
                EXPECT_TRUE(std::ranges::find(with, each->info) != with.end()) << each->name();
        }
}

TEST(TransformerTest, ASentenceLongerThanThePositionsIsRefused) {
    Experiment e = stack();
    e.attention.position = Position::learned;
    e.attention.context_length = 5;
    EXPECT_THROW(evaluate(e), Error);
    e.attention.context_length = 6;
    EXPECT_NO_THROW(evaluate(e));
    e.mechanism = MechanismKind::attention;
    EXPECT_TRUE(evaluate(e).find("P"_stage));
    e.attention.context_length = 5;
    EXPECT_THROW(evaluate(e), Error);
}

TEST(TransformerTest, ATokenOutsideTheTableIsRefused) {
    Experiment e = stack();
    for (const float token : {-1.0f, 10.0f, 1.5f, NAN}) {
        e.weights.custom.insert_or_assign("tokens", CustomMatrix(Matrix::Constant(1, 3, token)));
        EXPECT_THROW(evaluate(e), Error) << token;
    }
    e.weights.custom.insert_or_assign("tokens", CustomMatrix(Matrix::Constant(1, 3, 9)));
    EXPECT_EQ(evaluate(e).find("tokens"_stage)->shape().rows, 3);
}

TEST(TransformerTest, TheNamesThatLayersHaveAreItsParameters) {
    for (const OverridableMatrix& name : overridable_matrices())
        if (name.in_layers) {
            EXPECT_TRUE(find_transformer_parameter(name.name)) << name.name;
        }
}

TEST(TransformerTest, WhatDoesNotFitInMemoryIsRefusedInEveryMechanism) {
    for (const ChoiceName<MechanismKind>& mechanism : choices<MechanismKind>()) {
        Experiment e;
        e.mechanism = mechanism.value;
        try {
            evaluate(e, {}, {.memory_limit = 1000});
            ADD_FAILURE() << mechanism.name;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::too_large) << mechanism.name;
        }
    }
}

}  // namespace
}  // namespace attnscope
