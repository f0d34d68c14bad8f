// Curves over the steps of a run, and the files that show them.
#include "core/picture/curve_picture.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/export/run_curves.h"
#include "core/files/png.h"

namespace attnscope {
namespace {

/// Falls slowly, by a factor of 100 around step 60, and slowly again.
std::vector<double> sudden() {
    std::vector<double> values;
    for (int i = 0; i < 120; ++i) values.push_back((i < 60 ? 2.0 : 0.02) * std::pow(0.999, i));
    return values;
}

TEST(CurveTest, ScalesReachAroundTheValues) {
    const auto of = [](std::vector<double> loss, std::vector<double> share = {}) {
        return decades_of({{"loss", {}, true, std::move(loss)}, {"share", {}, false, std::move(share)}});
    };
    EXPECT_EQ(of({0.02, 3}, {1e-9}).low, -2) << "a share has a scale of its own";
    EXPECT_EQ(of({0.02, 3}).high, 1);
    EXPECT_EQ(of({1, 1}).high, of({1, 1}).low + 1);
    EXPECT_EQ(of({0, 0}).low, -1);
    EXPECT_EQ(decades_of({{"a", {}, true, {0.5}}, {"b", {}, true, {0.002, 30}}}).low, -3);
    EXPECT_EQ(last_step({{"a", {}, true, {0.5}}, {"b", {}, true, {0.002, 30}}}), 2);
    const Curve loss{"loss", {}, true, {}}, share{"share", {}, false, {}};
    EXPECT_DOUBLE_EQ(height_of(loss, {-2, 2}, 1), 0.5);
    EXPECT_DOUBLE_EQ(height_of(loss, {-2, 2}, 1e-9), 0);
    EXPECT_DOUBLE_EQ(height_of(share, {-2, 2}, 0.25), 0.25);
    EXPECT_DOUBLE_EQ(height_of(share, {-2, 2}, 3), 1);
}

TEST(CurveTest, OfManyStepsAPointIsAMean) {
    const Curve curve{"share", {}, false, {0, 1, 0.5, 0.5}};
    const auto all = points_of(curve, {}, 100);
    ASSERT_EQ(all.size(), 4u);
    EXPECT_DOUBLE_EQ(all[0].x, 0.25);
    EXPECT_DOUBLE_EQ(all[3].x, 1);
    const auto few = points_of(curve, {}, 2);
    ASSERT_EQ(few.size(), 2u);
    EXPECT_DOUBLE_EQ(few[0].y, 0.5);
    EXPECT_DOUBLE_EQ(few[1].y, 0.5);
}

TEST(CurveTest, StepsAreWrittenAtRoundNumbers) {
    EXPECT_EQ(step_ticks(3), (std::vector<int>{0, 1, 2, 3}));
    EXPECT_EQ(step_ticks(640), (std::vector<int>{0, 100, 200, 300, 400, 500, 600}));
    EXPECT_EQ(step_ticks(1000).size(), 6u);
}

TEST(CurveTest, TheSteepestFallIsWhereSomethingIsLearned) {
    const auto fall = steepest_fall(sudden());
    ASSERT_TRUE(fall);
    EXPECT_NEAR(*fall, 60, 1);
    std::vector<double> slow;
    for (int i = 0; i < 200; ++i) slow.push_back(std::pow(0.995, i));
    EXPECT_FALSE(steepest_fall(slow));
    EXPECT_FALSE(steepest_fall({1, 0.1, 0.01}));
}

TEST(RunCurvesTest, ARowOfTheTableForEachStep) {
    const Experiment start = task_experiment(TaskKind::induction);
    const std::vector<StepRecord> records = {{2.5, 0.25, 1, {0.5f, 0.25f, 0, 1}},
                                             {1.25, 0.5, 2, {0.5f, 0.25f, 0, 1}}};
    const Course course{start, records};
    EXPECT_EQ(curve_format_of("a.csv")->bytes({&course, 1}, ThemeKind::dark),
              "step,loss,accuracy,gradient norm,layer 1 head 1,layer 1 head 2,layer 2 head 1,layer 2 head 2\n"
              "1,2.5,0.25,1,0.5,0.25,0,1\n"
              "2,1.25,0.5,2,0.5,0.25,0,1\n");
    EXPECT_EQ(curve_format_of("a.txt"), nullptr);
    EXPECT_EQ(curve_format_of("csv"), nullptr);
}

TEST(RunCurvesTest, ARunBesideHasColumnsOfItsOwn) {
    const Experiment start = task_experiment(TaskKind::translate);
    const std::vector<Course> courses{{start, {{2, 0.25, 1, {0.5f}}, {1, 0.5, 1, {0.75f}}}},
                                      {start, {{4, 0.125, 2, {}}}, "no attention"}};
    EXPECT_EQ(curve_format_of("a.csv")->bytes(courses, ThemeKind::dark),
              "step,loss,accuracy,gradient norm,alignment,no attention: loss,no attention: accuracy,no "
              "attention: gradient norm\n"
              "1,2,0.25,1,0.5,4,0.125,2\n"
              "2,1,0.5,1,0.75,,,\n");
    const std::string both = curve_format_of("a.svg")->bytes(courses, ThemeKind::dark),
                      alone = curve_format_of("a.svg")->bytes(std::span(courses).first(1), ThemeKind::dark);
    EXPECT_NE(both.find("stroke-dasharray"), std::string::npos);
    EXPECT_EQ(alone.find("stroke-dasharray"), std::string::npos);
}

TEST(RunCurvesTest, EveryPictureIsAFileOfItsKindAndTheSameEachTime) {
    const Experiment start = task_experiment(TaskKind::translate);
    std::vector<StepRecord> records;
    for (const double loss : sudden())
        records.push_back({loss, 1 - loss / 4, 1, {static_cast<float>(1 - loss / 3)}});
    const auto bytes = [&](const char* file) {
        const Course course{start, records};
        return curve_format_of(file)->bytes({&course, 1}, ThemeKind::print);
    };
    EXPECT_TRUE(bytes("a.svg").starts_with("<?xml"));
    EXPECT_NE(bytes("a.svg").find("Training: translate"), std::string::npos);
    EXPECT_TRUE(bytes("a.pdf").starts_with("%PDF"));
    EXPECT_TRUE(bytes("a.png").starts_with("\x89PNG"));
    for (const char* file : {"a.svg", "a.pdf", "a.png"}) EXPECT_EQ(bytes(file), bytes(file)) << file;
}

}  // namespace
}  // namespace attnscope
