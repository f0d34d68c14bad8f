// The thread that surveys heads, and when the document asks it.
#include "app/document/surveyor.h"

#include <gtest/gtest.h>

#include "app/document/document.h"
#include "core/canceled.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "tests/drawn_sessions.h"

namespace attnscope {
namespace {

TEST(SurveyorTest, SurveysTheNewestRequest) {
    const auto trace = std::make_shared<const Trace>(evaluate(test::four_heads().experiment));
    Surveyor surveyor([] {});
    for (const int chosen : {0, 3, 2}) surveyor.request({trace, "weights"_stage, {0, chosen}});
    surveyor.wait();
    ASSERT_TRUE(surveyor.update());
    const Survey& survey = *surveyor.known();
    EXPECT_EQ(survey.problem, "");
    EXPECT_EQ(survey.of.chosen, (HeadPosition{0, 2}));
    ASSERT_EQ(survey.heads.size(), 5u) << "four heads and their mean";
    const Stage& weights = *trace->find("weights"_stage);
    for (const SurveyedHead& head : survey.heads)
        EXPECT_EQ(head.scores, head_scores(*trace, weights, head.at.head)) << head.at.head;
}

TEST(SurveyorTest, AScoreOfTheSameTraceIsNotFoundOutAgain) {
    const auto trace = std::make_shared<const Trace>(evaluate(test::four_heads().experiment));
    const Survey first = surveyed({trace, "weights"_stage, {0, 0}}, nullptr, {});
    const Survey second = surveyed({trace, "weights"_stage, {0, 1}}, &first, {});
    ASSERT_EQ(first.heads.size(), second.heads.size());
    for (std::size_t i = 0; i < first.heads.size(); ++i)
        EXPECT_EQ(first.heads[i].scores, second.heads[i].scores);
}

TEST(SurveyorTest, ACanceledSurveyReportsNothing) {
    const auto trace = std::make_shared<const Trace>(evaluate(test::four_heads().experiment));
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(surveyed({trace, "weights"_stage, {0, 0}}, nullptr, stop.get_token()), Canceled);
    Surveyor forgets([] {});
    forgets.request({trace, "weights"_stage, {0, 0}});
    forgets.forget();
    forgets.wait();
    forgets.update();
    EXPECT_FALSE(forgets.known());
}

TEST(SurveyorTest, TheDocumentAsksWhileTheViewIsOpen) {
    Document document(test::four_heads(), {}, [] {});
    document.settle();
    EXPECT_FALSE(document.survey()) << "the pipeline is open";
    document.change([](Session& s) { s.presentation.view = ViewKind::heads; });
    document.settle();
    ASSERT_TRUE(document.survey());
    EXPECT_EQ(document.survey()->of.trace, document.trace());
    document.change([](Session& s) { s.experiment.attention.heads = 2; });
    document.settle();
    EXPECT_EQ(document.survey()->of.trace, document.trace());
    EXPECT_EQ(document.survey()->heads.size(), 3u);
    document.change([](Session& s) { s.presentation.view = ViewKind::pipeline; });
    document.settle();
    EXPECT_FALSE(document.survey());
}

}  // namespace
}  // namespace attnscope
