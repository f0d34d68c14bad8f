// The examples reproduce the numbers that the five notebooks print.
#include "core/session/examples.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "core/mechanism/mechanisms.h"
#include "core/picture/shown_matrix.h"

namespace attnscope {
namespace {

Trace trace_of(const char* example) { return evaluate(load_example(example).experiment); }

/// All cells of head 1, row by row.
std::vector<double> cells(const Trace& trace, const char* stage) {
    const ConstMatrixView values = trace.find_named(stage)->buffer.host().head(0);
    return {values.data(), values.data() + values.size()};
}

void expect_cells(const Trace& trace, const char* stage, const std::vector<double>& expected,
                  double tolerance) {
    const std::vector<double> actual = cells(trace, stage);
    ASSERT_EQ(actual.size(), expected.size()) << stage;
    for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_NEAR(actual[i], expected[i], tolerance) << stage << i;
}

/// The number as the notebook prints it.
std::string printed(double value, const char* format) {
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

// Notebook 2's numbers were printed by TensorFlow, whose exponential rounds otherwise: within 1e-7.
constexpr double k_notebook_2 = 1e-7;
const std::vector<double> k_weights = {0.33554336, 0.35042074, 0.31403583, 0.33646366, 0.3597325,
                                       0.30380386, 0.33376372, 0.33628297, 0.3299533};

TEST(ExamplesTest, ScalarSelfAttentionPrintsNotebook2sScoresWeightsAndContext) {
    const Trace trace = trace_of("scalar-self-attention");
    const std::vector<std::string> scores = {"0.08013367", "0.12351702", "0.01388957",
                                             "0.12351702", "0.19038758", "0.02140921",
                                             "0.01388957", "0.02140921", "0.00240748"};
    const std::vector<double> actual = cells(trace, "scores");
    for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(printed(actual[i], "%.8f"), scores[i]);
    expect_cells(trace, "weights", k_weights, k_notebook_2);
    expect_cells(trace, "context", {0.26329434, 0.26711583, 0.25740278}, k_notebook_2);
}

TEST(ExamplesTest, ScalarSoftmaxAxisPrintsTheTransposedWeights) {
    std::vector<double> transposed;
    for (std::size_t i = 0; i < 9; ++i) transposed.push_back(k_weights[i % 3 * 3 + i / 3]);
    expect_cells(trace_of("scalar-softmax-axis"), "weights", transposed, k_notebook_2);
}

TEST(ExamplesTest, ScalarCrossAttentionPrintsTheContextOfTheOtherQueries) {
    expect_cells(trace_of("scalar-cross-attention"), "context", {0.2564841, 0.2749517, 0.27088535},
                 k_notebook_2);
}

TEST(ExamplesTest, ASingleQueryIsTheFirstRow) {
    const Trace trace = trace_of("single-query");
    expect_cells(trace, "weights", {k_weights[0], k_weights[1], k_weights[2]}, k_notebook_2);
    expect_cells(trace, "context", {0.26329434}, k_notebook_2);
}

TEST(ExamplesTest, PoolingOfLikeKeysIsTheMeanOfTheOpenValues) {
    for (const char* example :
         {"dot-product-pooling", "additive-pooling"})  // printed within float32's rounding
        expect_cells(trace_of(example), "context", {2, 3, 4, 5, 10, 11, 12, 13}, 2e-6);
}

TEST(ExamplesTest, MaskedSoftmaxHasZerosWhereItIsClosedAndRowsThatSumToOne) {
    const Trace trace = trace_of("masked-softmax");
    const ConstMatrixView weights = trace.find("weights"_stage)->buffer.host().head(0);
    ASSERT_EQ(weights.rows(), 4);
    ASSERT_EQ(weights.cols(), 4);
    for (int i = 0; i < 4; ++i) {
        EXPECT_NEAR(weights.row(i).sum(), 1, 1e-6);
        for (int j = 0; j < 4; ++j) EXPECT_EQ(weights(i, j) == 0, j >= (i < 2 ? 2 : 3)) << i << j;
    }
}

TEST(ExamplesTest, TransformerHeadsAreEightOf16WithAnOutput) {
    const Trace trace = trace_of("transformer-heads");
    EXPECT_EQ(trace.find("key_heads"_stage)->shape().heads, 8);
    EXPECT_EQ(trace.find("key_heads"_stage)->shape().columns, 16);
    EXPECT_EQ(trace.find("output"_stage)->shape().columns, 80);
}

TEST(ExamplesTest, SoftAndHardHasOneKeyAQueryAndGlobalAndLocalAWindow) {
    const Trace hard = trace_of("soft-and-hard");
    for (const double weight : cells(hard, "weights")) EXPECT_TRUE(weight == 0 || weight == 1);
    const Trace local = trace_of("global-and-local");
    const ConstMatrixView weights = local.find("weights"_stage)->buffer.host().head(0);
    const ConstMatrixView center = local.find("center"_stage)->buffer.host().head(0);
    for (int i = 0; i < weights.rows(); ++i)
        for (int j = 0; j < weights.cols(); ++j)
            if (std::abs(j - center(i, 0)) > 3) {
                EXPECT_EQ(weights(i, j), 0);
            }
}

TEST(ExamplesTest, TheTranslatorTranslatesAndItsWordsLookWhereTheNoteSays) {
    const Trace trace = trace_of("bahdanau-alignment");
    const ConstMatrixView alignment = trace.find("alignment"_stage)->buffer.host().head(0);
    ASSERT_EQ(alignment.cols(), 9);
    ASSERT_EQ(alignment.rows(), 10);  // nine words and <eos>
    const Stage &picked = *trace.find("picked_tokens"_stage), &target = *trace.find("target_tokens"_stage);
    for (int i = 0; i < alignment.rows(); ++i)
        EXPECT_EQ(picked.buffer.at(0, i, 0), target.buffer.at(0, i, 0)) << i;
    // the black cat does not see a small house: le chat noir ne voit pas une petite maison
    const std::pair<int, int> looks[] = {{0, 2}, {1, 2}, {2, 1}, {3, 4}, {4, 5},
                                         {5, 4}, {6, 8}, {7, 7}, {8, 8}};
    for (const auto& [step, word] : looks) EXPECT_GT(alignment(step, word), 0.5) << step;
}

TEST(ExamplesTest, WithoutAttentionEveryStepSeesTheSame) {
    const Trace plain = trace_of("encoder-decoder");
    EXPECT_EQ(plain.find("alignment"_stage), nullptr);
    const ConstMatrixView context = plain.find("decoder_context"_stage)->buffer.host().head(0);
    for (int i = 1; i < context.rows(); ++i) EXPECT_EQ(Matrix(context.row(i)), Matrix(context.row(0)));
}

TEST(ExamplesTest, ImageAttentionLetsEachWordLookAt49Patches) {
    const Trace trace = trace_of("image-attention");
    const Stage& weights = *trace.find("weights"_stage);
    ASSERT_EQ(weights.shape().columns, 49);
    EXPECT_EQ(trace.columns.front(), "1,1");
    EXPECT_EQ(trace.columns.back(), "7,7");
    // Each thing with a color looks elsewhere, and every other word everywhere alike.
    const std::set<std::string> things{"house", "tree", "sun"};
    std::set<Eigen::Index> most;
    for (int i = 0; i < weights.shape().rows; ++i) {
        Eigen::Index at = 0;
        const float largest = weights.buffer.host().head(0).row(i).maxCoeff(&at);
        const std::string& word = trace.rows[static_cast<std::size_t>(i)];
        EXPECT_EQ(largest > 5.0f / 49, things.contains(word)) << word;
        if (things.contains(word)) most.insert(at);
    }
    EXPECT_EQ(most.size(), things.size());
}

TEST(ExamplesTest, ANoteNamesTheTemperatureThatItsExampleSets) {
    for (const std::string& name : example_names()) {
        const Session session = load_example(name);
        if (session.experiment.weighting.temperature == 0.1) {
            EXPECT_NE(session.note.find("temperature 0.1"), std::string::npos) << name;
        }
    }
}

TEST(ExamplesTest, EachOpensOnAStageItHasAndSaysWhatToLookAt) {
    for (const std::string& name : example_names()) {
        const Session session = load_example(name);
        EXPECT_NE(evaluate(session.experiment).find_chosen(session.presentation.stage), nullptr) << name;
        const auto sentences = std::count(session.note.begin(), session.note.end(), '.');
        EXPECT_GE(sentences, 2) << name;
        EXPECT_LE(sentences, 6) << name;
    }
}

/// The most likely word after each position.
std::vector<int> said(const Trace& trace) {
    const ConstMatrixView log_probs = trace.find("log_probs"_stage)->buffer.host().head(0);
    std::vector<int> words;
    for (Eigen::Index i = 0; i < log_probs.rows(); ++i) {
        Eigen::Index likely = 0;
        log_probs.row(i).maxCoeff(&likely);
        words.push_back(static_cast<int>(likely));
    }
    return words;
}

/// What the inspector proves first: of weights, that of the key which the query attends to most, or one that
/// the mask closes.
TEST(ExamplesTest, ALockedWeightIsTheLargestOfItsRowOrClosed) {
    int weights = 0;
    for (const auto& [name, session] : all_examples()) {
        SCOPED_TRACE(name);
        const Presentation& shown = session.presentation;
        if (!shown.locked) continue;
        const Trace trace = evaluate(session.experiment);
        const Stage* stage = trace.find_chosen(shown.locked_stage());
        ASSERT_TRUE(stage);
        if (stage->info->unit != Unit::probability) continue;
        ++weights;
        const HeadChoice head = head_on_screen(*stage, shown.head);
        const Eigen::RowVectorXf row = stage->buffer.row(std::max(0, head.index()), shown.locked->row);
        const Stage* mask = trace.find(mask_of(*stage->info));
        if (mask && mask->buffer.at(0, shown.locked->row, shown.locked->column) == 0)
            EXPECT_EQ(row(shown.locked->column), 0);
        else
            EXPECT_EQ(row(shown.locked->column), row.maxCoeff());
    }
    EXPECT_GT(weights, 10);
}

TEST(ExamplesTest, TheLearnedInductionHeadContinuesTheWordAndAnyOther) {
    Experiment e = load_example("learned-induction").experiment;
    for (const auto& [text, period] : {std::pair{e.input.text, 6},
                                       {std::string("m a k e m a k e m a k e m a k e m a k e m a k e"), 4},
                                       {std::string("c h i p c h i p c h i p"), 4}}) {
        e.input.text = text;
        const Trace trace = evaluate(e);
        const std::vector<int> words = said(trace);
        const Stage& tokens = *trace.find("tokens"_stage);
        for (int i = period; i + 1 < tokens.shape().rows; ++i)
            EXPECT_EQ(words[static_cast<std::size_t>(i)], tokens.buffer.at(0, i + 1, 0)) << text << " " << i;
    }
    // The cell that the example locks.
    const Trace trace = trace_of("learned-induction");
    EXPECT_GT(trace.find({"weights"_stage, 2})->buffer.at(1, 8, 3), 0.3);
    EXPECT_EQ(trace.rows[8] + trace.columns[3], "ld");
}

TEST(ExamplesTest, TheLearnedReversalLooksAtTheMirroredPlace) {
    const Trace trace = trace_of("learned-reverse");
    const Stage& tokens = *trace.find("tokens"_stage);
    const std::vector<int> words = said(trace);
    for (int i = 0; i < 12; ++i) {
        EXPECT_GT(trace.find({"weights"_stage, 1})->buffer.at(0, i, 11 - i), 0.9) << i;
        EXPECT_EQ(words[static_cast<std::size_t>(i)], tokens.buffer.at(0, 11 - i, 0)) << i;
    }
}

TEST(ExamplesTest, AGraphHasNoStageOfOtherMechanismsAlone) {
    std::set<MechanismKind> kinds;
    for (const std::string& name : example_names()) {
        const Experiment e = load_example(name).experiment;
        kinds.insert(e.mechanism);
        for (const GraphValue& value : build(e).values)
            EXPECT_TRUE(value.key.stage->mechanisms.contains(e.mechanism))
                << name << ": " << value.key.stage->name;
    }
    EXPECT_EQ(kinds.size(), choices<MechanismKind>().size());
    for (const Mechanism* mechanism : mechanisms())
        for (const StageInfo* stage :
             {mechanism->mask, mechanism->center, mechanism->first.tokens, mechanism->second.tokens})
            EXPECT_TRUE(stage->mechanisms.contains(mechanism->choice)) << stage->name;
}

TEST(ExamplesTest, CrossAttentionWithoutProjectionsTakesKeysAndValuesFromTheOtherText) {
    EXPECT_EQ(unprojected_text(load_example("scalar-cross-attention").experiment), "Q = X, K = V = Y");
}

}  // namespace
}  // namespace attnscope
