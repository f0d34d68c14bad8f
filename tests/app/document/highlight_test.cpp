#include "app/document/highlight.h"

#include <gtest/gtest.h>

#include "app/document/interaction.h"
#include "core/mechanism/evaluate.h"
#include "core/session/examples.h"

namespace attnscope {
namespace {

const StageInfo& info(const char* name) { return *find_stage_info(name); }

TEST(HighlightTest, ATokenLightsItsRowAndColumnEverywhere) {
    const Highlight lit = highlight_token(3);
    for (const char* name : {"embedding", "query", "key", "value", "scores", "scaled", "weights", "context"})
        EXPECT_EQ(lit_row(lit, info(name)), 3) << name;
    for (const char* name : {"scores", "scaled", "mask", "weights"})
        EXPECT_EQ(lit_column(lit, info(name)), 3) << name;
    for (const char* name : {"embedding", "query", "context"})
        EXPECT_EQ(lit_column(lit, info(name)), -1) << name;
}

TEST(HighlightTest, AScoreLightsItsQueryAndItsKey) {
    const Highlight lit = highlight_cell(info("scores"), {2, 5});
    EXPECT_EQ(lit_row(lit, info("scores")), 2);
    EXPECT_EQ(lit_column(lit, info("scores")), 5);
    EXPECT_EQ(lit_row(lit, info("query")), 2);
    EXPECT_EQ(lit_row(lit, info("key")), 5);
    EXPECT_EQ(lit_row(lit, info("value")), 5);
    EXPECT_EQ(lit_row(lit, info("context")), 2);
}

TEST(HighlightTest, AFeatureLightsItsColumnOfTheSameKindAlone) {
    const Highlight lit = highlight_cell(info("embedding"), {1, 9});
    EXPECT_EQ(lit_column(lit, info("embedding")), 9);
    EXPECT_EQ(lit_column(lit, info("query")), 9);
    EXPECT_EQ(lit_column(lit, info("scores")), -1);
    EXPECT_EQ(lit_column(lit, info("query_heads")), -1);
}

TEST(HighlightTest, NothingPointedAtLightsNothing) {
    for (const char* name : {"embedding", "key", "scores"}) {
        EXPECT_EQ(lit_row(Highlight{}, info(name)), -1);
        EXPECT_EQ(lit_column(Highlight{}, info(name)), -1);
    }
}

TEST(HighlightTest, TheChipComesBeforeTheCellAndTheCellBeforeTheLock) {
    Interaction interaction;
    Presentation look;
    EXPECT_EQ(current_highlight(interaction, look, nullptr), Highlight{});
    look.locked = Cell{1, 2};
    EXPECT_EQ(current_highlight(interaction, look, nullptr), highlight_cell(info("weights"), {1, 2}));
    interaction.hovered = PointedCell{"scores"_stage, 0, {3, 4}};
    EXPECT_EQ(current_highlight(interaction, look, nullptr), highlight_cell(info("scores"), {3, 4}));
    interaction.hovered_token = PointedToken{5};
    EXPECT_EQ(current_highlight(interaction, look, nullptr), highlight_token(5));
}

TEST(HighlightTest, OfTwoSentencesATokenLightsItsOwnSideAlone) {
    Highlight lit{.key = 2, .two_sides = true};
    for (const char* name : {"key", "value", "embedding_kv"}) EXPECT_EQ(lit_row(lit, info(name)), 2) << name;
    for (const char* name : {"query", "embedding", "weights"})
        EXPECT_EQ(lit_row(lit, info(name)), -1) << name;
    for (const char* name : {"weights", "mask", "score_hidden"})
        EXPECT_EQ(lit_column(lit, info(name)), 2) << name;
    lit = {.query = 1, .two_sides = true};
    EXPECT_EQ(lit_row(lit, info("query")), 1);
    EXPECT_EQ(lit_row(lit, info("key")), -1);
    EXPECT_EQ(lit_column(lit, info("weights")), -1);
}

TEST(HighlightTest, AStepAndASourceWordAreTwoSides) {
    Experiment experiment;
    EXPECT_FALSE(has_two_sides(evaluate(experiment)));
    experiment.mechanism = MechanismKind::seq2seq;
    const Trace trace = evaluate(experiment);
    EXPECT_TRUE(has_two_sides(trace));
    Interaction interaction;
    interaction.hovered_token = PointedToken{2, true};
    const Highlight word = current_highlight(interaction, {}, &trace);
    EXPECT_EQ(word.key, 2);
    EXPECT_EQ(word.query, -1);
    EXPECT_EQ(lit_row(word, info("decoder_state")), -1);
    EXPECT_EQ(lit_row(word, info("annotations")), 2);
}

TEST(HighlightTest, SidesAreTwoWhereKeysAreOthersThanQueries) {
    const auto two = [](const char* example) {
        return has_two_sides(evaluate(load_example(example).experiment));
    };
    EXPECT_FALSE(two("scaled-dot-product"));
    EXPECT_FALSE(two("scalar-self-attention"));
    EXPECT_TRUE(two("bahdanau-alignment")) << "source and steps";
    Experiment given;  // as many queries as keys
    for (const char* name : {"query", "key", "value"})
        given.weights.custom.insert_or_assign(name, CustomMatrix(Matrix::Ones(3, 2)));
    EXPECT_TRUE(has_two_sides(evaluate(given)));
}

TEST(HighlightTest, AHiddenUnitLightsItsKey) {
    const Highlight lit = highlight_cell(info("score_hidden"), {3, 17}, 8);
    EXPECT_EQ(lit.query, 3);
    EXPECT_EQ(lit.key, 2);
    EXPECT_EQ(lit_column(lit, info("scores")), 2);
}

TEST(HighlightTest, WithOneHeadAColumnOfTheContextIsThatOfTheValues) {
    const Trace trace = evaluate(load_example("scaled-dot-product").experiment);
    Presentation presentation;
    presentation.locked = Cell{1, 5};
    presentation.stage = "context"_stage;
    EXPECT_EQ(lit_column(current_highlight({}, presentation, &trace), info("value")), 5);
    presentation.stage = "value"_stage;
    EXPECT_EQ(lit_column(current_highlight({}, presentation, &trace), info("context")), 5);
}

}  // namespace
}  // namespace attnscope
