#include "app/ui/ui.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <limits>

#include "app/views/focus_layout.h"
#include "core/graph/stage_table.h"
#include "tests/special_numbers.h"

namespace attnscope {
namespace {

using namespace test;

TEST(CellAtTest, IsTheCellThatThePositionLiesIn) {
    EXPECT_EQ(cell_at(0, 5), 0);
    EXPECT_EQ(cell_at(0.99f, 5), 0);
    EXPECT_EQ(cell_at(1, 5), 1);
    EXPECT_EQ(cell_at(4.5f, 5), 4);
}

TEST(CellAtTest, IsAnEndBeyondTheMatrixHoweverFar) {
    for (const float far : {5.0f, 1e9f, 3e9f, 1e30f, FLT_MAX, k_infinity}) {
        EXPECT_EQ(cell_at(far, 5), 4) << far;
        EXPECT_EQ(cell_at(-far, 5), 0) << far;
    }
    EXPECT_EQ(cell_at(k_nan, 5), 0);
    EXPECT_EQ(cell_at(65535.5f, 65536), 65535);
}

TEST(StageHeadingTest, AStageIsHeadedByWordsAndAParameterByItsSymbol) {
    EXPECT_EQ(stage_heading(*"feed_forward_hidden"_stage), "feed forward hidden");
    EXPECT_EQ(stage_heading(*"weights"_stage), "weights");
    EXPECT_EQ(stage_heading(*"W_q"_stage), "W_q");
    for (const StageInfo& stage : stage_table())
        EXPECT_TRUE(is_parameter(stage) || stage_heading(stage).find('_') == std::string::npos) << stage.name;
}

TEST(AxisPlaceTest, TheLastOfAMillionCellsIsWhereItIsDrawnHoweverLarge) {
    constexpr int k_count = 1 << 20, k_cell = k_count - 3;
    for (const double pixels : {1.0, 20.0, 140.0, 700.0}) {
        const double factor = pixels * k_count / 700;
        const AxisPlace axis =
            place_axis(k_count, 700.0f / k_count, 100, 800, factor, (k_cell + 0.5) / k_count);
        const double middle = axis.origin + (k_cell + 0.5) * axis.step;
        EXPECT_NEAR(axis.middle(k_cell), middle, 1e-3) << pixels;
        EXPECT_NEAR(axis.begin(k_cell + 1) - axis.begin(k_cell), pixels, 0.01) << pixels;
        EXPECT_EQ(axis.at(axis.middle(k_cell)), k_cell) << pixels;
        EXPECT_GE(axis.middle(k_cell), 100) << pixels;
        EXPECT_LE(axis.middle(k_cell), 800) << pixels;
    }
}

TEST(AxisPlaceTest, APointerThatIsNowhereIsAtAnEnd) {
    const AxisPlace axis{.count = 8, .view_min = 100, .view_max = 260, .origin = 100, .step = 20};
    EXPECT_EQ(axis.at(100), 0);
    EXPECT_EQ(axis.at(119), 0);
    EXPECT_EQ(axis.at(120), 1);
    EXPECT_EQ(axis.first(), 0);
    EXPECT_EQ(axis.last(), 7);
    EXPECT_EQ(axis.at(-FLT_MAX), 0) << "ImGui's place of a pointer outside the window";
    EXPECT_EQ(axis.at(FLT_MAX), 7);
    EXPECT_EQ(axis.at(k_nan), 0);
    const AxisPlace zoomed{.count = 8, .view_min = 100, .view_max = 260, .origin = -300, .step = 160};
    EXPECT_EQ(zoomed.first(), 2);
    EXPECT_EQ(zoomed.last(), 3);
}

}  // namespace
}  // namespace attnscope
