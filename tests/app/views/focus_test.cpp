// The strip and the focused matrix, operated with mouse and keyboard.
#include <set>

#include "core/picture/color_scale.h"
#include "tests/interface.h"
#include "tests/keys.h"

namespace attnscope {
namespace {

using namespace test;

class FocusTest : public InterfaceTest {};

TEST_F(FocusTest, AnUnlockedCellForgetsItsStage) {
    start(load_example("scaled-dot-product"));
    document().change([](Session& s) {
        s.presentation.lock("weights"_stage, Cell{1, 4});
        s.presentation.focus("context"_stage);
    });
    settle();
    ASSERT_TRUE(document().presentation().locked_in);
    press(Key::escape);
    EXPECT_FALSE(document().presentation().locked);
    EXPECT_FALSE(document().presentation().locked_in);
}

TEST_F(FocusTest, PointingFindsTheCellAndComputesNothing) {
    const auto before = document().trace();
    const Session session = document().session();
    for (const Cell cell : {Cell{0, 0}, Cell{3, 5}, Cell{7, 7}}) {
        move(cell_place(cell.row, cell.column));
        ASSERT_TRUE(interaction().hovered);
        EXPECT_EQ(interaction().hovered->stage, "weights"_stage);
        EXPECT_EQ(interaction().hovered->cell, cell);
    }
    EXPECT_EQ(document().trace(), before);
    EXPECT_FALSE(document().busy());
    EXPECT_EQ(document().session(), session);
}

TEST_F(FocusTest, EveryCellIsFoundAtItsEdgesToo) {
    const SeenMatrix weights = focused();
    for (int i = 0; i < weights.drawn.rows; ++i) {
        for (const float inside : {0.05f, 0.95f}) {
            const float row = static_cast<float>(i) + inside;
            move(weights.at(row, row));
            ASSERT_TRUE(interaction().hovered);
            EXPECT_EQ(interaction().hovered->cell, (Cell{i, i}));
        }
    }
}

TEST_F(FocusTest, EveryMatrixOnScreenTellsItsCell) {
    step();
    std::set<std::string_view> seen;
    for (const SeenMatrix& matrix : seen_matrices()) {
        const int row = matrix.drawn.rows / 2, column = matrix.drawn.columns / 2;
        const ImVec2 place = matrix.at(static_cast<float>(column) + 0.5f, static_cast<float>(row) + 0.5f);
        if (!matrix.sees(place)) continue;
        move(place);
        ASSERT_TRUE(interaction().hovered) << matrix.stage->name();
        EXPECT_EQ(interaction().hovered->stage, matrix.stage->key());
        const Cell wanted = matrix.drawn.transposed ? Cell{column, row} : Cell{row, column};
        EXPECT_EQ(interaction().hovered->cell, wanted) << matrix.stage->name();
        seen.insert(matrix.stage->name());
    }
    for (const char* name : {"embedding", "query", "key", "value", "scores", "weights", "context"})
        EXPECT_TRUE(seen.contains(name)) << name << " is not on screen";
}

TEST_F(FocusTest, LeavingThePointerPointsAtNothing) {
    move(cell_place(1, 1));
    ASSERT_TRUE(interaction().hovered);
    play({MouseLeave{}});
    EXPECT_FALSE(interaction().hovered);
}

TEST_F(FocusTest, AClickLocksASecondUnlocksAndEscapeToo) {
    click(cell_place(2, 4));
    EXPECT_EQ(document().presentation().locked, (Cell{2, 4}));
    click(cell_place(2, 4));
    EXPECT_FALSE(document().presentation().locked);
    click(cell_place(5, 1));
    EXPECT_EQ(document().presentation().locked, (Cell{5, 1}));
    press(Key::escape);
    EXPECT_FALSE(document().presentation().locked);
    EXPECT_FALSE(workspace->quits());
    EXPECT_FALSE(document().can_undo());
}

TEST_F(FocusTest, TheWheelZoomsAroundTheMouse) {
    const ImVec2 mouse = focused().at(2.3f, 6.6f);
    wheel(mouse, 5);
    EXPECT_GT(interaction().zoom.factor, 2);
    const SeenMatrix zoomed = focused();
    EXPECT_NEAR((mouse.x - zoomed.drawn.top_left.x) / zoomed.pitch_x(), 2.3, 0.15);
    EXPECT_NEAR((mouse.y - zoomed.drawn.top_left.y) / zoomed.pitch_y(), 6.6, 0.15);
    ASSERT_TRUE(interaction().hovered);
    EXPECT_EQ(interaction().hovered->cell, (Cell{6, 2}));
    press(Key::digit_0);
    EXPECT_EQ(interaction().zoom, Zoom{});
}

TEST_F(FocusTest, ZoomEndsAtOneCellAndAtTheWhole) {
    wheel(cell_place(0, 0), 200);
    const SeenMatrix close = focused();
    EXPECT_GE(close.pitch_x() * 1.5f, close.drawn.clip_max.x - close.drawn.clip_min.x);
    ASSERT_TRUE(interaction().hovered);
    wheel({close.drawn.clip_min.x + 5, close.drawn.clip_min.y + 5}, -200);
    EXPECT_EQ(interaction().zoom, Zoom{});
}

TEST_F(FocusTest, DraggingPansAndLocksNothing) {
    const ImVec2 mouse = cell_place(4, 4);
    wheel(mouse, 6);
    const ImVec2 before = focused().drawn.top_left;
    drag(mouse, {-40, -30});
    const ImVec2 after = focused().drawn.top_left;
    EXPECT_NEAR(after.x - before.x, -40, 6);
    EXPECT_NEAR(after.y - before.y, -30, 6);
    EXPECT_FALSE(document().presentation().locked);
    EXPECT_FALSE(document().can_undo());
}

TEST_F(FocusTest, PanningStopsAtTheEdges) {
    const ImVec2 mouse = cell_place(4, 4);
    wheel(mouse, 6);
    for (int i = 0; i < 8; ++i) drag(mouse, {300, 300}, 4);
    const SeenMatrix seen = focused();
    EXPECT_NEAR(seen.drawn.top_left.x, seen.drawn.clip_min.x, 1.5);
    EXPECT_NEAR(seen.drawn.top_left.y, seen.drawn.clip_min.y, 1.5);
}

TEST_F(FocusTest, ArrowsMoveAlongTheStrip) {
    const StageKey before = document().presentation().stage;
    press(Key::left);
    const StageKey left = document().presentation().stage;
    EXPECT_NE(left, before);
    press(Key::right);
    EXPECT_EQ(document().presentation().stage, before);
    press(Key::z, k_ctrl);
    EXPECT_EQ(document().presentation().stage, left);
}

TEST_F(FocusTest, AThumbnailIsFocusedByAClick) {
    const SeenMatrix query = thumbnail("query");
    click(query.at(2.5f, 2.5f));
    EXPECT_EQ(document().presentation().stage, "query"_stage);
    EXPECT_EQ(focused().drawn.columns, 16);
}

TEST_F(FocusTest, AStageThatVanishesLeavesTheWeightsInFocusEverywhere) {
    Session session = load_example("scaled-dot-product");
    session.experiment.attention.score = Score::additive;
    session.experiment.weights.custom.insert_or_assign("mask_additive",
                                                       CustomMatrix(Matrix::Constant(8, 8, NAN)));
    session.presentation.stage = "score_hidden"_stage;
    start(std::move(session));
    const SeenMatrix hidden = focused();
    click(hidden.at(0.5f, 0.5f));
    EXPECT_EQ(document().presentation().locked, (Cell{0, 0}));
    document().change([](Session& s) { s.experiment.attention.score = Score::dot; });
    settle();
    const gl::Pixels vanished = picture();
    // Below stand the times, which differ, and the count of what is not finite.
    const int status = vanished.height - 30;
    const auto above = [&](const gl::Pixels& pixels) {
        std::vector<std::uint32_t> colors;
        for (int y = 0; y < status; ++y)
            for (int x = 0; x < pixels.width; ++x) colors.push_back(pixels.at(x, y));
        return colors;
    };
    const auto warned = [&](const gl::Pixels& pixels) {
        int count = 0;
        for (int y = status; y < pixels.height; ++y)
            for (int x = 0; x < pixels.width; ++x)
                count += (pixels.at(x, y) >> 24) > (pixels.at(x, y) >> 8 & 0xFF) + 60;  // amber
        return count;
    };
    document().change([](Session& s) {
        s.presentation.stage = "weights"_stage;
        s.presentation.locked.reset();
    });
    settle();
    const gl::Pixels focused_by_name = picture();
    EXPECT_TRUE(above(vanished) == above(focused_by_name));
    EXPECT_GT(warned(focused_by_name), 0);
    EXPECT_GT(warned(vanished), 0);

    document().undo();
    settle();
    ASSERT_EQ(document().presentation().stage, "score_hidden"_stage);
    click(seen_of("weights", false).at(2.5f, 1.5f));
    EXPECT_EQ(document().presentation().stage, "weights"_stage);
    EXPECT_EQ(document().presentation().locked, (Cell{1, 2}));
}

TEST_F(FocusTest, UpAndDownGoThroughTheHeads) {
    document().change([](Session& s) { s.experiment.attention.heads = 2; });
    settle();
    press(Key::down);
    EXPECT_EQ(document().presentation().head, (HeadChoice{HeadChoice::Kind::one, 1}));
    press(Key::down);
    EXPECT_EQ(document().presentation().head.kind, HeadChoice::Kind::mean);
    press(Key::up);
    EXPECT_EQ(document().presentation().head, (HeadChoice{HeadChoice::Kind::one, 1}));
}

TEST_F(FocusTest, EveryCellOnScreenHasTheColorOfItsValue) {
    play({MouseMove{2, 2}});
    const gl::Pixels pixels = picture();
    int cells = 0;
    for (const SeenMatrix& seen : seen_matrices()) {
        if (seen.stage->info->unit == Unit::boolean) continue;
        const ColorScale scale =
            color_scale(*document().trace(), *seen.stage, HeadChoice{}, document().presentation());
        for (int i = 0; i < seen.drawn.rows; ++i) {
            for (int j = 0; j < seen.drawn.columns; ++j) {
                const ImVec2 at = bare_point(seen, i, j);
                if (!seen.sees(at)) continue;
                const float value =
                    seen.drawn.transposed ? seen.stage->buffer.at(0, j, i) : seen.stage->buffer.at(0, i, j);
                const Rgb8 color = scale.color(value);
                const std::uint32_t wanted = (std::uint32_t{color.red} << 24) |
                                             (std::uint32_t{color.green} << 16) |
                                             (std::uint32_t{color.blue} << 8) | 0xFF;
                EXPECT_EQ(pixels.at(static_cast<int>(at.x), static_cast<int>(at.y)), wanted)
                    << seen.stage->name() << " " << i << " " << j;
                ++cells;
            }
        }
    }
    EXPECT_GT(cells, 1000);
}

TEST_F(FocusTest, AKeyThatIsClosedToAllQueriesIsMarkedWhereTheSoftmaxIsOverThem) {
    Session session = load_example("scaled-dot-product");
    session.experiment.input.text2 = "a b c d e f g h i j k";
    session.experiment.weighting.mask = {{MaskForm::window, {1, 0}}};  // closes the keys from the ninth on
    session.presentation.stage = "weights"_stage;
    start(session);
    // Pixels in the hue of a warning, which is orange among grays.
    const auto marked = [&](ImVec2 from, ImVec2 to) {
        play({MouseMove{2, 2}});
        const gl::Pixels pixels = picture();
        int count = 0;
        for (int y = static_cast<int>(from.y); y < static_cast<int>(to.y); ++y)
            for (int x = static_cast<int>(from.x); x < static_cast<int>(to.x); ++x) {
                const std::uint32_t pixel = pixels.at(x, y);
                const int red = static_cast<int>(pixel >> 24), blue = static_cast<int>(pixel >> 8 & 0xFF);
                count += red > blue + 60;
            }
        return count;
    };
    const auto above = [&](int first, int last) {
        const ImVec2 left = focused().at(static_cast<float>(first), 0);
        return marked({left.x, left.y - 24}, {focused().at(static_cast<float>(last + 1), 0).x, left.y});
    };
    const auto in_status_bar = [&] { return marked({0, 974}, {1600, 1000}); };
    EXPECT_EQ(above(0, 10), 0);
    EXPECT_EQ(in_status_bar(), 0);
    document().change([](Session& s) { s.experiment.attention.softmax_axis = SoftmaxAxis::queries; });
    settle();
    EXPECT_EQ(above(0, 7), 0);
    for (int j = 8; j < 11; ++j) EXPECT_GT(above(j, j), 0) << j;
    EXPECT_GT(in_status_bar(), 0);
}

TEST_F(FocusTest, InTheStripKeysOfAnotherSentenceHaveLabelsOfTheirOwn) {
    const auto gap = [&](const char* left, const char* right) {
        return thumbnail(right).drawn.top_left.x - thumbnail(left).drawn.bottom_right.x;
    };
    start(load_example("scaled-dot-product"), 2400, 1000);
    const float key = gap("query", "key"), value = gap("key", "value"), scores = gap("value", "scores");
    Session session = load_example("scaled-dot-product");
    session.experiment.input.text2 = "wholly different words";
    start(session, 2400, 1000);
    EXPECT_GT(gap("query", "key"), key + 30);
    EXPECT_NEAR(gap("key", "value"), value, 20) << "of the same words";
    EXPECT_GT(gap("value", "scores"), scores + 30);
}

TEST_F(FocusTest, ARowOfManyColumnsHasAProfileBelowTheMatrix) {
    Session session = load_example("scaled-dot-product");
    session.experiment.input.text.clear();
    for (int i = 0; i < 160; ++i) session.experiment.input.text += "w" + std::to_string(i) + " ";
    session.presentation.theme = ThemeKind::dark;
    start(session);
    constexpr int k_row = 70;
    document().change([](Session& s) { s.presentation.lock("weights"_stage, Cell{k_row, 0}); });
    interaction().zoom = {4, 0.5, k_row / 160.0};
    settle();
    const SeenMatrix matrix = focused();
    const Eigen::RowVectorXf row = document().trace()->find("weights"_stage)->buffer.row(0, k_row);
    // Heights of the bars of the columns in sight, at the middle of each.
    const gl::Pixels pixels = picture();
    const std::uint32_t background = pixels.at(static_cast<int>(matrix.drawn.clip_min.x) - 3,
                                               static_cast<int>(matrix.drawn.clip_max.y) + 10);
    std::vector<std::pair<float, int>> heights;
    for (int j = 0; j < 160; ++j) {
        const ImVec2 at = cell_place(k_row, j);
        if (!matrix.sees({at.x - matrix.pitch_x() / 2, at.y}) ||
            !matrix.sees({at.x + matrix.pitch_x() / 2, at.y}))
            continue;
        int height = 0;
        for (int y = 24; y < 24 + 44; ++y)
            height += pixels.at(static_cast<int>(at.x), static_cast<int>(matrix.drawn.clip_max.y) + y) !=
                      background;
        heights.emplace_back(row(j), height);
    }
    ASSERT_GT(heights.size(), 20U);
    std::ranges::sort(heights);
    EXPECT_LE(heights.front().second, 2);
    for (std::size_t i = 1; i < heights.size(); ++i)
        EXPECT_GE(heights[i].second + 1, heights[i - 1].second) << "a larger weight has a higher bar";
    EXPECT_NEAR(heights.back().second, heights.back().first / row.maxCoeff() * 44, 2);
}

}  // namespace
}  // namespace attnscope
