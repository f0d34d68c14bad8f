#include "core/picture/color_scale.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
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
    } ranges[] = {{0, 1},        {-85.3, 85.3}, {-1e-7, 1e-7}, {1e6, 1e6 + 1},
                  {-3e38, 3e38}, {0, 0.1},      {0, 1e-42},    {-1e300, 1e300}};
    for (const auto& range : ranges) {
        const ColorScale scale{&colormap_of(ColormapKind::viridis), range.min, range.max};
        const std::array<float, 256> first = scale.first_values();
        const auto by_comparing = [&](float value) {
            const auto above = std::upper_bound(first.begin() + 1, first.end(), value);
            return static_cast<int>(above - first.begin()) - 1;
        };
        for (int i = 0; i <= 256; ++i) {
            const auto edge = static_cast<float>(range.min + (range.max - range.min) * i / 256);
            for (const float value :
                 {std::nextafter(edge, -k_infinity), edge, std::nextafter(edge, k_infinity)})
                ASSERT_EQ(by_comparing(value), scale.index(value))
                    << range.min << " … " << range.max << ": " << i;
        }
    }
}

TEST(ColorScaleTest, WeightsRunFromZeroToTheLargestOfTheMatrix) {
    const StagePtr weights =
        make_stage(k_weights, 2, 2, 2, [](int h, int r, int c) { return 0.1f * (h + 1) + 0.1f * (r + c); });
    const Trace trace = make_trace(words(2), {weights});
    const ColorScale matrix = color_scale(trace, *weights, k_first, Presentation());
    EXPECT_EQ(matrix.map->name, "viridis");
    EXPECT_EQ(matrix.min, 0);
    EXPECT_FLOAT_EQ(static_cast<float>(matrix.max), 0.3f);
    const ColorScale all = color_scale(trace, *weights, k_first, with_range({RangeChoice::Kind::all}));
    EXPECT_FLOAT_EQ(static_cast<float>(all.max), 0.4f);
    const ColorScale mean = color_scale(trace, *weights, k_mean, Presentation());
    EXPECT_FLOAT_EQ(static_cast<float>(mean.max), 0.35f);
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
    EXPECT_EQ(color_scale(trace, *scaled, k_first, Presentation()).max, 2);
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
    Presentation presentation;
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
