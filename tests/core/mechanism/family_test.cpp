// Properties of every attention mechanism, checked over thousands of experiments with fixed seeds.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "core/error.h"
#include "core/graph/formula.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "core/random/generator.h"

namespace attnscope {
namespace {

Matrix random_matrix(int rows, int columns, std::int64_t seed, double deviation = 1) {
    Matrix matrix(rows, columns);
    Generator generator(seed);
    generator.normal({matrix.data(), static_cast<std::size_t>(matrix.size())}, 0, deviation);
    return matrix;
}

ConstMatrixView values(const Trace& trace, const char* stage, int head = 0) {
    return trace.find_named(stage)->buffer.host().head(head);
}

/// Experiments of every kind that fit together, the same in every run.
class Draws {
public:
    explicit Draws(unsigned seed) : random_(seed) {}

    template <typename... Values>
    auto pick(Values... values) {
        const std::array options{values...};
        return options[random_() % options.size()];
    }
    int whole(int low, int high) {
        return low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1));
    }

    Experiment experiment() {
        Experiment e;
        e.input.text = sentence(whole(1, 7));
        if (whole(0, 2) == 0) e.input.text2 = sentence(whole(1, 6));
        e.weights.seed = whole(0, 1'000'000);
        e.attention.heads = pick(1, 1, 2, 4);
        e.input.dim = e.attention.heads * 2 * whole(1, 4);
        e.attention.projection = pick(Projection::none, Projection::uniform, Projection::normal,
                                      Projection::linear, Projection::xavier, Projection::mha);
        e.attention.projection_bias = whole(0, 1);
        e.attention.score =
            pick(Score::dot, Score::general, Score::additive, Score::concat, Score::cosine, Score::location);
        e.attention.scale = pick(Scale{}, Scale{Scale::Kind::none}, Scale{Scale::Kind::number, 0.3});
        e.attention.position = pick(Position::none, Position::sinusoidal, Position::rope, Position::alibi);
        e.attention.rope_layout = pick(RopeLayout::interleaved, RopeLayout::half);
        e.weighting.normalizer = pick(Normalization::softmax, Normalization::softmax, Normalization::hard,
                                      Normalization::local_m, Normalization::local_p);
        e.attention.softmax_axis = pick(SoftmaxAxis::keys, SoftmaxAxis::keys, SoftmaxAxis::queries);
        e.weighting.local_window = whole(1, 6) / 2.0;
        e.weighting.temperature = pick(1.0, 0.2, 5.0);
        e.attention.sharpening = pick(1.0, 6.0);
        e.weighting.hidden = whole(1, 5);
        for (int rules = whole(0, 2); rules > 0; --rules) e.weighting.mask.push_back(rule());
        e.attention.output_projection = whole(0, 1);
        e.attention.block = pick(Block::none, Block::none, Block::post_norm, Block::pre_norm);
        return e;
    }

private:
    std::string sentence(int words) {
        std::string text;
        for (int i = 0; i < words; ++i) text += "w" + std::to_string(whole(0, 9)) + " ";
        return text;
    }
    MaskRule rule() {
        switch (whole(0, 2)) {
            case 0: return {MaskForm::causal, {}};
            case 1: return {MaskForm::valid, {whole(0, 6)}};
            default: return {MaskForm::window, {whole(0, 2), whole(0, 2)}};
        }
    }
    std::mt19937 random_;
};

TEST(FamilyTest, RowsSumToOneOrToNothingAndMaskedWeightsAreExactlyZero) {
    Draws draws(1);
    for (int n = 0; n < 3000; ++n) {
        const Experiment e = draws.experiment();
        const Trace trace = evaluate(e);
        const Stage& weights = *trace.find("weights"_stage);
        const bool over_queries = e.attention.softmax_axis == SoftmaxAxis::queries &&
                                  e.weighting.normalizer == Normalization::softmax;
        for (int h = 0; h < e.attention.heads; ++h) {
            const ConstMatrixView masked = values(trace, "masked", h);
            const Matrix A = over_queries ? Matrix(values(trace, "weights", h).transpose())
                                          : Matrix(values(trace, "weights", h));
            const Matrix S = over_queries ? Matrix(masked.transpose()) : Matrix(masked);
            for (Eigen::Index i = 0; i < A.rows(); ++i) {
                bool open = false;
                for (Eigen::Index j = 0; j < A.cols(); ++j) {
                    const bool closed = S(i, j) == -INFINITY;
                    open = open || !closed;
                    if (closed) {
                        ASSERT_EQ(A(i, j), 0) << n;
                        ASSERT_FALSE(std::signbit(A(i, j))) << n;
                    }
                }
                const double sum = A.row(i).cast<double>().sum();
                if (!open)
                    ASSERT_EQ(sum, 0) << n;
                else if (e.weighting.normalizer ==
                         Normalization::local_p)  // the Gaussian factor is at most 1
                    ASSERT_LE(sum, 1 + 1e-6) << n;
                else
                    ASSERT_NEAR(sum, 1, 1e-6) << n;  // each of at most 7 weights is rounded to float32
            }
        }
        for (const float weight : weights.buffer.host().values())
            ASSERT_TRUE(weight >= 0 && weight <= 1) << n;
    }
}

Experiment custom_scores(const Matrix& scores) {
    Experiment e;
    e.attention.scale = {Scale::Kind::none};
    e.weights.custom.emplace("scores", CustomMatrix(scores));
    return e;
}

TEST(FamilyTest, AddingAConstantToARowOfScoresChangesNothing) {
    for (int n = 0; n < 1000; ++n) {
        // Eighths add up without rounding, so that nothing may change at all.
        Matrix scores = (random_matrix(4, 6, n) * 8).array().round() / 8;
        Experiment e = custom_scores(scores);
        e.weighting.normalizer = n % 2 ? Normalization::hard : Normalization::softmax;
        e.weighting.mask = {{MaskForm::window, {2, 1}}};
        const Matrix before = values(evaluate(e), "weights");
        scores.row(n % 4).array() += static_cast<float>(n % 17) - 8;
        e.weights.custom.clear();
        e.weights.custom.emplace("scores", CustomMatrix(scores));
        ASSERT_EQ(before, Matrix(values(evaluate(e), "weights"))) << n;
    }
}

TEST(FamilyTest, PermutingKeysAndValuesTogetherChangesOnlyTheColumns) {
    Draws draws(2);
    for (int n = 0; n < 1000; ++n) {
        const int N = draws.whole(1, 5), M = draws.whole(2, 6), d = 4;
        Experiment e;
        e.input.dim = d;
        e.attention.score =
            draws.pick(Score::dot, Score::general, Score::additive, Score::concat, Score::cosine);
        e.weighting.temperature = draws.pick(1.0, 0.5);
        e.weights.custom.emplace("query", CustomMatrix(random_matrix(N, d, n)));
        const Matrix K = random_matrix(M, d, n + 1), V = random_matrix(M, 3, n + 2);
        Eigen::PermutationMatrix<Eigen::Dynamic> turn(M);
        turn.setIdentity();
        for (int j = 0; j < M; ++j) std::swap(turn.indices()[j], turn.indices()[draws.whole(0, M - 1)]);
        Experiment permuted = e;
        e.weights.custom.emplace("key", CustomMatrix(K));
        e.weights.custom.emplace("value", CustomMatrix(V));
        permuted.weights.custom.emplace("key", CustomMatrix(turn * K));
        permuted.weights.custom.emplace("value", CustomMatrix(turn * V));
        const Trace a = evaluate(e), b = evaluate(permuted);
        const Matrix expected = values(a, "weights") * turn.transpose();
        // Vectorised products and sums group otherwise: a few roundings of numbers up to 1.
        ASSERT_LE((expected - values(b, "weights")).cwiseAbs().maxCoeff(), 2e-6) << n;
        ASSERT_LE((values(a, "context") - values(b, "context")).cwiseAbs().maxCoeff(), 1e-5) << n;
    }
}

TEST(FamilyTest, DotIsGeneralWithTheIdentityBetween) {
    for (int n = 0; n < 300; ++n) {
        Experiment e;
        e.weights.seed = n;
        e.attention.projection = Projection::xavier;
        const Trace dot = evaluate(e);
        e.attention.score = Score::general;
        e.weights.custom.emplace("W_score", CustomMatrix(Matrix::Identity(16, 16)));
        ASSERT_EQ(Matrix(values(dot, "scores")), Matrix(values(evaluate(e), "scores"))) << n;
    }
}

TEST(FamilyTest, SeveralHeadsAreSingleHeadsOnTheirOwnColumns) {
    Draws draws(3);
    for (int n = 0; n < 300; ++n) {
        Experiment e = draws.experiment();
        e.attention.block = Block::none;
        e.attention.score = Score::dot;
        e.attention.position = Position::none;
        e.weighting.normalizer = Normalization::softmax;
        e.attention.output_projection = false;
        const Trace whole = evaluate(e);
        for (int h = 0; h < e.attention.heads; ++h) {
            Experiment one = e;
            one.attention.heads = 1;
            one.input.text2.clear();
            for (const auto& [name, stage] :
                 {std::pair("query", "query_heads"), std::pair("key", "key_heads"),
                  std::pair("value", "value_heads")})
                one.weights.custom.emplace(
                    name, CustomMatrix(values(whole, e.attention.heads > 1 ? stage : name, h)));
            const Trace alone = evaluate(one);
            // A head's memory starts at another address, by which vectorised sums group: the tolerance of
            // float32 results against the reference.
            for (const char* stage : {"weights", "context"}) {
                const ConstMatrixView expected = values(whole, stage, h);
                const float m = std::max(1.0f, expected.cwiseAbs().maxCoeff());
                ASSERT_LE((values(alone, stage) - expected).cwiseAbs().maxCoeff(), 2e-6f * m) << n << stage;
            }
        }
    }
}

TEST(FamilyTest, ATemperatureNearNothingIsHard) {
    for (int n = 0; n < 500; ++n) {
        Experiment e = custom_scores(random_matrix(5, 6, n));
        e.weighting.mask = {{MaskForm::causal, {}}};
        Experiment hard = e;
        hard.weighting.normalizer = Normalization::hard;
        e.weighting.temperature = 1e-8;
        ASSERT_EQ(Matrix(values(evaluate(e), "weights")), Matrix(values(evaluate(hard), "weights"))) << n;
    }
}

TEST(FamilyTest, OfEqualScoresHardTakesTheFirst) {
    Experiment e = custom_scores(Matrix::Zero(3, 4));
    e.weighting.normalizer = Normalization::hard;
    Matrix open = Matrix::Ones(3, 4);
    open(1, 0) = 0;
    open.row(2).setZero();
    e.weights.custom.emplace("mask", CustomMatrix(open));
    Matrix expected = Matrix::Zero(3, 4);
    expected(0, 0) = expected(1, 1) = 1;
    EXPECT_EQ(Matrix(values(evaluate(e), "weights")), expected);
}

TEST(FamilyTest, EnormousScoresGiveNoNan) {
    Draws draws(4);
    for (int n = 0; n < 500; ++n) {
        Experiment e = custom_scores(random_matrix(5, 6, n, 5000).cwiseMin(10000).cwiseMax(-10000));
        e.weighting.normalizer =
            draws.pick(Normalization::softmax, Normalization::hard, Normalization::local_m);
        e.attention.softmax_axis = draws.pick(SoftmaxAxis::keys, SoftmaxAxis::queries);
        if (draws.whole(0, 1)) e.weighting.mask = {{MaskForm::causal, {}}};
        const Trace trace = evaluate(e);
        for (const float weight : trace.find("weights"_stage)->buffer.host().values())
            ASSERT_TRUE(std::isfinite(weight)) << n;
    }
}

TEST(FamilyTest, OneTokenOneDimensionOneHeadWorkForEveryScoreAndNormalizer) {
    for (const Score score :
         {Score::dot, Score::general, Score::additive, Score::concat, Score::cosine, Score::location})
        for (const Normalization normalizer :
             {Normalization::softmax, Normalization::hard, Normalization::local_m, Normalization::local_p})
            for (const Position position : {Position::none, Position::sinusoidal, Position::alibi}) {
                Experiment e;
                e.input.text = "Hello";
                e.input.dim = 1;
                e.weighting.hidden = 1;
                e.attention.score = score;
                e.weighting.normalizer = normalizer;
                e.attention.position = position;
                const Trace trace = evaluate(e);
                EXPECT_EQ(values(trace, "weights").size(), 1);
                // Whatever the score, one key has weight 1, except under the Gaussian factor of local-p.
                if (e.weighting.normalizer != Normalization::local_p) {
                    EXPECT_EQ(values(trace, "weights")(0, 0), 1) << name_of(score);
                }
            }
}

TEST(FamilyTest, ANanInAQueryStaysInItsRowAndMaskedKeysContributeNothing) {
    for (const Score score :
         {Score::dot, Score::general, Score::additive, Score::concat, Score::cosine, Score::location}) {
        Experiment e;
        e.attention.projection = Projection::none;
        e.attention.score = score;
        e.weighting.mask = {{MaskForm::valid, {4}}};
        Matrix Q = random_matrix(5, 16, 1), K = random_matrix(6, 16, 2), V = random_matrix(6, 3, 3);
        Q(2, 5) = NAN;
        K.bottomRows(2).setConstant(NAN);
        V.bottomRows(2).setConstant(NAN);
        e.weights.custom.emplace("query", CustomMatrix(Q));
        e.weights.custom.emplace("key", CustomMatrix(K));
        e.weights.custom.emplace("value", CustomMatrix(V));
        const Trace trace = evaluate(e);
        const ConstMatrixView context = values(trace, "context");
        for (int i = 0; i < 5; ++i)
            for (int c = 0; c < 3; ++c) EXPECT_EQ(std::isnan(context(i, c)), i == 2) << name_of(score) << i;
    }
}

TEST(FamilyTest, DropoutKeepsItsShareAndEvaluationLeavesTheWeightsAlone) {
    Experiment e;
    e.input.text.clear();
    for (int i = 0; i < 60; ++i) e.input.text += "w" + std::to_string(i) + " ";
    e.attention.dropout = 0.3;
    const Trace trace = evaluate(e);
    double kept = 0;
    for (const float cell : trace.find("dropout_keep"_stage)->buffer.host().values()) kept += cell;
    EXPECT_NEAR(kept / 3600, 0.7, 0.03);  // four standard deviations of 3600 draws
    const ConstMatrixView A = values(trace, "weights"), dropped = values(trace, "weights_dropped"),
                          keep = values(trace, "dropout_keep");
    for (int i = 0; i < 60; ++i)
        for (int j = 0; j < 60; ++j)
            ASSERT_EQ(dropped(i, j), keep(i, j) == 0 ? 0 : A(i, j) / static_cast<float>(1 - 0.3));
    e.attention.training = false;
    const Trace evaluated = evaluate(e, trace);
    EXPECT_EQ(evaluated.find("weights_dropped"_stage), nullptr);
    EXPECT_EQ(evaluated.find("weights"_stage), trace.find("weights"_stage));
}

TEST(FamilyTest, ASecondSentenceGivesTheKeysAndOneVocabularyHoldsBoth) {
    Experiment e;
    e.input.text = "a b c";
    e.input.text2 = "c d";
    const Trace trace = evaluate(e);
    EXPECT_EQ(trace.rows, (std::vector<std::string>{"a", "b", "c"}));
    EXPECT_EQ(trace.columns, (std::vector<std::string>{"c", "d"}));
    EXPECT_EQ(trace.table, (std::vector<std::string>{"a", "b", "c", "d"}));
    EXPECT_EQ(Matrix(values(trace, "embedding").row(2)), Matrix(values(trace, "embedding_kv").row(0)));
    EXPECT_EQ(trace.find("weights"_stage)->shape().rows, 3);
    EXPECT_EQ(trace.find("weights"_stage)->shape().columns, 2);
}

TEST(FamilyTest, ShapesThatDoNotFitAreRefusedWithBoth) {
    const auto refusal = [](const Experiment& e) {
        try {
            evaluate(e);
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::bad_input);
            return std::string(error.what());
        }
        return std::string();
    };
    Experiment mask;
    mask.weights.custom.emplace("mask", CustomMatrix(Matrix::Ones(3, 8)));
    EXPECT_EQ(refusal(mask), "mask is 3 × 8, but must be 8 × 8");
    Experiment bias;
    bias.weights.custom.emplace("mask_additive", CustomMatrix(Matrix::Ones(8, 9)));
    EXPECT_EQ(refusal(bias), "mask_additive is 8 × 9, but must be 8 × 8");
    Experiment weight;
    weight.attention.score = Score::additive;
    weight.weights.custom.emplace("W_aq", CustomMatrix(Matrix::Ones(4, 16)));
    EXPECT_EQ(refusal(weight), "W_aq is 4 × 16, but must be 8 × 16");
    Experiment odd;
    odd.input.dim = 3;
    odd.attention.position = Position::rope;
    EXPECT_NE(refusal(odd).find("even"), std::string::npos);
    Experiment narrow;
    narrow.weighting.normalizer = Normalization::local_p;
    narrow.weighting.local_window = 0;
    EXPECT_EQ(refusal(narrow), "local-window 0 is too narrow for local-p: use 0.001 or more");
    narrow.weighting.local_window = 1e-30;  // a float32 does not hold its square
    EXPECT_EQ(refusal(narrow), "local-window 1e-30 is too narrow for local-p: use 0.001 or more");
    for (const double beyond : {-0.5, 4096.5, std::numeric_limits<double>::quiet_NaN()}) {
        narrow.weighting.local_window = beyond;
        EXPECT_NE(refusal(narrow).find(" is out of range: use 0 to 4096"), std::string::npos) << beyond;
    }
    Experiment scores = custom_scores(Matrix::Ones(2, 2));
    scores.attention.block = Block::post_norm;
    EXPECT_NE(refusal(scores).find("block post-norm needs an embedding"), std::string::npos);
    Experiment fewer;  // queries than the embedding has rows
    fewer.attention.block = Block::pre_norm;
    fewer.weights.custom.insert_or_assign("query", CustomMatrix(Matrix::Ones(3, 16)));
    EXPECT_EQ(refusal(fewer), "context is 3 × 16, but must be 8 × 16 to be added to the embedding");
}

TEST(FamilyTest, AWindowMayReachAFractionFar) {
    Experiment e;
    e.weighting.normalizer = Normalization::local_m;
    e.weighting.local_window = 1.5;
    const Trace near = evaluate(e);
    e.weighting.local_window = 1;
    EXPECT_EQ(near.find("mask"_stage)->buffer.host().head(0),
              evaluate(e).find("mask"_stage)->buffer.host().head(0));
    e.weighting.normalizer = Normalization::local_p;
    e.weighting.local_window = 1.5;
    const Trace trace = evaluate(e);
    const auto matrix = [&](const char* stage) { return trace.find_named(stage)->buffer.host().head(0); };
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) {
            const double distance = j - static_cast<double>(matrix("center")(i, 0));
            EXPECT_EQ(matrix("mask")(i, j), std::abs(distance) <= 1.5) << i << " " << j;
            EXPECT_FLOAT_EQ(matrix("gauss")(i, j), std::exp(-distance * distance / (2 * 0.75 * 0.75)));
        }
    EXPECT_EQ(formula(trace, *trace.find("mask"_stage)), "open where |j − p| ≤ 1.5");
    EXPECT_EQ(formula(trace, *trace.find("gauss"_stage)), "exp( −(j − p)² ÷ 2(D ÷ 2)² ), D = 1.5");
    e.mechanism = MechanismKind::seq2seq;
    const Trace aligned = evaluate(e);
    EXPECT_EQ(formula(aligned, *aligned.find("alignment_gauss"_stage)),
              "exp( −(j − p)² ÷ 2(D ÷ 2)² ), D = 1.5");
}

}  // namespace
}  // namespace attnscope
