// The questions of learners: each session shows what its text says.
#include "core/session/questions.h"

#include "core/graph/explain.h"
#include "core/graph/head_scores.h"
#include "core/graph/row_steps.h"
#include "core/number_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "core/picture/difference.h"
#include "core/picture/shown_matrix.h"
#include "core/session/comparisons.h"
#include "core/session/examples.h"
#include "core/session/session.h"
#include "core/session/sweep.h"

namespace attnscope {
namespace {

const Question& about(std::string_view part) {
    for (const Question& question : questions())
        if (question.text.find(part) != question.text.npos) return question;
    ADD_FAILURE() << part;
    return questions().front();
}

std::shared_ptr<const Trace> traced(const Experiment& e) {
    return std::make_shared<const Trace>(evaluate(e));
}

struct Compared {
    Matrix a, b;
};
Compared weights_of(std::string_view part) {
    const Session session = answer(about(part));
    EXPECT_TRUE(session.pinned);
    return {evaluate(session.pinned->experiment).find("weights"_stage)->buffer.host().head(0),
            evaluate(session.experiment).find("weights"_stage)->buffer.host().head(0)};
}

TEST(QuestionsTest, AreTwelveEachWithASessionThatComputesAndANote) {
    EXPECT_EQ(questions().size(), 12u);
    std::set<std::string_view> texts;
    for (const Question& question : questions()) {
        SCOPED_TRACE(question.text);
        EXPECT_TRUE(texts.insert(question.text).second);
        EXPECT_TRUE(question.text.ends_with("?"));
        const Session session = answer(question);
        EXPECT_EQ(session.note, std::string(question.text) + " " + std::string(question.look));
        const Trace trace = evaluate(session.experiment);
        const Stage* stage = trace.find_chosen(session.presentation.stage);
        ASSERT_TRUE(stage);
        if (session.presentation.locked) {
            const Stage& locked = *trace.find_chosen(session.presentation.locked_stage());
            EXPECT_LT(session.presentation.locked->row, locked.shape().rows);
            EXPECT_LT(session.presentation.locked->column, locked.shape().columns);
        }
        EXPECT_EQ(session_from_json(to_json(session), "answer"), session) << "it is a session like any other";
    }
}

TEST(QuestionsTest, WhatIsComparedDiffersInTheWeights) {
    int comparisons = 0;
    for (const Question& question : questions()) {
        if (question.preset.empty()) continue;
        SCOPED_TRACE(question.text);
        const Session session = answer(question);
        ASSERT_TRUE(session.pinned);
        EXPECT_EQ(session.presentation.view, ViewKind::compare);
        const auto found =
            difference({traced(session.pinned->experiment), session.pinned->head, 1},
                       {traced(session.experiment), session.presentation.head, 1}, "weights"_stage);
        ASSERT_TRUE(found);
        EXPECT_TRUE(found->facts.differs());
        ++comparisons;
    }
    EXPECT_EQ(comparisons, 4);
}

/// docs/questions.md.
std::string page() {
    std::string text =
        "# Questions\n\nWhat learners ask, and where the program shows it: Help lists these questions, "
        "Ctrl+P finds them by any word, and "
        "`attnscope --question N` opens one. Generated from the table in `core/session/questions.cpp`; the "
        "pictures are the "
        "window's own: `ATTNSCOPE_UPDATE=1 build/release/bin/attnscope_tests "
        "--gtest_filter='QuestionsWindow*'` "
        "makes them.\n";
    int number = 0;
    for (const Question& question : questions()) {
        text += fmt::format("\n## {}. {}\n\n{}\n", ++number, question.text, question.look);
        text += fmt::format("\n![The window that answers it](figures/question-{}.png)\n", number);
    }
    return text;
}

TEST(QuestionsTest, ThePageOfQuestionsIsMadeFromTheTable) {
    const std::string file = ATTNSCOPE_SOURCE_DIR "/docs/questions.md";
    if (std::getenv("ATTNSCOPE_UPDATE")) std::ofstream(file) << page();
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    EXPECT_EQ(text.str(), page()) << "run this test with ATTNSCOPE_UPDATE=1";
}

// What the texts claim.

TEST(QuestionsTest, WithoutScalingEveryRowIsSharper) {
    const Compared weights = weights_of("√d_k");
    for (Eigen::Index i = 0; i < weights.b.rows(); ++i) {
        EXPECT_GT(weights.b.row(i).maxCoeff(), weights.a.row(i).maxCoeff() + 0.2f);
        EXPECT_LT(weights.a.row(i).maxCoeff(), 0.7f);
    }
}

TEST(QuestionsTest, TheFutureGetsNoWeightAndEachRowStillSumsToOne) {
    const Compared weights = weights_of("future");
    for (Eigen::Index i = 0; i < weights.b.rows(); ++i) {
        EXPECT_NEAR(weights.b.row(i).sum(), 1, 1e-5);
        for (Eigen::Index j = i + 1; j < weights.b.cols(); ++j) EXPECT_EQ(weights.b(i, j), 0);
    }
}

TEST(QuestionsTest, ARowsSoftmaxIsShownStepByStep) {
    const Question& question = *std::ranges::find_if(
        questions(), [](const Question& each) { return each.text.find("softmax turn") != each.text.npos; });
    const Session session = answer(question);
    ASSERT_EQ(session.presentation.view, ViewKind::step);
    const Trace trace = evaluate(session.experiment);
    const RowSteps row = row_steps(trace, *last_weights(trace, 1), 0, session.presentation.locked->row);
    EXPECT_EQ(trace.rows[static_cast<std::size_t>(row.row)], "you");
    std::vector<std::string> titles;
    for (const RowStep& step : row.steps) titles.push_back(step.title);
    for (const char* step : {"− row max", "exp", "weights"})
        EXPECT_NE(std::ranges::find(titles, step), titles.end()) << step;
}

TEST(QuestionsTest, TheOutputOfToIsAMixtureOfTwoValues) {
    const Session session = answer(questions()[7]);
    const Trace trace = evaluate(session.experiment);
    const Cell cell = *session.presentation.locked;
    const Proof proof = explain(trace, *trace.find("context"_stage), 0, cell.row, cell.column);
    EXPECT_TRUE(proof.mixture.starts_with("0.550 V(translate) + 0.449 V(to)")) << proof.mixture;
}

TEST(QuestionsTest, AdditiveScoresGiveMoreEvenWeights) {
    const Compared weights = weights_of("additive");
    EXPECT_LT(weights.b.rowwise().maxCoeff().mean(), weights.a.rowwise().maxCoeff().mean());
}

TEST(QuestionsTest, EachDesignedHeadAsksForWhatTheTextSays) {
    const Trace trace = evaluate(answer(about("two heads")).experiment);
    const Stage& weights = *trace.find("weights"_stage);
    const auto asks = [&](int head, const std::string& query, const std::string& key) {
        const auto place = [](const std::vector<std::string>& words, const std::string& word) {
            return std::ranges::find(words, word) - words.begin();
        };
        Eigen::Index most = 0;
        weights.buffer.host().head(head).row(place(trace.rows, query)).maxCoeff(&most);
        EXPECT_EQ(trace.columns[static_cast<std::size_t>(most)], key) << "head " << head + 1 << ", " << query;
    };
    asks(0, "it", "cat");
    asks(1, "black", "cat");
    asks(2, "cross", "cat");
    EXPECT_EQ(best_pattern(head_scores(trace, weights, 3)), HeadScore::previous);
    EXPECT_GT(*head_scores(trace, weights, 4)[static_cast<std::size_t>(HeadScore::same)], 0.4)
        << "“The” and “the” are one word";
}

TEST(QuestionsTest, PaddingGetsNoWeight) {
    const Compared weights = weights_of("padding");
    const Eigen::Index half = weights.b.cols() / 2;
    EXPECT_EQ(weights.b.rightCols(half).cwiseAbs().maxCoeff(), 0);
    EXPECT_GT(weights.a.rightCols(half).maxCoeff(), 0);
}

/// The weights at each value of the question's sweep.
std::map<std::string, Matrix> swept_weights(const Question& question, int count) {
    std::map<std::string, Matrix> weights;
    const Session session = answer(question);
    for (const SweepStep& step : sweep_steps(session, session.presentation.sweep, count))
        weights.emplace(step.value,
                        evaluate(step.session.experiment).find("weights"_stage)->buffer.host().head(0));
    return weights;
}

/// The text says the number, rounded as it is there.
void expect_says(const Question& question, const std::string& number) {
    EXPECT_NE(question.look.find(number), question.look.npos) << number << ": " << question.look;
}

TEST(QuestionsTest, TheNumbersInTheTextsAreThoseOfTheirSessions) {
    expect_says(questions()[0], "question 6 asks what that means");
    EXPECT_NE(questions()[5].text.find("artifact of the seed"), std::string_view::npos);
    expect_says(about("additive"), "trained (question 11), B is as sharp");
    EXPECT_EQ(questions()[10].example, "bahdanau-alignment") << "whose scores are additive and trained";
    const Trace trace = evaluate(answer(questions()[1]).experiment);
    const Matrix weights = trace.find("weights"_stage)->buffer.host().head(0);
    const Matrix scaled = trace.find("scaled"_stage)->buffer.host().head(0);
    const double below = double{scaled(1, 4)} - double{scaled(1, 5)};
    expect_says(questions()[0], fmt::format("“to”: {:.3f}", weights(1, 4)));
    const Matrix scores = trace.find("scores"_stage)->buffer.host().head(0);
    int same_sign = 0;
    for (int k = 0; k < 16; ++k)
        same_sign +=
            trace.find("query"_stage)->buffer.at(0, 1, k) * trace.find("key"_stage)->buffer.at(0, 4, k) > 0;
    expect_says(questions()[1], fmt::format("in {} of 16 features", same_sign));
    expect_says(questions()[1], fmt::format("add up to {:.1f}. Divided by √d_k that is {:.1f}, {:.2f} more",
                                            scores(1, 4), scaled(1, 4), below));
    expect_says(questions()[1], fmt::format("exp({:.2f}) = {:.1f} times", below, std::exp(below)));
    const Session divided = answer(questions()[2]);
    const Trace with = evaluate(divided.pinned->experiment), without = evaluate(divided.experiment);
    const auto lead = [](const Trace& of) {
        const Stage& scores_of = *of.find("scaled"_stage);
        return scores_of.buffer.at(0, 1, 7) - scores_of.buffer.at(0, 1, 3);
    };
    expect_says(questions()[2],
                fmt::format("by {:.2f} instead of {:.2f}, and gets {:.3f} instead of {:.3f}.", lead(without),
                            lead(with), without.find("weights"_stage)->buffer.at(0, 1, 7),
                            with.find("weights"_stage)->buffer.at(0, 1, 7)));
    // The spread of one product of q and k over all pairs, and of their sum.
    const auto spreads = [](const Trace& of) {
        const Matrix q = of.find("query"_stage)->buffer.host().head(0),
                     k = of.find("key"_stage)->buffer.host().head(0);
        const auto deviation = [](const std::vector<double>& values) {
            double sum = 0, squares = 0;
            for (const double value : values) {
                sum += value;
                squares += value * value;
            }
            const auto count = static_cast<double>(values.size());
            return std::sqrt(squares / count - sum / count * (sum / count));
        };
        std::vector<double> products, sums;
        for (Eigen::Index i = 0; i < q.rows(); ++i)
            for (Eigen::Index j = 0; j < k.rows(); ++j) {
                sums.push_back(0);
                for (Eigen::Index f = 0; f < q.cols(); ++f) {
                    products.push_back(double{q(i, f)} * double{k(j, f)});
                    sums.back() += products.back();
                }
            }
        return std::pair(deviation(products), deviation(sums));
    };
    const auto [product, sum_of_products] = spreads(with);
    expect_says(questions()[2], fmt::format("deviation of {:.2f}, the sum {:.2f}, divided {:.2f}.", product,
                                            sum_of_products, sum_of_products / 4));
    EXPECT_NEAR(sum_of_products / product, std::sqrt(16), 0.4) << "“grows like √d_k”";
    Experiment wide = divided.experiment;
    wide.input.dim = 64;
    const auto [product_64, sum_64] = spreads(evaluate(wide));
    EXPECT_NEAR(sum_64 / product_64, std::sqrt(64), 0.4) << "“grows like √d_k”";
    // “The larger d_k, the more one word takes all”, without dividing: the mean of each row's largest weight.
    const auto largest = [](Experiment of, int dim) {
        double mean_of_seeds = 0;
        constexpr int k_draws = 32;
        of.input.dim = dim;
        for (int seed = 0; seed < k_draws; ++seed) {
            of.weights.seed = Seed(seed);
            const Matrix drawn = evaluate(of).find("weights"_stage)->buffer.host().head(0);
            mean_of_seeds += double{drawn.rowwise().maxCoeff().mean()} / k_draws;
        }
        return mean_of_seeds;
    };
    EXPECT_GT(largest(divided.experiment, 64), largest(divided.experiment, 16));
    EXPECT_GT(largest(divided.experiment, 256), largest(divided.experiment, 64));
    Experiment uniform = divided.pinned->experiment;
    uniform.attention.projection = Projection::uniform;
    EXPECT_GT(evaluate(uniform).find("weights"_stage)->buffer.host().head(0).rowwise().maxCoeff().mean(),
              without.find("weights"_stage)->buffer.host().head(0).rowwise().maxCoeff().mean() - 0.1f)
        << "“with large ones A is as sharp as B”";
    const Trace designed = evaluate(answer(questions()[4]).experiment);
    const Buffer& head_scores = designed.find("scaled"_stage)->buffer;
    const Buffer& head_weights = designed.find("weights"_stage)->buffer;
    expect_says(questions()[4], fmt::format("(“it” → “cat”: {:.3f})", head_weights.at(0, 9, 2)));
    for (const int head : {1, 2})
        for (int key = 0; key < 12; ++key) EXPECT_FLOAT_EQ(head_weights.at(head, 9, key), 1.f / 12);
    expect_says(questions()[4], fmt::format("temperature, {},", designed.experiment.weighting.temperature));
    for (const int head : {3, 4})
        EXPECT_GT(head_scores.row(head, 9).maxCoeff(), head_scores.at(head, 9, 2) + 5)
            << "“in 4 and 5 another word scores higher”";
    const Compared causal = weights_of("future"), additive = weights_of("additive"),
                   padding = weights_of("padding");
    const float open = causal.a.row(3).head(4).sum();
    expect_says(questions()[3],
                fmt::format("{:.3f} together, and each becomes {:.2f} times as large", open, 1 / open));
    for (int j = 0; j < 4; ++j) EXPECT_NEAR(causal.b(3, j), causal.a(3, j) / open, 1e-5);
    expect_says(about("additive"), fmt::format("so “you” gives “to” {:.3f}.", additive.a(1, 4)));
    expect_says(about("additive"),
                fmt::format("“this” first ({:.3f}), “to” last", additive.b.row(1).maxCoeff()));
    EXPECT_EQ(additive.b(1, 6), additive.b.row(1).maxCoeff());
    EXPECT_EQ(additive.b(1, 4), additive.b.row(1).minCoeff());
    expect_says(about("padding"),
                fmt::format("gives the padding tokens {:.3f}", padding.a.row(2).tail(4).sum()));
    const Cell of_to = *answer(questions()[7]).presentation.locked;
    const Buffer& value = trace.find("value"_stage)->buffer;
    expect_says(questions()[7],
                fmt::format("{:.3f} times the value of “to” plus {:.3f} times that of “translate”",
                            weights(4, 4), weights(4, 5)));
    expect_says(questions()[7], fmt::format("Feature {}, outlined, is added up at the bottom: "
                                            "−{:.3f} − {:.3f} = −{:.3f}.",
                                            of_to.column + 1, -weights(4, 4) * value.at(0, 4, of_to.column),
                                            -weights(4, 5) * value.at(0, 5, of_to.column),
                                            -trace.find("context"_stage)->buffer.at(0, 4, of_to.column)));
    expect_says(
        questions()[6],
        fmt::format("{:.2f} below the maximum: exp(−{:.2f}) = {:.3f}, and {:.3f} ÷ {:.2f} = {:.3f}", below,
                    below, std::exp(-below), std::exp(-below), 1 / weights(1, 4), weights(1, 5)));
    const Session dot_and_additive = answer(about("additive"));
    const auto range = [](const Experiment& e) {
        const Matrix scaled_scores = evaluate(e).find("scaled"_stage)->buffer.host().head(0);
        return std::pair(-scaled_scores.minCoeff(), scaled_scores.maxCoeff());
    };
    const auto [dot_low, dot_high] = range(dot_and_additive.pinned->experiment);
    const auto [additive_low, additive_high] = range(dot_and_additive.experiment);
    expect_says(about("additive"), fmt::format("here −{:.1f} to {:.1f}, so", dot_low, dot_high));
    expect_says(about("additive"), fmt::format("(here −{:.1f} to {:.1f}, pale", additive_low, additive_high));
    const Trace of_additive = evaluate(dot_and_additive.experiment);
    expect_says(about("additive"),
                fmt::format("Σ|v_a| = {:.2f}",
                            of_additive.find("v_a"_stage)->buffer.host().head(0).cwiseAbs().sum()));
    constexpr int k_seeds = 32;
    double sum = 0, squares = 0;
    Matrix all = Matrix::Zero(8, 8);
    for (const auto& [seed, of_seed] : swept_weights(questions()[5], k_seeds)) {
        sum += double{of_seed(2, 4)};
        squares += double{of_seed(2, 4)} * double{of_seed(2, 4)};
        all += of_seed / k_seeds;
    }
    const double mean = sum / k_seeds;
    expect_says(questions()[5],
                fmt::format("with {:.3f} here, over {} seeds with {:.3f} ± {:.3f}", weights(2, 4), k_seeds,
                            mean, std::sqrt(squares / k_seeds - mean * mean)));
    const float elsewhere = (all.sum() - all.diagonal().sum()) / static_cast<float>(8 * 7);
    expect_says(questions()[5], fmt::format("a word gives itself {:.3f}, another one {:.3f} (",
                                            all.diagonal().mean(), elsewhere));
    int above = 0;
    for (const auto& [seed, of_seed] : swept_weights(questions()[5], k_seeds)) above += of_seed(2, 4) > 0.4f;
    expect_says(questions()[5], fmt::format("in only {} of them with more than 0.4", above));
    const Trace sixth = evaluate(answer(questions()[5]).experiment);
    for (const StageKey& weights_of : {StageKey{"W_q"_stage}, StageKey{"W_k"_stage}})
        EXPECT_GE(sixth.find(weights_of)->buffer.host().head(0).minCoeff(), 0) << "“all positive”";
    // “A word's query and key mostly have a positive product”: of all words of all seeds.
    int same_way = 0, words = 0;
    const Session sixth_session = answer(questions()[5]);
    for (const SweepStep& step : sweep_steps(sixth_session, sixth_session.presentation.sweep, k_seeds)) {
        const Trace of_seed = evaluate(step.session.experiment);
        const Matrix q = of_seed.find("query"_stage)->buffer.host().head(0),
                     k = of_seed.find("key"_stage)->buffer.host().head(0);
        for (Eigen::Index i = 0; i < q.rows(); ++i, ++words) same_way += q.row(i).dot(k.row(i)) > 0;
    }
    EXPECT_GT(same_way, words * 4 / 5);
    // Both follow the sum of its embedding: their sums, to which every feature adds, correlate with it.
    const auto sums_of = [&](const StageInfo* stage) -> Eigen::VectorXd {
        const Eigen::VectorXd sums = sixth.find(stage)->buffer.host().head(0).cast<double>().rowwise().sum();
        return (sums.array() - sums.mean()).matrix().normalized();
    };
    for (const StageInfo* stage : {"query"_stage, "key"_stage})
        EXPECT_GT(sums_of(stage).dot(sums_of("embedding"_stage)), 0.9) << "a correlation";
    // “In most small pictures one or two columns win, but not always the same”: three rows in four attend
    // most to them.
    int won = 0, taken = 0;
    std::set<Eigen::Index> winners;
    for (const auto& [seed, of_seed] : swept_weights(questions()[5], k_seeds)) {
        Eigen::Index winner = 0;
        std::vector<int> rows(static_cast<std::size_t>(of_seed.cols()));  // that attend most to each key
        for (Eigen::Index i = 0; i < of_seed.rows(); ++i) {
            Eigen::Index most = 0;
            of_seed.row(i).maxCoeff(&most);
            ++rows[static_cast<std::size_t>(most)];
        }
        std::ranges::sort(rows, std::greater{});
        taken += 4 * (rows[0] + rows[1]) >= 3 * of_seed.rows();
        if (of_seed.colwise().mean().maxCoeff(&winner) < 0.4) continue;  // evenly it would be 0.125
        ++won;
        winners.insert(winner);
    }
    EXPECT_GT(taken, k_seeds / 2);
    EXPECT_GT(won, k_seeds / 2);
    EXPECT_GE(winners.size(), 5u);
    Matrix beside = all;
    beside.diagonal().setZero();
    EXPECT_LT(beside.maxCoeff(), all.diagonal().mean());
}

TEST(QuestionsTest, NoirReadsBlack) {
    const Session session = answer(questions()[10]);
    const Trace trace = evaluate(session.experiment);
    const Cell cell = *session.presentation.locked;
    EXPECT_NE(trace.label(Axis::query_token, cell.row).find("→noir"), std::string::npos);
    EXPECT_EQ(trace.label(Axis::key_token, cell.column), "black");
    Eigen::Index most = 0;
    trace.find("alignment"_stage)->buffer.host().head(0).row(cell.row).maxCoeff(&most);
    EXPECT_EQ(most, cell.column);
    const auto read = [&](int step) {
        Eigen::Index word = 0;
        trace.find("alignment"_stage)->buffer.host().head(0).row(step).maxCoeff(&word);
        return trace.label(Axis::query_token, step) + " " +
               trace.label(Axis::key_token, static_cast<int>(word));
    };
    std::string all;
    for (int step = 0; step < trace.find("alignment"_stage)->shape().rows; ++step) all += read(step) + "\n";
    EXPECT_NE(all.find("→le cat\n"), std::string::npos) << all;
    EXPECT_NE(all.find("→chat cat\n"), std::string::npos) << all;
    EXPECT_NE(all.find("→une house\n"), std::string::npos) << all;
}

TEST(QuestionsTest, WhatComesFromASeedFadesInTheMean) {
    const auto weights = swept_weights(questions()[5], 9);
    ASSERT_EQ(weights.size(), 9U);
    Matrix sum = Matrix::Zero(8, 8);
    float least_maximum = 1;
    for (const auto& [seed, of_seed] : weights) {
        sum += of_seed;
        least_maximum = std::min(least_maximum, of_seed.maxCoeff());
    }
    EXPECT_LT((sum / 9).maxCoeff(), least_maximum);
}

TEST(QuestionsTest, HardGivesEachRowToOneWordAndLocalMLooksAtAWindow) {
    const auto weights = swept_weights(questions()[11], 9);
    const Question& question = questions()[11];
    const auto of_to = [&](const char* name) { return weights.at(name)(1, 4); };
    expect_says(question, fmt::format("“you” gives “to” {:.2f}, at", of_to("softmax")));
    EXPECT_EQ(of_to("hard"), 1);
    expect_says(question, fmt::format("a few (“to” {:.2f}).", of_to("sparsemax")));
    EXPECT_EQ(of_to("local-m"), 0);
    expect_says(question, fmt::format("(“me” to {:.2f}), so the row sums to {:.2f}.",
                                      weights.at("local-p")(1, 3), weights.at("local-p").row(1).sum()));
    for (Eigen::Index i = 0; i < 8; ++i) {
        EXPECT_EQ((weights.at("softmax").row(i).array() > 0).count(), 8);
        EXPECT_EQ((weights.at("hard").row(i).array() > 0).count(), 1);
        EXPECT_LT((weights.at("sparsemax").row(i).array() > 0).count(), 8);
        EXPECT_LT(weights.at("local-p").row(i).sum(), 1 + 1e-6f);
        for (Eigen::Index j = 0; j < 8; ++j)
            EXPECT_TRUE(std::abs(i - j) <= 2 || weights.at("local-m")(i, j) == 0) << i << ", " << j;
    }
}

}  // namespace
}  // namespace attnscope
