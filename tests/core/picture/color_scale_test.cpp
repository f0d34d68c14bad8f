#include "core/picture/color_scale.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/mechanism/evaluate.h"
#include "core/session/examples.h"
#include "core/session/options.h"
#include "tests/picture_fixture.h"

namespace attnscope {
namespace {

using namespace test;

Presentation with_range(RangeChoice range) {
    Presentation presentation;
    presentation.range = range;
    return presentation;
}

TEST(ColorScaleTest, TheTableIsCutIntoEqualPartsAndItsEndsHoldWhatLiesBeyond) {
    const ColorScale scale{&colormap_of(ColormapKind::viridis), -1, 3};
    EXPECT_EQ(scale.index(-1), 0);
    EXPECT_EQ(scale.index(3), 255);
    EXPECT_EQ(scale.index(1), 128);
    EXPECT_EQ(scale.index(-1 + 4 / 256.0 * 7.5), 7);
    EXPECT_EQ(scale.index(-50), 0);
    EXPECT_EQ(scale.index(1e30), 255);
    EXPECT_EQ(scale.index(k_infinity), 255);
    EXPECT_EQ(scale.index(-k_infinity), 0);
    EXPECT_EQ(scale.index(std::nan("")), 0);
    EXPECT_EQ(scale.color(3), scale.map->colors[255]);
}

TEST(ColorScaleTest, ComparingWithTheFirstValuesFindsTheEntryOfEveryFloatAroundAnEdge) {
    const struct {
        double min, max;
        ColorSpacing spacing = ColorSpacing::linear;
    } ranges[] = {{0, 1},
                  {-85.3, 85.3},
                  {-1e-7, 1e-7},
                  {1e6, 1e6 + 1},
                  {-3e38, 3e38},
                  {0, 0.1},
                  {0, 1e-42},
                  {-1e300, 1e300},
                  {1e-4, 1, ColorSpacing::log},
                  {3.7e-9, 3.7e-5, ColorSpacing::log},
                  {-85.3, 85.3, ColorSpacing::log},
                  {-1e-7, 1e-7, ColorSpacing::log},
                  {-3e38, 3e38, ColorSpacing::log}};
    for (const auto& range : ranges) {
        const ColorScale scale{&colormap_of(ColormapKind::viridis), range.min, range.max, range.spacing};
        const std::array<float, 256> first = scale.first_values();
        const auto by_comparing = [&](float value) {
            const auto above = std::upper_bound(first.begin() + 1, first.end(), value);
            return static_cast<int>(above - first.begin()) - 1;
        };
        for (int i = 0; i <= 256; ++i) {
            const auto edge = static_cast<float>(scale.value_at(i / 256.0));
            for (const float value :
                 {std::nextafter(edge, -k_infinity), edge, std::nextafter(edge, k_infinity)})
                ASSERT_EQ(by_comparing(value), scale.index(value))
                    << range.min << " … " << range.max << ": " << i;
        }
    }
}

TEST(ColorScaleTest, ManyValuesAtOnceGetTheEntriesThatEachGets) {
    std::vector<float> values = {0, -0.0f, NAN, k_infinity, -k_infinity, 3e38f, -3e38f, 1e-40f};
    for (int i = -600; i <= 600; ++i) values.push_back(static_cast<float>(i) / 256);
    for (const ColorScale& scale :
         {ColorScale{&diverging_colormap(), -1, 1}, ColorScale{&diverging_colormap(), 0.1, 0.7},
          ColorScale{&diverging_colormap(), -1, 1, ColorSpacing::log},
          ColorScale{&diverging_colormap(), 1e-4, 1, ColorSpacing::log}}) {
        std::vector<std::uint8_t> entries(values.size());
        scale.index_all(values, entries);
        for (std::size_t i = 0; i < values.size(); ++i)
            ASSERT_EQ(int{entries[i]}, scale.index(values[i])) << values[i] << " on " << scale.min;
    }
}

TEST(ColorScaleTest, WeightsRunFromZeroToTheLargestOfTheMatrix) {
    const StagePtr weights =
        make_stage(k_weights, 2, 2, 2, [](int h, int r, int c) { return 0.1f * (h + 1) + 0.1f * (r + c); });
    const Trace trace = make_trace(words(2), {weights});
    const ColorScale matrix = color_scale(trace, *weights, k_first, with_range({RangeChoice::Kind::matrix}));
    EXPECT_EQ(matrix.map->name, "viridis");
    EXPECT_EQ(matrix.min, 0);
    EXPECT_FLOAT_EQ(static_cast<float>(matrix.max), 0.3f);
    const ColorScale all = color_scale(trace, *weights, k_first, with_range({RangeChoice::Kind::all}));
    EXPECT_FLOAT_EQ(static_cast<float>(all.max), 0.4f);
    const ColorScale mean = color_scale(trace, *weights, k_mean, with_range({RangeChoice::Kind::matrix}));
    EXPECT_FLOAT_EQ(static_cast<float>(mean.max), 0.35f);
}

TEST(ColorScaleTest, ByTheLogarithmEachDecadeIsAsWide) {
    const ColorScale weights{&colormap_of(ColormapKind::viridis), 1e-4, 1, ColorSpacing::log};
    const double decades[] = {1e-4, 1e-3, 1e-2, 0.1, 1};
    for (int i = 0; i <= 4; ++i) {
        EXPECT_NEAR(weights.position(decades[i]), i / 4.0, 1e-12);
        EXPECT_NEAR(weights.value_at(i / 4.0), decades[i], 1e-12);
    }
    EXPECT_EQ(weights.index(0), 0);
    EXPECT_EQ(weights.index(1e-9), 0);
    const ColorScale scores{&diverging_colormap(), -50, 50, ColorSpacing::log};
    EXPECT_EQ(scores.position(0), 0.5);
    EXPECT_DOUBLE_EQ(scores.position(50), 1);
    EXPECT_DOUBLE_EQ(scores.position(-50), 0);
    EXPECT_DOUBLE_EQ(scores.position(3) - 0.5, 0.5 - scores.position(-3));
    EXPECT_NEAR(scores.position(50) - scores.position(5), scores.position(5) - scores.position(0.5), 1e-3);
}

TEST(ColorScaleTest, AutoIsOneRangeForWeightsOfFewKeysElseThatOfAllHeads) {
    for (const int keys : {8, k_few_keys, k_few_keys + 1}) {
        const StagePtr weights = make_stage(
            k_weights, 2, 2, keys, [](int h, int, int j) { return h == 1 && j == 2 ? 0.25f : 0.125f; });
        const Trace trace = make_trace({}, {weights});
        const Presentation chosen = with_range({});
        const ColorScale scale = color_scale(trace, *weights, {HeadChoice::Kind::one, 0}, chosen);
        EXPECT_EQ(scale.min, 0);
        EXPECT_EQ(scale.max, keys <= k_few_keys ? 1 : 0.25) << keys;
        EXPECT_EQ(range_caption(*weights, {}, chosen), keys <= k_few_keys ? "0 … 1" : "all heads");
    }
    const StagePtr scores =
        make_stage(k_scores, 2, 2, 3, [](int h, int, int) { return h == 0 ? 1.0f : -7.0f; });
    const ColorScale scale = color_scale(make_trace({}, {scores}), *scores, k_first, with_range({}));
    EXPECT_EQ(scale.min, -7);
    EXPECT_EQ(scale.max, 7);
}

TEST(ColorScaleTest, PercentilesLeaveOutTheOutliers) {
    const StagePtr scores = make_stage(k_scores, 1, 20, 10, [](int, int i, int j) {
        const int number = 10 * i + j + 1;  // 1 … 200
        return number == 1 ? -k_infinity : number == 34 ? std::nanf("") : static_cast<float>(number);
    });
    // Of 198 finite values, 2 … 200 without 34, the nearest ranks of 1 % and 99 % are the 2nd and the 197th.
    const auto& [low, high] = scores->buffer.percentiles(0);
    EXPECT_EQ(low, 3);
    EXPECT_EQ(high, 199);
    const ColorScale scale =
        color_scale(make_trace({}, {scores}), *scores, k_first, with_range({RangeChoice::Kind::percentile}));
    EXPECT_EQ(scale.max, 199);
    EXPECT_EQ(scale.min, -199);
    const StagePtr nothing = make_stage(k_scores, 1, 2, 2, [](int, int, int) { return std::nanf(""); });
    EXPECT_EQ(nothing->buffer.percentiles(0), (std::pair{0.0f, 0.0f}));
}

/// The 99th percentile of the means of blocks of a side's 2^level, by the nearest rank.
float high_of_means(const ConstMatrixView& values, int level) {
    std::vector<float> means;
    const Eigen::Index side = Eigen::Index{1} << level;
    for (Eigen::Index i = 0; i < values.rows(); i += side)
        for (Eigen::Index j = 0; j < values.cols(); j += side)
            means.push_back(
                values.block(i, j, std::min(side, values.rows() - i), std::min(side, values.cols() - j))
                    .mean());
    std::ranges::sort(means);
    return means[static_cast<std::size_t>(std::ceil(0.99 * static_cast<double>(means.size()))) - 1];
}

TEST(ColorScaleTest, APictureOfMeansHasTheirOwnPercentiles) {
    Experiment e;
    e.input.text.clear();
    for (int i = 0; i < 70; ++i) e.input.text += "w" + std::to_string(i) + " ";
    const Trace whole = evaluate(e),
                trace = evaluate(e, {}, {.on_demand = {.most_cells = 0, .kept_cells = 400}});
    const Stage& weights = *trace.find("weights"_stage);
    ASSERT_TRUE(weights.buffer.on_demand());
    Presentation presentation;
    const double strongest = color_scale(trace, weights, k_first, presentation).max;
    presentation.pooling = Pool::mean;
    EXPECT_FALSE(known_color_scale(trace, weights, k_first, presentation));
    const double of_means = color_scale(trace, weights, k_first, presentation).max;
    EXPECT_TRUE(known_color_scale(trace, weights, k_first, presentation));
    const float expected = high_of_means(whole.find("weights"_stage)->buffer.head(0),
                                         weights.buffer.on_demand()->first_kept_level());
    EXPECT_NEAR(of_means, expected, 1e-6 * expected) << "sums in another order";
    EXPECT_LT(of_means, strongest / 2);
    // Nothing is pooled in a matrix in memory.
    EXPECT_EQ(color_scale(whole, *whole.find("weights"_stage), k_first, presentation).max,
              color_scale(whole, *whole.find("weights"_stage), k_first, {}).max);
}

TEST(ColorScaleTest, IsKnownOnceTheFactsAreThatItNeeds) {
    using Kind = RangeChoice::Kind;
    Experiment e;
    e.attention.heads = 2;
    for (const HeadChoice head : {HeadChoice{HeadChoice::Kind::mean}, HeadChoice{HeadChoice::Kind::one, 1}})
        for (const Kind kind : {Kind::matrix, Kind::head, Kind::all, Kind::percentile}) {
            const Trace trace = evaluate(e);
            const Stage& scaled = *trace.find("scaled"_stage);
            const Presentation p = with_range({kind});
            SCOPED_TRACE(range_text({kind}) + (head.kind == HeadChoice::Kind::mean ? ", mean" : ", head 2"));
            EXPECT_FALSE(known_color_scale(trace, scaled, head, p));
            const ColorScale scale = color_scale(trace, scaled, head, p);
            const std::optional<ColorScale> known = known_color_scale(trace, scaled, head, p);
            ASSERT_TRUE(known);
            EXPECT_EQ(known->min, scale.min);
            EXPECT_EQ(known->max, scale.max);
        }
    const Trace trace = evaluate(e);
    const Stage &weights = *trace.find("weights"_stage), &mask = *trace.find("mask"_stage);
    EXPECT_TRUE(known_color_scale(trace, weights, k_first, with_range({Kind::automatic})));
    EXPECT_TRUE(known_color_scale(trace, weights, k_first, with_range({Kind::fixed, 0, 2})));
    EXPECT_TRUE(known_color_scale(trace, mask, k_first, with_range({Kind::percentile})));
}

TEST(ColorScaleTest, EveryRangeAndSpacingGivesEveryStageAScale) {
    using Kind = RangeChoice::Kind;
    for (const char* name :
         {"scaled-dot-product", "causal", "multi-head", "encoder-decoder", "transformer-heads"}) {
        const Trace trace = evaluate(load_example(name).experiment);
        for (const StageRecord& record : trace.records)
            for (const RangeChoice& range :
                 {RangeChoice{Kind::automatic}, RangeChoice{Kind::matrix}, RangeChoice{Kind::head},
                  RangeChoice{Kind::all}, RangeChoice{Kind::percentile}, RangeChoice{Kind::fixed, -1, 2}})
                for (const auto& [spacing, spacing_name] : choices<ColorSpacing>()) {
                    Presentation p = with_range(range);
                    p.spacing = spacing;
                    const ColorScale scale = color_scale(trace, *record.stage, {HeadChoice::Kind::one, 0}, p);
                    const std::string where =
                        fmt::format("{} {} {}", name, record.stage->name(), spacing_name);
                    ASSERT_LT(scale.min, scale.max) << where;
                    ASSERT_TRUE(std::isfinite(scale.min) && std::isfinite(scale.max)) << where;
                    const bool fits = scale.min > 0 || scale.min == -scale.max;
                    ASSERT_TRUE(scale.spacing == ColorSpacing::linear || fits) << where;
                    EXPECT_EQ(scale.index(scale.max), 255) << where;
                    EXPECT_EQ(scale.index(scale.min), 0) << where;
                    EXPECT_FALSE(range_caption(*record.stage, {HeadChoice::Kind::one, 0}, p).empty());
                }
    }
}

TEST(ColorScaleTest, SignedValuesAreCenteredOnZeroWhateverTheColorMap) {
    const StagePtr scores = make_stage(k_scores, 1, 1, 3, [](int, int, int c) { return 4.f * c - 6; });
    const Trace trace = make_trace(words(3), {scores});
    Presentation presentation;
    presentation.colormap = ColormapKind::magma;
    const ColorScale scale = color_scale(trace, *scores, k_first, presentation);
    EXPECT_EQ(scale.map, &diverging_colormap());
    EXPECT_EQ(scale.min, -6);
    EXPECT_EQ(scale.max, 6);
    EXPECT_EQ(scale.color(0), rgb8(0xe6e6e8));
}

TEST(ColorScaleTest, TheScoresOfAHeadShareTheirRangeWhenAskedForTheHead) {
    const auto times = [](float factor) {
        return [factor](int h, int r, int c) { return factor * static_cast<float>((h + 1) * (r + c)); };
    };
    const StagePtr scores = make_stage(k_scores, 2, 2, 2, times(4));
    const StagePtr scaled = make_stage(*"scaled"_stage, 2, 2, 2, times(1));
    const StagePtr masked = make_stage(
        k_masked, 2, 2, 2, [&](int h, int r, int c) { return c > r ? -k_infinity : times(1)(h, r, c); });
    const StagePtr weights = make_stage(k_weights, 2, 2, 2, times(0.1f));
    const Trace trace = make_trace(words(2), {scores, scaled, masked, weights});
    const RangeChoice head{RangeChoice::Kind::head};
    EXPECT_EQ(color_scale(trace, *scaled, k_first, with_range(head)).max, 8);
    EXPECT_EQ(color_scale(trace, *masked, k_second, with_range(head)).max, 16);
    EXPECT_EQ(color_scale(trace, *scaled, k_first, with_range({RangeChoice::Kind::matrix})).max, 2);
    EXPECT_FLOAT_EQ(static_cast<float>(color_scale(trace, *weights, k_first, with_range(head)).max), 0.2f);
}

TEST(ColorScaleTest, AFixedRangeIsTakenAsItIsAndWidenedOnADivergingMap) {
    const StagePtr weights = make_stage(k_weights, 1, 1, 1, [](int, int, int) { return 0.5f; });
    const StagePtr scores = make_stage(k_scores, 1, 1, 1, [](int, int, int) { return 0.5f; });
    const Trace trace = make_trace(words(1), {weights, scores});
    const Presentation fixed = with_range({RangeChoice::Kind::fixed, -2, 5});
    EXPECT_EQ(color_scale(trace, *weights, k_first, fixed).min, -2);
    EXPECT_EQ(color_scale(trace, *weights, k_first, fixed).max, 5);
    EXPECT_EQ(color_scale(trace, *scores, k_first, fixed).min, -5);
    EXPECT_EQ(color_scale(trace, *scores, k_first, fixed).max, 5);
    for (const RangeChoice range :
         {RangeChoice{RangeChoice::Kind::fixed, 1, 1}, RangeChoice{RangeChoice::Kind::fixed, 2, 1},
          RangeChoice{RangeChoice::Kind::fixed, std::nan(""), 1},
          RangeChoice{RangeChoice::Kind::fixed, 0, k_infinity}}) {
        EXPECT_THROW(color_scale(trace, *weights, k_first, with_range(range)), Error);
    }
}

TEST(ColorScaleTest, NothingToMeasureStillGivesAScaleWithAWidth) {
    for (const StageInfo* info : {&k_scores, &k_weights, &k_tokens, &k_mask}) {
        for (const float value : {0.f, 7.f, -7.f, 1e-45f, 3.4e38f, std::nanf(""), k_infinity, -k_infinity}) {
            const StagePtr stage = make_stage(*info, 1, 2, 2, [&](int, int, int) { return value; });
            const Trace trace = make_trace(words(2), {stage});
            const ColorScale scale = color_scale(trace, *stage, k_first, Presentation());
            EXPECT_LT(scale.min, scale.max) << info->name << " " << value;
            EXPECT_TRUE(std::isfinite(scale.max - scale.min)) << info->name << " " << value;
            if (info->unit == Unit::real) {
                EXPECT_EQ(scale.color(0), rgb8(0xe6e6e8)) << value;
            }
        }
    }
}

TEST(ColorScaleTest, AMaskIsDrawnFromZeroToOne) {
    const StagePtr mask = make_stage(k_mask, 1, 2, 2, [](int, int, int) { return 1.f; });
    const Trace trace = make_trace(words(2), {mask});
    const ColorScale scale = color_scale(trace, *mask, k_second, Presentation());
    EXPECT_EQ(scale.min, 0);
    EXPECT_EQ(scale.max, 1);
}

TEST(ColorScaleTest, AnUnknownHeadIsRefusedWithWhatThereIs) {
    const StagePtr weights = make_stage(k_weights, 2, 1, 1, [](int, int, int) { return 1.f; });
    const Trace trace = make_trace(words(1), {weights});
    const Presentation presentation = with_range({RangeChoice::Kind::matrix});
    const auto message = [&](HeadChoice head) -> std::string {
        try {
            color_scale(trace, *weights, head, presentation);
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::bad_input);
            return error.what();
        }
        return "nothing thrown";
    };
    EXPECT_EQ(message({HeadChoice::Kind::one, 2}), "stage \"weights\" has no head 3: choose one from 1 to 2");
    EXPECT_NE(message({HeadChoice::Kind::all, 0}).find("one head or the mean"), std::string::npos);
}

}  // namespace
}  // namespace attnscope
