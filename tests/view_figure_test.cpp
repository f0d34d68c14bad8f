#include "core/picture/view_figure.h"

#include <gtest/gtest.h>

#include "core/attention/evaluate.h"
#include "core/error.h"
#include "core/io/examples.h"
#include "core/picture/render_png.h"

namespace attnscope {
namespace {

/// An image whose patches (grid × grid) have one colour each.
GivenImage patchwork(int grid) {
    constexpr int k_side = 8;
    Image image{grid * k_side, grid * k_side, {}};
    for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x) {
            const int patch = y / k_side * grid + x / k_side;
            for (const int factor : {40, 90, 170})
                image.rgb.push_back(static_cast<std::uint8_t>((patch + 1) * factor));
        }
    return GivenImage(std::move(image));
}

Session looking_at(int grid) {
    Session session;
    session.experiment.text = "a tree under the sun";
    session.experiment.image = patchwork(grid);
    session.experiment.grid = grid;
    session.presentation.cell_size = 32;
    session.presentation.values = false;
    return session;
}

Figure figure_of(const char* view, const Session& session) {
    const Trace trace = evaluate(session.experiment);
    const ViewFigure& found = *find_view_figure(view);
    return found.make(trace, *found.stage(trace), {}, session.presentation);
}

Rgb8 pixel(const Pixels& pixels, int x, int y) {
    const std::uint8_t* at = pixels.bytes.data() + 3 * (static_cast<std::ptrdiff_t>(y) * pixels.width + x);
    return {at[0], at[1], at[2]};
}

TEST(image_figure_test, the_weights_of_the_locked_word_stand_over_their_patches) {
    Session session = looking_at(3);
    session.presentation.locked = Cell{4, 0};
    const Trace trace = evaluate(session.experiment);
    const Figure figure = figure_of("image", session);
    ASSERT_EQ(figure.rows, 3);
    ASSERT_EQ(figure.columns, 3);
    for (int patch = 0; patch < 9; ++patch)
        EXPECT_EQ(figure.values[std::size_t(patch)], trace.find("weights")->buffer.at(0, 4, patch));
    EXPECT_EQ(figure.title, "weights of “sun”");
    EXPECT_NE(figure.subtitle.find("3\u00A0×\u00A03\u00A0patches"), std::string::npos) << figure.subtitle;
    EXPECT_EQ(figure.row_labels, (std::vector<std::string>{"1", "2", "3"}));
    // Words are compared: one scale for all of them.
    EXPECT_EQ(figure.scale.max, double{trace.find("weights")->buffer.range(0).max});
    session.presentation.locked.reset();
    EXPECT_EQ(figure_of("image", session).title, "weights of “a”");
    session.presentation.title = "Figure 3";
    EXPECT_EQ(figure_of("image", session).title, "Figure 3");
    EXPECT_TRUE(figure_of("image", session).subtitle.starts_with("weights\u00A0of\u00A0“a”"));
}

TEST(image_figure_test, the_picture_shows_through_the_colours_of_the_weights) {
    const Figure figure = figure_of("image", looking_at(3));
    const TextFace face;
    const FigureLayout layout = lay_out(figure, face);
    const Pixels pixels = render_pixels(figure, face);
    for (int patch = 0; patch < 9; ++patch) {
        const Box cell = layout.cell(figure, patch / 3, patch % 3);
        const Rgb8 seen = pixel(pixels, cell.x + cell.width / 2, cell.y + cell.height / 2);
        const Rgb8 behind = figure.image->patches[std::size_t(patch)];
        EXPECT_EQ(behind.red, std::uint8_t((patch + 1) * 40));
        // 58 % of the colour over 42 % of the picture; cairo rounds each to a byte.
        const Rgb8 fill = figure.fill(std::size_t(patch));
        EXPECT_NEAR(seen.red, 0.42 * behind.red + 0.58 * fill.red, 2) << patch;
        EXPECT_NEAR(seen.green, 0.42 * behind.green + 0.58 * fill.green, 2) << patch;
        EXPECT_NEAR(seen.blue, 0.42 * behind.blue + 0.58 * fill.blue, 2) << patch;
        EXPECT_NEAR(seen.blue, figure.surface(std::size_t(patch)).blue, 2) << patch;
    }
}

TEST(image_figure_test, hard_attention_leaves_its_patch_bare_and_closed_ones_are_hatched) {
    Session session = looking_at(3);
    session.experiment.normalizer = "hard";
    session.experiment.mask = {{"window", {0, 4}}};
    const Figure figure = figure_of("image", session);
    EXPECT_EQ(std::ranges::count(figure.marks, CellMark::chosen), 1);
    EXPECT_EQ(std::ranges::count(figure.marks, CellMark::masked), 4);
    for (std::size_t patch = 0; patch < 9; ++patch) {
        EXPECT_EQ(figure.marks[patch] == CellMark::masked, patch > 4) << patch;
        EXPECT_EQ(figure.marks[patch] == CellMark::chosen, figure.values[patch] == 1) << patch;
        EXPECT_EQ(figure.cover(patch) == 0, figure.values[patch] == 1) << patch;
    }
    EXPECT_EQ(lay_out(figure, TextFace()).legend.size(), 2u);
}

TEST(image_figure_test, a_grid_is_drawn_whose_matrix_would_be_too_large) {
    Session session = looking_at(32);
    session.experiment.patch_size = 1;
    session.presentation.cell_size = 48;
    const Figure figure = figure_of("image", session);
    EXPECT_EQ(lay_out(figure, TextFace()).matrix.width, 32 * 48 - 1);
    session.presentation.cell_size = 512;
    EXPECT_THROW(figure_of("image", session), Error);
    session.presentation.cell_size = 0;
    EXPECT_THROW(figure_of("image", session), Error);
}

TEST(image_figure_test, without_a_picture_there_is_none) {
    const ViewFigure& view = *find_view_figure("image");
    EXPECT_EQ(view.stage(evaluate(Experiment{})), nullptr);
    Session session = looking_at(3);
    session.experiment.dropout = 0.5;
    EXPECT_EQ(view.stage(evaluate(session.experiment))->name(), "weights_dropped");
    EXPECT_EQ(find_view_figure("pipeline"), nullptr);
}

}  // namespace
}  // namespace attnscope
