// The scores of heads built by hand, each of which does one thing and nothing else.
#include "core/graph/head_scores.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/canceled.h"
#include "core/mechanism/evaluate.h"
#include "core/session/examples.h"
#include "tests/picture_fixture.h"

namespace attnscope {
namespace {

using namespace attnscope::test;

/// "a b a c a b": a word that comes three times, one that comes twice, one that comes once.
const std::vector<std::string> k_words{"a", "b", "a", "c", "a", "b"};

Trace of_weights(int heads, const Formula& formula, const std::vector<std::string>& words = k_words) {
    const int n = static_cast<int>(words.size());
    return make_trace(words, {make_stage(k_weights, heads, n, n, formula)});
}

std::optional<double> score(const Trace& trace, HeadScore which, int head = 0) {
    return head_scores(trace, *trace.find("weights"_stage), head)[static_cast<std::size_t>(which)];
}

TEST(HeadScoresTest, AHeadThatDoesOneThingScoresOneInIt) {
    const Trace previous =
        of_weights(1, [](int, int r, int c) { return c == std::max(0, r - 1) ? 1.f : 0.f; });
    EXPECT_EQ(score(previous, HeadScore::previous), 1);
    EXPECT_EQ(score(previous, HeadScore::entropy), 0);
    EXPECT_NEAR(*score(previous, HeadScore::uniform), 1 / 6.0, 1e-12);
    EXPECT_NEAR(*score(previous, HeadScore::first), 1 / 5.0, 1e-12) << "the second token's";
    EXPECT_NEAR(*score(previous, HeadScore::itself), 1 / 6.0, 1e-12) << "the first token's";

    const Trace first = of_weights(1, [](int, int, int c) { return c == 0 ? 1.f : 0.f; });
    EXPECT_EQ(score(first, HeadScore::first), 1);
    const Trace diagonal = of_weights(1, [](int, int r, int c) { return r == c ? 1.f : 0.f; });
    EXPECT_EQ(score(diagonal, HeadScore::itself), 1);
    EXPECT_EQ(score(diagonal, HeadScore::same), 0) << "the other places of a word";
    const Trace alike = of_weights(1, [](int, int, int) { return 1 / 6.f; });
    EXPECT_NEAR(*score(alike, HeadScore::uniform), 1, 1e-6);
    EXPECT_NEAR(*score(alike, HeadScore::entropy), std::log(6), 1e-6);
}

TEST(HeadScoresTest, TheBestPatternIsTheLargestShare) {
    HeadScores scores{};
    EXPECT_EQ(best_pattern(scores), std::nullopt);
    const auto set = [&](HeadScore which, double value) { scores[static_cast<std::size_t>(which)] = value; };
    set(HeadScore::entropy, 5);
    EXPECT_EQ(best_pattern(scores), std::nullopt) << "the entropy is no share";
    set(HeadScore::uniform, 0.3);
    EXPECT_EQ(best_pattern(scores), HeadScore::uniform);
    for (const auto& [which, name] : choices<HeadScore>())
        if (which != HeadScore::entropy) {
            set(which, 0.4 + 0.01 * static_cast<double>(which));
            EXPECT_EQ(best_pattern(scores), which) << name;
        }
}

TEST(HeadScoresTest, SameWordAndInductionAskForEarlierPlacesOfTheWord) {
    // Row 2 is the second "a": its word stands at 0, 2, 4. What followed it before is "b" at 1.
    const Trace same = of_weights(1, [](int, int r, int c) {
        return r != c && k_words[std::size_t(r)] == k_words[std::size_t(c)] ? 0.25f : 0.f;
    });
    // Rows a: two others, 0.5; rows b: one other, 0.25; row c has none, and no weight at all.
    EXPECT_NEAR(*score(same, HeadScore::same), (3 * 0.5 + 2 * 0.25) / 5, 1e-12);
    const Trace follows = of_weights(1, [](int, int r, int c) {
        const bool after_it = c > 0 && c <= r && k_words[std::size_t(c - 1)] == k_words[std::size_t(r)];
        return after_it ? 0.5f : c == 0 ? 0.1f : 0.f;
    });
    // Row 2: key 1. Row 4: keys 1 and 3. Row 5: key 2.
    EXPECT_NEAR(*score(follows, HeadScore::induction), (0.5 + 1.0 + 0.5) / 3, 1e-6);
    const Trace once = of_weights(1, [](int, int r, int c) { return r == c ? 1.f : 0.f; }, {"a", "b", "c"});
    EXPECT_EQ(score(once, HeadScore::induction), std::nullopt) << "no word comes twice";
    EXPECT_EQ(score(once, HeadScore::same), std::nullopt);
}

TEST(HeadScoresTest, PlacesHaveNoMeaningBetweenTwoSentences) {
    Trace cross =
        make_trace({"a", "b"}, {make_stage(k_weights, 1, 2, 3, [](int, int, int) { return 1 / 3.f; })});
    cross.columns = {"x", "y", "z"};
    for (const auto& [which, name] : choices<HeadScore>())
        EXPECT_EQ(score(cross, which).has_value(), !is_of_places(which)) << name;
}

TEST(HeadScoresTest, MaskedKeysAreNotCountedAndMaskedRowsHaveNoScore) {
    const StagePtr mask = make_stage(k_mask, 1, 3, 3, [](int, int r, int c) { return c < r ? 1.f : 0.f; });
    const StagePtr weights =
        make_stage(k_weights, 1, 3, 3, [](int, int r, int c) { return c < r ? 1.f / float(r) : 0.f; });
    const Trace trace = make_trace({"a", "b", "c"}, {mask, weights});
    EXPECT_NEAR(*score(trace, HeadScore::uniform), 1, 1e-6) << "the first row attends to nothing";
    EXPECT_NEAR(*score(trace, HeadScore::previous), (1 + 0.5) / 2, 1e-12);
}

TEST(HeadScoresTest, LikenessIsWhatTwoHeadsHaveInCommon) {
    const Trace trace = of_weights(3, [](int h, int r, int c) {
        if (h == 0) return r == c ? 1.f : 0.f;
        if (h == 1) return c == 0 ? 1.f : 0.f;
        return r == c ? 0.5f : c == (r + 1) % 6 ? 0.5f : 0.f;
    });
    const Stage& weights = *trace.find("weights"_stage);
    EXPECT_EQ(similarity(weights, 0, weights, 0), 1);
    EXPECT_NEAR(similarity(weights, 0, weights, 1), 1 / 6.0, 1e-6);
    EXPECT_NEAR(similarity(weights, 0, weights, 2), 0.5, 1e-6);
    EXPECT_EQ(similarity(weights, 2, weights, 1), similarity(weights, 1, weights, 2));
}

TEST(HeadScoresTest, TheSimilaritiesOfEveryPairAreThoseOfTwoHeads) {
    for (const char* example : {"transformer-heads", "learned-induction", "designed-heads", "multi-head"}) {
        const Trace trace = evaluate(load_example(example).experiment);
        const std::vector<SurveyedHead> heads = survey_heads(trace, *"weights"_stage);
        const Matrix pairs = similarities(heads);
        ASSERT_EQ(pairs.rows(), std::ssize(heads));
        ASSERT_EQ(pairs.cols(), std::ssize(heads));
        for (std::size_t i = 0; i < heads.size(); ++i)
            for (std::size_t j = 0; j < heads.size(); ++j)
                EXPECT_NEAR(pairs(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)),
                            similarity(*heads[i].stage, heads[i].at.head, *heads[j].stage, heads[j].at.head),
                            1e-6)  // the table holds floats
                    << example << ": " << i << ", " << j;
    }
    EXPECT_EQ(similarities({}).size(), 0);
}

TEST(HeadScoresTest, ASurveyHasEveryHeadOfEveryLayerAndTheirMeans) {
    const Trace trace = evaluate(load_example("learned-induction").experiment);
    const int layers = trace.experiment.transformer.layers, heads = trace.experiment.attention.heads;
    std::vector<SurveyedHead> found = survey_heads(trace, *"weights"_stage);
    EXPECT_EQ(found.size(), static_cast<std::size_t>(layers * (heads > 1 ? heads + 1 : 1)));
    double best = 0;
    for (const SurveyedHead& each : found) {
        EXPECT_EQ(each.stage->layer, each.at.layer);
        EXPECT_EQ(each.scores, head_scores(trace, *each.stage, each.at.head));
        best = std::max(best, each.scores[static_cast<std::size_t>(HeadScore::induction)].value_or(0));
    }
    EXPECT_GT(best, 0.4) << "it has learned induction";
    compare_with(found, found.back().at);
    EXPECT_NEAR(found.back().similarity, 1, 1e-5);
    EXPECT_LT(found.front().similarity, 1);
}

TEST(HeadScoresTest, IsCanceled) {
    std::stop_source cancel;
    cancel.request_stop();
    const Trace trace = of_weights(1, [](int, int, int) { return 1.f; });
    EXPECT_THROW(survey_heads(trace, *"weights"_stage, cancel.get_token()), Canceled);
}

}  // namespace
}  // namespace attnscope
