// The steps of one row, compared with the trace, with proofs, and with numbers worked out on paper.
#include "core/graph/row_steps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.h"
#include "core/graph/explain.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "core/mechanism/mechanisms.h"
#include "core/session/examples.h"
#include "core/utf8.h"
#include "tests/core/graph/explain_cases.h"
#include "tests/drawn_sessions.h"
#include "tests/random_attention.h"
#include "tests/random_seq2seq.h"
#include "tests/random_transformer.h"
#include "tests/sessions.h"

namespace attnscope {
namespace {

using Kind = RowStep::Kind;

/// Scores as given, not scaled, and the words of a sentence of as many words.
Experiment of_scores(const Matrix& scores) {
    Experiment e;
    e.attention.scale = {Scale::Kind::none};
    e.weights.custom.emplace("scores", CustomMatrix(scores));
    return e;
}

RowSteps steps_of(const Trace& trace, int row, int head = 0) {
    return row_steps(trace, *last_weights(trace, 1), head, row);
}

const RowStep* find(const RowSteps& row, std::string_view title) {
    for (const RowStep& step : row.steps)
        if (step.title == title) return &step;
    return nullptr;
}

std::vector<std::string> titles(const RowSteps& row) {
    std::vector<std::string> found;
    for (const RowStep& step : row.steps) found.push_back(step.title);
    return found;
}

TEST(RowStepsTest, OfGivenScoresTheStepsAreThoseWorkedOutOnPaper) {
    // Scores ln 2, ln 4 and 0: less the maximum −ln 2, 0, −ln 4; exp ½, 1, ¼; their sum 1.75.
    Matrix scores(1, 3);
    scores << std::log(2.f), std::log(4.f), 0;
    const Trace trace = evaluate(of_scores(scores));
    const RowSteps row = steps_of(trace, 0);
    EXPECT_EQ(titles(row),
              (std::vector<std::string>{"scores", "scaled", "masked", "− row max", "exp", "weights"}));
    const std::vector<double>& less = find(row, "− row max")->numbers;
    EXPECT_NEAR(less[0], -std::log(2), 1e-6);
    EXPECT_EQ(less[1], 0);
    EXPECT_NEAR(less[2], -std::log(4), 1e-6);
    const std::vector<double>& exp = find(row, "exp")->numbers;
    EXPECT_NEAR(exp[0], 0.5, 1e-6);
    EXPECT_EQ(exp[1], 1);
    EXPECT_NEAR(exp[2], 0.25, 1e-6);
    EXPECT_EQ(find(row, "exp")->total, "Σ 1.75");
    EXPECT_EQ(find(row, "masked")->total, "max 1.39");
    const std::vector<double>& weights = find(row, "weights")->numbers;
    EXPECT_NEAR(weights[0], 2 / 7.0, 1e-6);
    EXPECT_NEAR(weights[1], 4 / 7.0, 1e-6);
    EXPECT_NEAR(weights[2], 1 / 7.0, 1e-6);
    EXPECT_EQ(find(row, "weights")->total, "Σ 1.000");
    EXPECT_EQ(find(row, "− row max")->sentence,
              "Subtract the row's maximum 1.39 so that no exp overflows; the weights do not change.");
    EXPECT_EQ(row.values, nullptr) << "there are no values";
}

TEST(RowStepsTest, WeightsAndValuesAddUpToTheContext) {
    Experiment e;
    Matrix Q(1, 2), K(2, 2), V(2, 2);
    Q << 2, 1;
    K << 1, 0, 0, 2;  // both scores are 2: each weight is ½
    V << 4, -2, 0, 6;
    e.weights.custom.emplace("query", CustomMatrix(Q));
    e.weights.custom.emplace("key", CustomMatrix(K));
    e.weights.custom.emplace("value", CustomMatrix(V));
    const Trace trace = evaluate(e);
    const RowSteps row = steps_of(trace, 0);
    EXPECT_EQ(find(row, "scores")->numbers, (std::vector<double>{2, 2}));
    EXPECT_NEAR(find(row, "scaled")->numbers[0], 2 / std::sqrt(2), 1e-6);
    EXPECT_EQ(weighted_value(row, 0), (std::vector<double>{2, -1}));
    EXPECT_EQ(weighted_value(row, 1), (std::vector<double>{0, 3}));
    EXPECT_EQ(row.steps.back().kind, Kind::sum);
    EXPECT_EQ(row.steps.back().numbers, (std::vector<double>{2, 2}));
}

TEST(RowStepsTest, MaskedKeysHaveNothingAndAFullyMaskedRowSaysSo) {
    Experiment e;
    e.weighting.mask = {{MaskForm::valid, {0, 1, 2, 3, 4, 5, 6, 7}}};
    const Trace trace = evaluate(e);
    const RowSteps second = steps_of(trace, 1);
    for (int j = 0; j < second.keys(); ++j) {
        const auto k = static_cast<std::size_t>(j);
        EXPECT_EQ(second.closed[k], j >= 1);
        EXPECT_EQ(find(second, "masked")->numbers[k] == -INFINITY, j >= 1);
        EXPECT_TRUE(std::isfinite(find(second, "scores")->numbers[k]));
        if (j >= 1) {
            EXPECT_EQ(find(second, "exp")->numbers[k], 0);
        }
        EXPECT_EQ(find(second, "weights")->numbers[k], j == 0);
    }
    EXPECT_TRUE(second.remark.empty());
    EXPECT_EQ(find(second, "masked")->sentence.substr(0, 23), "7 of 8 keys are closed:");
    const RowSteps none = steps_of(trace, 0);
    EXPECT_EQ(none.remark, fully_masked_remark());
    for (const double weight : none.weights) EXPECT_EQ(weight, 0);
    EXPECT_TRUE(find(none, "exp")->total.empty());
    for (const double each : weighted_value(none, 3)) EXPECT_EQ(each, 0);
}

TEST(RowStepsTest, AClosedKeyAddsNothingEvenIfItsValueIsNan) {
    Experiment e;
    Matrix V = test::random_matrix(8, 16, 3);
    V.row(5).setConstant(std::numeric_limits<float>::quiet_NaN());
    e.weights.custom.emplace("value", CustomMatrix(V));
    e.weighting.mask = {{MaskForm::causal, {}}};
    const Trace trace = evaluate(e);
    for (const double each : weighted_value(steps_of(trace, 4), 5)) EXPECT_EQ(each, 0);
    const RowSteps before = steps_of(trace, 4);
    for (const double each : before.steps.back().numbers) EXPECT_TRUE(std::isfinite(each));
    for (const double each : weighted_value(steps_of(trace, 5), 5)) EXPECT_TRUE(std::isnan(each));
}

TEST(RowStepsTest, NanInAScoreIsNanFromThereOn) {
    Matrix scores = test::random_matrix(2, 3, 1);
    scores(0, 1) = std::numeric_limits<float>::quiet_NaN();
    const Trace trace = evaluate(of_scores(scores));
    const RowSteps row = steps_of(trace, 0);
    for (const char* title : {"− row max", "exp", "weights"})
        for (const double each : find(row, title)->numbers) EXPECT_TRUE(std::isnan(each)) << title;
    EXPECT_NE(find(row, "weights")->sentence.find("NaN"), std::string::npos);
    for (const double each : steps_of(trace, 1).weights) EXPECT_TRUE(std::isfinite(each));
}

TEST(RowStepsTest, EachNormalizerHasStepsOfItsOwn) {
    Experiment e;
    const auto titles_with = [&](Normalization normalizer) {
        e.weighting.normalizer = normalizer;
        return titles(steps_of(evaluate(e), 2));
    };
    using Titles = std::vector<std::string>;
    const Titles end = {"weight × value", "context"};
    const auto with_end = [&](Titles start) {
        start.insert(start.end(), end.begin(), end.end());
        return start;
    };
    EXPECT_EQ(titles_with(Normalization::softmax),
              with_end({"scores", "scaled", "masked", "− row max", "exp", "weights"}));
    EXPECT_EQ(titles_with(Normalization::hard), with_end({"scores", "scaled", "masked", "weights"}));
    EXPECT_EQ(titles_with(Normalization::sparsemax), with_end({"scores", "scaled", "masked", "weights"}));
    EXPECT_EQ(titles_with(Normalization::local_p),
              with_end({"scores", "scaled", "masked", "− row max", "exp", "align", "weights"}));
    e.weighting.normalizer = Normalization::softmax;
    e.attention.score = Score::cosine;
    EXPECT_EQ(titles(steps_of(evaluate(e), 0)).front(), "cosine");
    e.attention.score = Score::additive;
    e.attention.position = Position::alibi;
    e.attention.dropout = 0.5;
    e.attention.training = true;
    EXPECT_EQ(titles(steps_of(evaluate(e), 0)), with_end({"scores", "scaled", "biased", "masked", "− row max",
                                                          "exp", "weights", "weights dropped"}));
}

TEST(RowStepsTest, EachOperationHasASentenceOnWhatItDoes) {
    const auto sentence_of = [](const Experiment& e, std::string_view title) {
        const Trace trace = evaluate(e);
        const RowSteps row = steps_of(trace, 2);
        const RowStep* step = find(row, title);
        return step ? step->sentence : "";
    };
    const auto starts = [](const std::string& sentence, std::string_view words) {
        EXPECT_EQ(sentence.substr(0, words.size()), words);
    };
    const std::pair<Score, const char*> scores[] = {
        {Score::dot, "Multiply query and key dimension by dimension"},
        {Score::general, "Transform the query by W"},
        {Score::additive, "Multiply each hidden unit"},
        {Score::concat, "Multiply each hidden unit"},
        {Score::location, "Multiply the query by the row of W"},
        {Score::rbf, "Minus the squared distance"},
    };
    Experiment e;
    for (const auto& [score, words] : scores) {
        e.attention.score = score;
        starts(sentence_of(e, "scores"), words);
    }
    e.attention.score = Score::cosine;
    e.attention.sharpening = 3;
    starts(sentence_of(e, "cosine"), "Divide the dot product of query and key by their lengths");
    starts(sentence_of(e, "scores"), "× β 3: ");
    e = {};
    e.attention.position = Position::alibi;
    e.attention.dropout = 0.5;
    starts(sentence_of(e, "biased"), "Add the bias");
    starts(sentence_of(e, "weights dropped"), "Dropout sets some weights to 0");
    e.weighting.normalizer = Normalization::local_p;
    starts(sentence_of(e, "weights"), "Multiply each weight by the Gaussian window");
    starts(sentence_of(of_scores(test::random_matrix(3, 3, 1)), "scores"), "A custom matrix");
}

TEST(RowStepsTest, ADecoderSaysWhatTheSameOperationsSay) {
    Session session = test::test_session("random-alignment");
    session.experiment.weighting.temperature = 2;
    session.experiment.weighting.normalizer = Normalization::local_p;
    const Trace trace = evaluate(session.experiment);
    const RowSteps row = steps_of(trace, 1);
    EXPECT_TRUE(find(row, "alignment scores")->sentence.starts_with("Multiply each hidden unit"));
    EXPECT_TRUE(find(row, "alignment scaled")->sentence.starts_with("÷ T 2: smaller scores"));
    EXPECT_TRUE(find(row, "alignment")->sentence.starts_with("Multiply each weight by the Gaussian window"));
}

TEST(RowStepsTest, AScaleSaysWhetherItChangesTheScores) {
    const auto sentence_of = [](const Scale& scale, double temperature, int key_size = 0) {
        Experiment e;
        e.attention.scale = scale;
        e.attention.projection = Projection::linear;
        e.attention.key_size = key_size;
        e.weighting.temperature = temperature;
        const Trace trace = evaluate(e);
        return find(steps_of(trace, 0), "scaled")->sentence;
    };
    const std::string same = "The scale is 1: the scores stay as they are.";
    EXPECT_EQ(sentence_of({Scale::Kind::none}, 1), same);
    EXPECT_EQ(sentence_of({Scale::Kind::number, 1}, 1), same);
    EXPECT_EQ(sentence_of({Scale::Kind::sqrt}, 1, 1), same) << "of vectors of one number";
    EXPECT_TRUE(sentence_of({Scale::Kind::none}, 2).starts_with("÷ T 2: smaller scores"));
    EXPECT_TRUE(sentence_of({Scale::Kind::number, 0.5}, 1).starts_with("× 0.5: smaller scores"));
    EXPECT_TRUE(sentence_of({Scale::Kind::sqrt}, 1).starts_with("÷ √"));
    EXPECT_NE(sentence_of({Scale::Kind::sqrt}, 1).find("dot products of more features spread further"),
              std::string::npos);
}

TEST(RowStepsTest, ScoresAndScaledScoresShareARangeAndMaskedOnesDoNot) {
    const Trace trace = evaluate({});
    const RowSteps row = steps_of(trace, 0);
    EXPECT_EQ(find(row, "scores")->kind, Kind::scores);
    EXPECT_EQ(find(row, "scaled")->kind, Kind::scores);
    EXPECT_EQ(find(row, "masked")->kind, Kind::signed_);
    EXPECT_EQ(find(row, "exp")->kind, Kind::exponentials);
    EXPECT_EQ(find(row, "weights")->kind, Kind::weights);
}

TEST(RowStepsTest, OverTheQueriesEachKeyHasAMaximumAndASumOfItsOwn) {
    Experiment e;
    e.attention.softmax_axis = SoftmaxAxis::queries;
    const Trace trace = evaluate(e);
    const Stage& weights = *trace.find("weights"_stage);
    const RowSteps row = steps_of(trace, 3);
    ASSERT_NE(find(row, "− column max"), nullptr);
    for (int j = 0; j < row.keys(); ++j) {
        const Proof proof = explain(trace, weights, 0, 3, j);
        const auto k = static_cast<std::size_t>(j);
        EXPECT_EQ(find(row, "− column max")->numbers[k], proof.steps[proof.steps.size() - 3].value);
        EXPECT_EQ(find(row, "exp")->numbers[k], proof.steps[proof.steps.size() - 2].value);
    }
    EXPECT_TRUE(find(row, "exp")->total.empty()) << "the row has no sum that anything is divided by";
}

TEST(RowStepsTest, ADecodersAlignmentHasTheStagesThatExist) {
    Session session = test::test_session("random-alignment");
    using Titles = std::vector<std::string>;
    const Titles softmax = {"− row max", "exp", "alignment", "weight × annotation", "decoder context"};
    const auto check = [&](Titles first) {
        first.insert(first.end(), softmax.begin(), softmax.end());
        EXPECT_EQ(titles(steps_of(evaluate(session.experiment), 2)), first);
    };
    session.experiment.weighting.temperature = 1;
    check({"alignment scores"});
    session.experiment.weighting.temperature = 2;
    check({"alignment scores", "alignment scaled"});
    session.experiment.weighting.mask = {{MaskForm::valid, {4}}};
    check({"alignment scores", "alignment scaled", "alignment masked"});
    const Trace none = evaluate(test::test_session("random-encoder-decoder").experiment);
    EXPECT_EQ(last_weights(none, 1), nullptr);
}

// ---- every row of every experiment

bool near(double a, double b, double scale) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) == std::isnan(b);
    if (std::isinf(a) || std::isinf(b)) return true;  // sums of huge numbers may overflow in one order only
    return std::abs(a - b) <= 2e-5 * scale + 1e-6;
}

/// The sum of each feature over the keys is the context's, up to the rounding of float32.
void check_sum(const RowSteps& row) {
    const RowStep& context = row.steps.back();
    ASSERT_EQ(context.kind, Kind::sum);
    std::vector<double> sums(context.numbers.size()), magnitudes(context.numbers.size());
    for (int j = 0; j < row.keys(); ++j) {
        const std::vector<double> products = weighted_value(row, j);
        ASSERT_EQ(products.size(), sums.size());
        for (std::size_t k = 0; k < sums.size(); ++k) {
            sums[k] += products[k];
            magnitudes[k] += std::abs(products[k]);
        }
    }
    for (std::size_t k = 0; k < sums.size(); ++k)
        EXPECT_TRUE(near(sums[k], context.numbers[k], magnitudes[k]))
            << k << ": " << sums[k] << " " << context.numbers[k];
}

/// The numbers within a softmax are the last three steps of the proofs.
void check_softmax(const Trace& trace, const RowSteps& row, std::size_t exp) {
    const RowStep& weights = row.steps[exp + 1];
    double sum = 0;
    for (int j = 0; j < row.keys(); ++j) {
        const auto k = static_cast<std::size_t>(j);
        if (row.closed[k]) continue;
        const Proof proof = explain(trace, *weights.stage, row.head, row.row, j);
        ASSERT_GE(proof.steps.size(), 3u);
        const std::span<const ProofStep> last = std::span(proof.steps).last(3);
        const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
        EXPECT_TRUE(same(row.steps[exp - 1].numbers[k], last[0].value)) << last[0].label;
        EXPECT_TRUE(same(row.steps[exp].numbers[k], last[1].value)) << last[1].label;
        EXPECT_TRUE(same(weights.numbers[k], last[2].value)) << last[2].label;
        sum += row.steps[exp].numbers[k];
    }
    if (trace.over_queries() || !row.remark.empty()) return;
    const std::string label =
        explain(trace, *weights.stage, row.head, row.row,
                static_cast<int>(std::ranges::find(row.closed, false) - row.closed.begin()))
            .steps.back()
            .label;
    EXPECT_EQ(label, "÷ row sum " + number_text(sum, 4));
}

void check_row(const Trace& trace, const Stage& weights, int head, int row_index) {
    const RowSteps row = row_steps(trace, weights, head, row_index);
    ASSERT_EQ(row.keys(), weights.shape().columns);
    for (std::size_t i = 0; i < row.steps.size(); ++i) {
        const RowStep& step = row.steps[i];
        SCOPED_TRACE(step.title);
        EXPECT_FALSE(step.title.empty());
        EXPECT_FALSE(step.sentence.empty());
        EXPECT_TRUE(step.sentence.ends_with(".")) << step.sentence;
        EXPECT_FALSE(step.formula.empty());
        EXPECT_NE(step.sentence, capitalized(step.formula) + ".") << "no sentence of its own";
        if (step.kind == Kind::products) continue;
        if (step.stage) {
            const Eigen::RowVectorXf of_stage =
                step.stage->buffer.row(std::min(head, step.stage->shape().heads - 1), row_index);
            ASSERT_EQ(step.numbers.size(), static_cast<std::size_t>(of_stage.size()));
            for (std::size_t j = 0; j < step.numbers.size(); ++j) {
                const double expected = of_stage(static_cast<Eigen::Index>(j));
                EXPECT_TRUE(step.numbers[j] == expected ||
                            (std::isnan(expected) && std::isnan(step.numbers[j])));
            }
        }
        if (step.title == "exp") check_softmax(trace, row, i);
    }
    const std::size_t last = row.steps.size() - (row.values ? 3 : 1);
    EXPECT_EQ(row.steps[last].stage, &weights);
    if (row.values) check_sum(row);
}

void check(const Trace& trace) {
    for (int layer = 1; layer <= std::max(1, layers_of(trace)); ++layer) {
        const Stage* weights = last_weights(trace, layer);
        if (!weights) continue;
        for (int head = 0; head < weights->shape().heads; ++head)
            for (int i = 0; i < weights->shape().rows; i += std::max(1, weights->shape().rows / 4)) {
                SCOPED_TRACE(std::string(weights->name()) + " head " + std::to_string(head) + " row " +
                             std::to_string(i));
                check_row(trace, *weights, head, i);
                if (testing::Test::HasFailure()) return;
            }
    }
}

TEST(RowStepsTest, OfEveryExampleTheLastStepsAreTheWeightsAndTheContext) {
    for (const std::string& name : example_names()) {
        SCOPED_TRACE(name);
        check(evaluate(load_example(name).experiment));
    }
}

TEST(RowStepsTest, OfEveryDrawnSessionToo) {
    for (const Session& session :
         {test::four_heads(), test::words_and_patches(), test::test_session("random-alignment")})
        check(evaluate(session.experiment));
    for (const test::Case& each : test::cases()) {
        SCOPED_TRACE(each.name);
        check(evaluate(each.experiment));
    }
}

TEST(RowStepsTest, OfRandomExperimentsToo) {
    int checked = 0;
    for (unsigned seed = 1; seed <= 90; ++seed) {
        SCOPED_TRACE(seed);
        test::Dice dice(seed);
        try {
            const Experiment e = seed % 3 == 0   ? test::random_seq2seq(dice)
                                 : seed % 3 == 1 ? test::random_transformer(dice)
                                                 : test::random_attention(dice);
            check(evaluate(e));
            ++checked;
        } catch (const Error&) {
        }
    }
    EXPECT_GT(checked, 40);
}

TEST(RowStepsTest, TheScoresBeforeWeightsAreTheLastOnesOfTheirLayer) {
    int found = 0;
    for (const char* example : {"scaled-dot-product", "bahdanau-alignment", "transformer-heads",
                                "learned-reverse", "valid-length"}) {
        SCOPED_TRACE(example);
        const Trace trace = evaluate(load_example(example).experiment);
        for (const StageRecord& record : trace.records) {
            const Stage& weights = *record.stage;
            const Stage* scores = scores_before(trace, weights);
            if (weights.info->role != StageRole::weights) {
                EXPECT_FALSE(scores) << weights.info->name;
                continue;
            }
            ASSERT_TRUE(scores) << weights.info->name;
            EXPECT_EQ(scores->layer, weights.layer);
            EXPECT_EQ(scores->info->role, StageRole::scores);
            // What the softmax got is the score, but for closed pairs.
            const Proof proof = explain(trace, weights, 0, 0, 0);
            ASSERT_FALSE(proof.steps.empty());
            const float score = scores->buffer.at(0, 0, 0);
            EXPECT_TRUE(std::ranges::any_of(
                proof.steps, [&](const ProofStep& step) { return static_cast<float>(step.value) == score; }));
            ++found;
        }
    }
    EXPECT_GE(found, 5) << "one of each";
}

}  // namespace
}  // namespace attnscope
