// The proof of every cell of every stage, compared with the trace and with an independent computation.
#include "core/graph/explain.h"

#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <map>

#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "core/session/examples.h"
#include "tests/core/graph/explain_cases.h"
#include "tests/fake_backend.h"
#include "tests/special_numbers.h"

namespace attnscope {
namespace {

using namespace test;

using test::cases, test::random_matrix, test::Case;

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

class ExplainTest : public testing::TestWithParam<Case> {
protected:
    ExplainTest() : trace(evaluate(GetParam().experiment)) {}

    /// Calls check(stage, head, row, column, proof) for each cell of each stage and parameter, in each head
    /// and (head −1) in the mean of several.
    template <typename Check>
    void for_each_cell(const Check& check) {
        for (const StageRecord& record : trace.records) {
            const Stage& stage = *record.stage;
            layer = stage.layer;
            for (int head = stage.shape().heads > 1 ? -1 : 0; head < stage.shape().heads; ++head)
                for (int i = 0; i < stage.shape().rows; ++i)
                    for (int j = 0; j < stage.shape().columns; ++j) {
                        SCOPED_TRACE(std::string(stage.name()) + " head " + std::to_string(head) + " cell " +
                                     std::to_string(i) + "," + std::to_string(j));
                        check(stage, head, i, j, explain(trace, stage, head, i, j));
                        if (HasFailure()) return;
                    }
        }
    }

    /// The stage of this name in the layer of the cell's stage.
    const Stage* find_named(std::string_view name) const {
        return trace.find_named(name_in_layer(layer, name));
    }
    const Stage* find(const StageInfo* info) const { return find_named(info->name); }
    static ConstMatrixView values(const Stage& stage, int head) {
        return head < 0 ? stage.buffer.mean().host().head(0) : stage.buffer.host().head(head);
    }
    /// Whether a pair is closed in a head, or (−1) in every head.
    bool closed(int head, int i, int j) const {
        const Stage& masked = *find("masked"_stage);
        int closing = 0;
        for (int h = 0; h < masked.shape().heads; ++h)
            if (head < 0 || h == head) closing += masked.buffer.at(h, i, j) == -k_infinity;
        return closing == (head < 0 ? masked.shape().heads : 1);
    }
    bool empty(int head, int i) const {
        return (values(*find("masked"_stage), head).row(i).array() == -k_infinity).all();
    }

    const Stage* bias_of(const Stage& stage) const {
        const std::map<std::string_view, const char*> names = {
            {"query", "b_q"},       {"key", "b_k"},      {"value", "b_v"},
            {"output", "b_o"},      {"logits", "b_out"}, {"feed_forward_hidden", "b_1"},
            {"feed_forward", "b_2"}};
        const auto found = names.find(stage.info->name);
        return found == names.end() ? nullptr : find_named(found->second);
    }
    /// Σ |q_a W_ac k_c|: what the roundings of q W count by; 0 for other scores.
    double general_magnitude(int head, int i, int j) const {
        const Stage* W = find("W_score"_stage);
        if (!W) return 0;
        const Eigen::RowVectorXd q = values(*find("query"_stage), head).row(i).cast<double>().cwiseAbs();
        const Eigen::VectorXd k =
            values(*find("key"_stage), head).row(j).transpose().cast<double>().cwiseAbs();
        return q * values(*W, 0).cast<double>().cwiseAbs() * k;
    }
    bool softmax_over_keys() const {
        const Experiment& e = GetParam().experiment;
        return (e.weighting.normalizer == Normalization::softmax ||
                e.weighting.normalizer == Normalization::local_m) &&
               e.attention.softmax_axis == SoftmaxAxis::keys;
    }

    Trace trace;
    int layer = 0;  ///< of the cell's stage
};

TEST_P(ExplainTest, TheValueIsTheCellsAndTheStepsEndInIt) {
    for_each_cell([&](const Stage& stage, int head, int i, int j, const Proof& proof) {
        const float value = values(stage, head)(i, j);
        EXPECT_EQ(std::bit_cast<std::uint32_t>(proof.value), std::bit_cast<std::uint32_t>(value));
        if (!proof.steps.empty()) {
            EXPECT_TRUE(same(proof.steps.back().value, value)) << proof.steps.back().value << " " << value;
        }
        for (const ProofStep& step : proof.steps) EXPECT_FALSE(step.label.empty());
    });
}

TEST_P(ExplainTest, TheTermsAddUpToTheValueOfTheStage) {
    for_each_cell([&](const Stage& stage, int head, int i, int j, const Proof& proof) {
        EXPECT_EQ(proof.terms.empty(), proof.terms_title.empty());
        if (proof.terms.empty()) return;
        const bool scores = stage.info->rows == Axis::query_token && stage.info->columns == Axis::key_token;
        const bool cosine = scores && GetParam().experiment.attention.score == Score::cosine;
        // No stage holds the q · k of a cosine.
        const float result = cosine   ? static_cast<float>(proof.terms_sum)
                             : scores ? values(*find("scores"_stage), head)(i, j)
                                      : values(stage, head)(i, j);
        EXPECT_TRUE(same(cosine ? static_cast<float>(proof.terms_result) : proof.terms_result, result));
        double sum = 0, magnitude = scores ? general_magnitude(head, i, j) : 0;
        for (const ProofTerm& term : proof.terms) {
            sum += term.product();
            magnitude += std::abs(term.product());
        }
        EXPECT_TRUE(same(sum, proof.terms_sum));
        if (const Stage* bias = scores ? nullptr : bias_of(stage)) {
            sum += bias->buffer.at(0, 0, j);
            magnitude += std::abs(bias->buffer.at(0, 0, j));
        }
        if (std::isnan(result)) {
            EXPECT_TRUE(std::isnan(sum));
            return;
        }
        // A float32 sum of n products is off by at most n roundings of 2⁻²⁴ each of Σ |product| (Higham 2002,
        // §3.1); one more for the bias.
        const double tolerance = double(proof.terms.size() + 1) * 0x1p-24 * magnitude;
        EXPECT_NEAR(sum, result, tolerance);
    });
}

TEST_P(ExplainTest, EachTermIsOfTheOperands) {
    for_each_cell([&](const Stage& stage, int head, int i, int j, const Proof& proof) {
        if (stage.info->name != "context" || head < 0) return;
        const Stage* value = find("value_heads"_stage) ? find("value_heads"_stage) : find("value"_stage);
        ASSERT_EQ(int(proof.terms.size()), value->shape().rows);
        for (int k = 0; k < value->shape().rows; ++k) {
            const ProofTerm& term = proof.terms[std::size_t(k)];
            const char* weights = find("weights_dropped"_stage) ? "weights_dropped" : "weights";
            EXPECT_TRUE(same(term.left, values(*find_named(weights), head)(i, k)));
            EXPECT_TRUE(same(term.right, values(*value, head)(k, j)));
            EXPECT_EQ(term.label, trace.label(Axis::key_token, k));
            EXPECT_EQ(term.closed, closed(head, i, k));
        }
    });
    for_each_cell([&](const Stage& stage, int head, int i, int j, const Proof& proof) {
        if (stage.info->name != "scores" || head < 0 || proof.terms.empty()) return;
        if (GetParam().experiment.attention.score != Score::dot &&
            GetParam().experiment.attention.score != Score::cosine)
            return;
        const Stage* Q = find("query_heads"_stage) ? find("query_heads"_stage) : find("query"_stage);
        const Stage* K = find("key_heads"_stage) ? find("key_heads"_stage) : find("key"_stage);
        ASSERT_EQ(int(proof.terms.size()), Q->shape().columns);
        for (int k = 0; k < Q->shape().columns; ++k) {
            EXPECT_TRUE(same(proof.terms[std::size_t(k)].left, values(*Q, head)(i, k)));
            EXPECT_TRUE(same(proof.terms[std::size_t(k)].right, values(*K, head)(j, k)));
            EXPECT_EQ(proof.terms[std::size_t(k)].label, std::to_string(k + 1));
        }
    });
}

TEST_P(ExplainTest, TheRowIsTheCellsRow) {
    for_each_cell([&](const Stage& stage, int head, int i, int, const Proof& proof) {
        ASSERT_EQ(int(proof.row.size()), stage.shape().columns);
        EXPECT_EQ(proof.row_title, trace.row_label(stage, i));
        for (int k = 0; k < stage.shape().columns; ++k) {
            const ProofBar& bar = proof.row[std::size_t(k)];
            EXPECT_TRUE(same(bar.value, values(stage, head)(i, k)));
            EXPECT_EQ(bar.label, trace.column_label(stage, k, std::max(head, 0)));
            EXPECT_EQ(bar.closed, stage.info->columns == Axis::key_token && closed(head, i, k));
        }
    });
}

TEST_P(ExplainTest, ScaledScoresShowEachStep) {
    const Experiment& e = GetParam().experiment;
    for_each_cell([&](const Stage& stage, int head, int i, int j, const Proof& proof) {
        if (stage.info->name != "scaled" || head < 0 || e.attention.score == Score::cosine) return;
        ASSERT_EQ(proof.steps.size(), 2u);
        const Stage* K = find("key_heads"_stage) ? find("key_heads"_stage) : find("key"_stage);
        const double factor = e.attention.scale.factor(K ? K->shape().columns : 1) / e.weighting.temperature;
        const double score = values(*find("scores"_stage), head)(i, j);
        EXPECT_TRUE(same(proof.steps[0].value, score));
        // factor, temperature, product and quotient are each rounded to float32
        if (std::isfinite(score)) {
            EXPECT_NEAR(proof.steps[1].value, score * factor, 4 * 0x1p-24 * std::abs(score * factor));
        }
    });
}

TEST_P(ExplainTest, WeightsAreProvedToTheSoftmax) {
    for_each_cell([&](const Stage& stage, int head, int i, int j, const Proof& proof) {
        if (stage.info->name != "weights" || head < 0 || closed(head, i, j) || !softmax_over_keys()) return;
        const auto row = values(*find("masked"_stage), head).row(i);
        if (!row.array().isFinite().cast<int>().sum() || std::isnan(proof.value)) return;
        double largest = -INFINITY, sum = 0;
        for (const float x : row) largest = std::max(largest, double(x));
        for (const float x : row) sum += std::exp(x - largest);
        const std::size_t n = proof.steps.size();
        ASSERT_GE(n, 3u);
        EXPECT_EQ(proof.steps[n - 3].value, row(j) - largest);
        EXPECT_EQ(proof.steps[n - 2].value, std::exp(row(j) - largest));
        EXPECT_EQ(proof.steps[n - 2].label, "exp");
        // In float32 the difference is rounded, which counts |difference| times after exp; then a few
        // roundings of exp and the quotient, and one for each addition of the sum. The last term is for
        // subnormal weights.
        const double roundings = std::abs(row(j) - largest) + double(row.size()) + 4;
        EXPECT_NEAR(proof.value, std::exp(row(j) - largest) / sum, roundings * 0x1p-24 * proof.value + 1e-44);
    });
}

TEST_P(ExplainTest, WeightsHaveASummaryAndNothingElseHas) {
    for_each_cell([&](const Stage& stage, int head, int i, int j, const Proof& proof) {
        ASSERT_EQ(proof.summary.has_value(), stage.info->name == "weights" || stage.info->name == "align");
        if (!proof.summary || std::isnan(proof.value)) return;
        double sum = 0, entropy = 0;
        int larger = 0;
        for (const float w : values(stage, head).row(i)) {
            sum += w;
            larger += w > proof.value;
        }
        for (const float w : values(stage, head).row(i))
            if (w > 0) entropy += double(w) / sum * std::log(sum / double(w));
        EXPECT_DOUBLE_EQ(proof.summary->sum, sum);
        // The same sum of at most some hundred terms in another order of operations.
        EXPECT_NEAR(proof.summary->entropy, entropy, 1e-12);
        EXPECT_GE(proof.summary->entropy, 0);
        EXPECT_LE(proof.summary->effective_tokens, double(stage.shape().columns) + 1e-9);
        EXPECT_EQ(proof.summary->rank, closed(head, i, j) ? 0 : larger + 1);
        const bool nothing = sum == 0;
        EXPECT_NEAR(proof.summary->effective_tokens, nothing ? 0 : std::exp(entropy), 1e-9);
        // Each weight is rounded to float32.
        const bool to_one =
            stage.info->name == "align" || (stage.info->name == "weights" && softmax_over_keys());
        if (to_one) {
            EXPECT_NEAR(sum, nothing ? 0 : 1, 1e-6);
        }
    });
}

TEST_P(ExplainTest, HeadsAreRankedByTheirWeight) {
    for_each_cell([&](const Stage& stage, int head, int i, int j, const Proof& proof) {
        if (!proof.summary) return;
        int expected = 0;
        if (stage.shape().heads > 1 && head >= 0 && !closed(head, i, j)) {
            expected = 1;
            for (int h = 0; h < stage.shape().heads; ++h) expected += values(stage, h)(i, j) > proof.value;
        }
        EXPECT_EQ(proof.summary->head_rank, expected);
    });
}

TEST_P(ExplainTest, ClosedCellsAndEmptyRowsCarryARemark) {
    for_each_cell([&](const Stage& stage, int head, int i, int j, const Proof& proof) {
        const std::string_view name = stage.info->name;
        const int h =
            std::max(head, 0);  // the mask is the same in every head, but where each predicts its own
        if (head < 0 && GetParam().experiment.weighting.normalizer == Normalization::local_p) return;
        if ((name == "weights" || name == "context") && empty(h, i)) {
            EXPECT_NE(proof.remark.find("every key is masked for this query"), std::string::npos);
            EXPECT_EQ(proof.value, 0);
        } else if ((name == "masked" || name == "weights") && closed(h, i, j)) {
            EXPECT_EQ(proof.remark.substr(0, 6), "closed") << proof.remark;
        } else if (name == "mask") {
            EXPECT_EQ(proof.remark.substr(0, 6), proof.value == 0 ? "closed" : "open: ") << proof.remark;
        } else if (name == "masked" || name == "weights" || name == "context") {
            EXPECT_EQ(proof.remark, name != "context" && !find("query"_stage) ? "from a custom matrix" : "");
        }
    });
}

TEST_P(ExplainTest, AMeanListsItsHeads) {
    for_each_cell([&](const Stage& stage, int head, int i, int j, const Proof& proof) {
        if (head >= 0) return;
        const int heads = stage.shape().heads;
        ASSERT_EQ(int(proof.steps.size()), heads + 1);
        double sum = 0;
        for (int h = 0; h < heads; ++h) {
            EXPECT_EQ(proof.steps[std::size_t(h)].label, "head " + std::to_string(h + 1));
            EXPECT_TRUE(same(proof.steps[std::size_t(h)].value, values(stage, h)(i, j)));
            sum += std::abs(proof.steps[std::size_t(h)].value);
        }
        if (std::isfinite(sum)) {
            double mean = 0;
            for (int h = 0; h < heads; ++h) mean += proof.steps[std::size_t(h)].value / heads;
            EXPECT_NEAR(proof.value, mean, (heads + 1) * 0x1p-24 * sum / heads);  // float32 additions
        }
    });
}

TEST(ExplainMeanTest, ACellOfTheMeanDoesNotFindOutAllOfIt) {
    Experiment experiment;
    experiment.attention.heads = 4;
    const Trace trace = evaluate(experiment);
    const Stage& weights = *trace.find("weights"_stage);
    const Proof proof = explain(trace, weights, -1, 1, 2);
    EXPECT_FALSE(weights.buffer.known_mean());
    EXPECT_EQ(proof.value, weights.buffer.mean().at(0, 1, 2));
    ASSERT_EQ(std::ssize(proof.row), weights.shape().columns);
    for (int j = 0; j < weights.shape().columns; ++j)
        EXPECT_EQ(proof.row[static_cast<std::size_t>(j)].value, weights.buffer.mean().at(0, 1, j));
}

INSTANTIATE_TEST_SUITE_P(experiments, ExplainTest, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name; });

Proof proof_of(const Experiment& experiment, const char* stage, int head, int row, int column) {
    const Trace trace = evaluate(experiment);
    return explain(trace, *trace.find_named(stage), head, row, column);
}

TEST(ExplainWordsTest, TheWeightOfYouOnToReadsAsInTheNotebook) {
    const Proof proof = proof_of({}, "weights", 0, 1, 4);
    std::vector<std::string> labels;
    for (const ProofStep& step : proof.steps) labels.push_back(step.label);
    EXPECT_EQ(labels,
              (std::vector<std::string>{"q · k", "÷ √16", "− row max 13.474", "exp", "÷ row sum 1.1683"}));
    EXPECT_NEAR(proof.steps[0].value, 53.8976, 5e-5);
    EXPECT_NEAR(proof.value, 0.85596, 5e-6);
    EXPECT_EQ(proof.terms.size(), 16u);
    EXPECT_EQ(proof.row_title, "you");
    EXPECT_EQ(proof.row[4].label, "to");
    EXPECT_EQ(proof.summary->rank, 1);
}

TEST(ExplainWordsTest, AMeanIsClosedOnlyWhereEveryHeadIs) {
    Experiment experiment;
    experiment.attention.heads = 4;
    experiment.weighting.normalizer = Normalization::local_p;
    experiment.weighting.local_window = 1;
    const Trace trace = evaluate(experiment);
    const Buffer& masked = trace.find("masked"_stage)->buffer;
    int somewhere = 0, everywhere = 0;
    for (int j = 0; j < masked.shape().columns; ++j) {
        int heads = 0;
        for (int h = 0; h < 4; ++h) heads += masked.at(h, 0, j) == -k_infinity;
        const Proof proof = explain(trace, *trace.find("weights"_stage), -1, 0, j);
        EXPECT_EQ(proof.row[std::size_t(j)].closed, heads == 4);
        EXPECT_EQ(proof.summary->rank == 0, heads == 4);
        somewhere += heads > 0 && heads < 4;
        everywhere += heads == 4;
    }
    EXPECT_GT(somewhere, 0);
    EXPECT_GT(everywhere, 0);
}

TEST(ExplainWordsTest, AClosedCellNamesOnlyTheRulesThatCloseIt) {
    Experiment experiment;
    experiment.weighting.mask = {{MaskForm::causal, {}}, {MaskForm::valid, {5}}};
    EXPECT_EQ(proof_of(experiment, "masked", 0, 0, 1).remark, "closed by the mask: causal");
    EXPECT_EQ(proof_of(experiment, "masked", 0, 7, 6).remark, "closed by the mask: padding");
    EXPECT_EQ(proof_of(experiment, "weights", 0, 0, 7).remark, "closed by the mask: causal + padding");
    EXPECT_EQ(proof_of(experiment, "mask", 0, 0, 7).remark, "closed by the mask: causal + padding");
}

TEST(ExplainWordsTest, AClosedKeyAddsNothingNotEvenNan) {
    Experiment experiment;
    experiment.weighting.mask = {{MaskForm::valid, {2}}};
    experiment.attention.projection = Projection::none;
    experiment.attention.scale = {Scale::Kind::none};
    Matrix value = Matrix::Ones(8, 2);
    value.bottomRows(6).setConstant(k_nan);
    experiment.weights.custom.emplace("value", CustomMatrix(value));
    const Proof proof = proof_of(experiment, "context", 0, 3, 1);
    EXPECT_NEAR(proof.terms_sum, 1, 1e-6);  // the two open weights sum to 1 in float32
    EXPECT_EQ(proof.terms[5].product(), 0);
    EXPECT_TRUE(proof.terms[5].closed);
    EXPECT_FALSE(proof.terms[1].closed);
}

TEST(ExplainWordsTest, ABiasIsAStepOfItsOwn) {
    Experiment experiment;
    experiment.weights.custom.emplace("b_q", CustomMatrix(Matrix::Constant(1, 16, 0.5f)));
    const Proof proof = proof_of(experiment, "query", 0, 2, 3);
    ASSERT_EQ(proof.steps.size(), 2u);
    EXPECT_EQ(proof.steps[1].label, "+ b_q 0.5");
    EXPECT_NEAR(proof.steps[0].value + 0.5, proof.value, 1e-6);
}

/// Zeros, and how often they were asked for.
class CountedValues : public test::LostValues {
public:
    CountedValues(const Shape& shape, std::atomic<int>& asked) : LostValues(shape), asked_(asked) {}
    void read(int, int, int count, float* rows) const override {
        ++asked_;
        std::fill_n(rows, count * shape().columns, 0.0f);
    }
    Eigen::VectorXf column(int, int) const override {
        ++asked_;
        return Eigen::VectorXf::Zero(shape().rows);
    }

private:
    std::atomic<int>& asked_;
};

TEST(ExplainCardTest, AProofAsksTheCardForAFewRowsAndColumns) {
    Experiment e;
    e.input.text.clear();
    for (int i = 0; i < 1100; ++i) e.input.text += "w ";
    e.input.dim = 64;
    for (const SoftmaxAxis axis : {SoftmaxAxis::keys, SoftmaxAxis::queries}) {
        e.attention.softmax_axis = axis;
        std::atomic<int> asked = 0;
        int all = 0;
        test::FakeBackend backend(
            [&](const Op&, const Shape& shape) { return std::make_shared<CountedValues>(shape, asked); });
        const Trace trace = evaluate(e, {}, {.backend = &backend});
        ASSERT_TRUE(trace.find("value"_stage)->buffer.is_on_device());
        for (const char* stage : {"scores", "scaled", "masked", "weights", "context"}) {
            asked = 0;
            explain(trace, *trace.find_named(stage), 0, 5, 5);
            EXPECT_LE(asked, 5) << stage;
            const int before = asked;
            all += before;
            explain(trace, *trace.find_named(stage), 0, 5, 5);
            EXPECT_EQ(asked, before) << stage << ": nothing is asked for again in the next frame";
        }
        EXPECT_GE(all, 4);
    }
}

TEST(ExplainWordsTest, StagesThatAreNotSumsSayWhereTheyComeFrom) {
    Experiment experiment;
    EXPECT_EQ(proof_of(experiment, "tokens", 0, 1, 0).remark, "“you” is row 7 of the table, counted from 0");
    EXPECT_EQ(proof_of(experiment, "embedding", 0, 1, 2).remark, "row 7 of the table E, dimension 3");
    EXPECT_EQ(proof_of(experiment, "W_q", 0, 0, 0).remark, "drawn with seed 123");
    experiment.attention.heads = 4;
    EXPECT_EQ(proof_of(experiment, "query_heads", 2, 1, 1).remark, "column 10 of Q, in head 3");
    EXPECT_EQ(proof_of(experiment, "concat", 0, 1, 9).remark, "context of head 3, column 2");
    experiment.attention.heads = 1;
    experiment.attention.projection = Projection::none;
    EXPECT_EQ(proof_of(experiment, "key", 0, 0, 0).remark, "no projection: the same as X");
    experiment.weights.custom.emplace("key", CustomMatrix(Matrix::Ones(2, 16)));
    experiment.weights.custom.emplace("value", CustomMatrix(Matrix::Ones(2, 16)));
    EXPECT_EQ(proof_of(experiment, "key", 0, 0, 0).remark, "from a custom matrix");
}

TEST(MixtureTest, OfAContextCellIsItsWholeRowInFewWords) {
    const Trace trace = evaluate(load_example("scaled-dot-product").experiment);
    const Stage& context = *trace.find("context"_stage);
    for (const int feature : {0, 7})
        EXPECT_EQ(explain(trace, context, 0, 1, feature).mixture,
                  "0.856 V(to) + 0.140 V(translate) + 6 others, 0.004");
    EXPECT_EQ(explain(trace, *trace.find("weights"_stage), 0, 1, 1).mixture, "");
    const Trace decoder = evaluate(load_example("bahdanau-alignment").experiment);
    const std::string said = explain(decoder, *decoder.find("decoder_context"_stage), 0, 0, 0).mixture;
    EXPECT_NE(said.find(" h("), std::string::npos) << said;
}

TEST(MixtureTest, SaysTheLargestWeightsAndWhatTheOthersAre) {
    const std::vector<ProofTerm> even(8, ProofTerm{"a", 0.125f, 1});
    EXPECT_EQ(mixture_text(even, "V"), "0.125 V(a) + 0.125 V(a) + 0.125 V(a) + 0.125 V(a) + 4 others, 0.500");
    EXPECT_EQ(mixture_text(std::vector<ProofTerm>{{"a", 0.99f, 1}, {"b", 1e-5f, 1}}, "V"),
              "0.990 V(a) + 1 other, < 0.001");
    EXPECT_EQ(mixture_text(std::vector<ProofTerm>{{"a", -2, 1}, {"b", 1, 1}, {"c", 5, NAN, true}}, "V"),
              "−2.00 V(a) + 1.000 V(b)");
    EXPECT_EQ(mixture_text(std::vector<ProofTerm>{{"a", 1, 1}}, "V"), "1.000 V(a)");
    EXPECT_EQ(mixture_text(std::vector<ProofTerm>{{"a", 0, 1}, {"b", NAN, 1}}, "V"), "");
}

/// The steps of a cell of each stage whose role is one of scores or weights; returns their number.
int expect_explained(const Experiment& experiment, const std::string& what) {
    int steps = 0;
    const Trace trace = evaluate(experiment);
    for (const StageRecord& record : trace.records) {
        const Stage& stage = *record.stage;
        const StageRole role = stage.info->role;
        if (role != StageRole::scores && role != StageRole::masked_scores && role != StageRole::weights)
            continue;
        const Proof proof = explain(trace, stage, 0, stage.shape().rows - 1, 0);
        for (const ProofStep& step : proof.steps) {
            EXPECT_NE(step.help, "") << what << ": " << step.label;
            ++steps;
        }
        if (proof.terms_title.empty() || role != StageRole::scores || !proof.steps.empty()) continue;
        EXPECT_NE(proof.terms_title.help, "") << what << ": " << proof.terms_title.sum;
        ++steps;
    }
    return steps;
}

TEST(StepHelpTest, EveryStepFromAScoreToAWeightIsExplained) {
    int steps = 0;
    for (const char* example : {"multi-head", "causal", "bahdanau-alignment", "learned-induction"})
        steps += expect_explained(load_example(example).experiment, example);
    for (const auto& [score, score_name] : choices<Score>())
        for (const auto& [normalizer, name] : choices<Normalization>()) {
            Experiment e = load_example("scaled-dot-product").experiment;
            e.attention.score = score;
            e.weighting.normalizer = normalizer;
            e.attention.position = Position::alibi;
            steps += expect_explained(e, std::string(score_name) + ", " + std::string(name));
        }
    EXPECT_GT(steps, 200);
}

/// The help of the last step of a cell.
std::string last_help(const Experiment& e, StageKey key, int row, int column) {
    const Trace trace = evaluate(e);
    return explain(trace, *trace.find(key), 0, row, column).steps.back().help;
}

TEST(StepHelpTest, SaysWhatTheSettingsMakeOfAStep) {
    Experiment e = load_example("scaled-dot-product").experiment;
    EXPECT_EQ(last_help(e, "scaled"_stage, 1, 4).find("temperature"), std::string::npos);
    e.weighting.temperature = 2;
    const std::string both = last_help(e, "scaled"_stage, 1, 4);
    EXPECT_TRUE(both.starts_with("Divided by √d_k")) << both;
    EXPECT_NE(both.find("divided by the temperature"), std::string::npos) << both;
    e.attention.scale.kind = Scale::Kind::none;
    EXPECT_TRUE(last_help(e, "scaled"_stage, 1, 4).starts_with("Divided by the temperature"));
    e.weighting.mask = {{MaskForm::causal, {}}};
    EXPECT_TRUE(last_help(e, "masked"_stage, 1, 4).starts_with("Closed by the mask"));
    e.weighting.mask.clear();
    Matrix scores = Matrix::Zero(8, 8);
    scores(1, 4) = -INFINITY;
    e.weights.custom.emplace("scores", CustomMatrix(scores));
    EXPECT_TRUE(last_help(e, "masked"_stage, 1, 4).starts_with("The score itself is −∞"));
}

TEST(StepHelpTest, ABiasOfOnesOwnIsNotCalledALiBi) {
    Experiment e = load_example("scaled-dot-product").experiment;
    e.weights.custom.emplace("mask_additive", CustomMatrix(Matrix::Ones(8, 8)));
    const Trace trace = evaluate(e);
    const Proof proof = explain(trace, *trace.find("weights"_stage), 0, 1, 4);
    const auto bias = std::ranges::find_if(
        proof.steps, [](const ProofStep& step) { return step.label.starts_with("+ bias"); });
    ASSERT_NE(bias, proof.steps.end());
    EXPECT_NE(bias->help, "");
    EXPECT_EQ(bias->help.find("ALiBi"), std::string::npos) << bias->help;
}

}  // namespace
}  // namespace attnscope
