#include "core/picture/view_figure.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "core/picture/compose.h"
#include "core/picture/head_color.h"
#include "core/picture/mass_lines.h"
#include "core/picture/render_png.h"
#include "core/picture/word_lines.h"
#include "core/session/examples.h"
#include "tests/drawn_sessions.h"
#include "tests/sessions.h"

namespace attnscope {
namespace {

/// An image whose patches (grid × grid) have one color each.
CustomImage patchwork(int grid) {
    constexpr int k_side = 8;
    Image image{grid * k_side, grid * k_side, {}};
    for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x) {
            const int patch = y / k_side * grid + x / k_side;
            for (const int factor : {40, 90, 170})
                image.rgb.push_back(static_cast<std::uint8_t>((patch + 1) * factor));
        }
    return CustomImage(std::move(image));
}

Session looking_at(int grid) {
    Session session;
    session.experiment.input.text = "a tree under the sun";
    session.experiment.input.image = patchwork(grid);
    session.experiment.input.grid = grid;
    session.presentation.cell_size = 32;
    session.presentation.values = false;
    return session;
}

Figure figure_of(ViewKind view, const Session& session) {
    const Trace trace = evaluate(session.experiment);
    const ViewFigure& found = *find_view_figure(view);
    return found.make(trace, *found.stage(trace, session.presentation.stage), {}, session.presentation);
}

Rgb8 pixel(const Pixels& pixels, int x, int y) {
    const std::uint8_t* at = pixels.bytes.data() + 3 * (static_cast<std::ptrdiff_t>(y) * pixels.width + x);
    return {at[0], at[1], at[2]};
}

TEST(ImageFigureTest, TheWeightsOfTheLockedWordStandOverTheirPatches) {
    Session session = looking_at(3);
    session.presentation.locked = Cell{4, 0};
    const Trace trace = evaluate(session.experiment);
    const Figure figure = figure_of(ViewKind::image, session);
    ASSERT_EQ(figure.rows, 3);
    ASSERT_EQ(figure.columns, 3);
    for (int patch = 0; patch < 9; ++patch)
        EXPECT_EQ(figure.values[std::size_t(patch)], trace.find("weights"_stage)->buffer.at(0, 4, patch));
    EXPECT_EQ(figure.title, "weights of “sun”");
    EXPECT_NE(figure.subtitle.find("3\u00A0×\u00A03\u00A0patches"), std::string::npos) << figure.subtitle;
    EXPECT_EQ(figure.row_labels, (std::vector<std::string>{"1", "2", "3"}));
    EXPECT_EQ(figure.row_title, "rows of patches") << "not queries: the whole picture is one query's";
    EXPECT_EQ(figure.column_title, "columns of patches");
    // Words are compared: one scale for all of them.
    EXPECT_EQ(figure.scale.max, 1);
    session.presentation.range = {RangeChoice::Kind::matrix};
    EXPECT_EQ(figure_of(ViewKind::image, session).scale.max,
              double{trace.find("weights"_stage)->buffer.range(0).max});
    session.presentation.locked.reset();
    EXPECT_EQ(figure_of(ViewKind::image, session).title, "weights of “a”");
    session.presentation.title = "Figure 3";
    EXPECT_EQ(figure_of(ViewKind::image, session).title, "Figure 3");
    EXPECT_TRUE(figure_of(ViewKind::image, session).subtitle.starts_with("weights\u00A0of\u00A0“a”"));
}

TEST(ImageFigureTest, ThePictureShowsThroughTheColorsOfTheWeights) {
    const Figure figure = figure_of(ViewKind::image, looking_at(3));
    const TextFace face;
    const FigureLayout layout = lay_out(figure, face);
    const Pixels pixels = render_pixels(figure, face);
    for (int patch = 0; patch < 9; ++patch) {
        const Box cell = layout.cell(figure, patch / 3, patch % 3);
        const Rgb8 seen = pixel(pixels, cell.x + cell.width / 2, cell.y + cell.height / 2);
        const Rgb8 behind = figure.image->patches[std::size_t(patch)];
        EXPECT_EQ(behind.red, std::uint8_t((patch + 1) * 40));
        // cairo rounds each part to a byte.
        const Rgb8 fill = figure.fill(std::size_t(patch));
        const double cover = figure.cover(std::size_t(patch));
        EXPECT_NEAR(seen.red, (1 - cover) * behind.red + cover * fill.red, 2) << patch;
        EXPECT_NEAR(seen.green, (1 - cover) * behind.green + cover * fill.green, 2) << patch;
        EXPECT_NEAR(seen.blue, (1 - cover) * behind.blue + cover * fill.blue, 2) << patch;
        EXPECT_NEAR(seen.blue, figure.surface(std::size_t(patch)).blue, 2) << patch;
    }
}

TEST(ImageFigureTest, TheLargerAWeightTheMoreItCovers) {
    Session session = looking_at(3);
    session.presentation.range = {RangeChoice::Kind::matrix};
    const Figure figure = figure_of(ViewKind::image, session);
    for (std::size_t a = 0; a < 9; ++a) {
        EXPECT_NEAR(figure.cover(a), k_cover + (k_cover_most - k_cover) * figure.values[a] / figure.scale.max,
                    1e-6);
        for (std::size_t b = 0; b < 9; ++b)
            EXPECT_EQ(figure.values[a] < figure.values[b], figure.cover(a) < figure.cover(b));
    }
    EXPECT_EQ(cover_of(figure.scale, NAN), k_cover_most);
    EXPECT_EQ(cover_of(figure.scale, -1), k_cover);
}

TEST(ImageFigureTest, HardAttentionLeavesItsPatchBareAndClosedOnesAreHatched) {
    Session session = looking_at(3);
    session.experiment.weighting.normalizer = Normalization::hard;
    session.experiment.weighting.mask = {{MaskForm::window, {0, 4}}};
    const Figure figure = figure_of(ViewKind::image, session);
    EXPECT_EQ(std::ranges::count(figure.marks, CellMark::chosen), 1);
    EXPECT_EQ(std::ranges::count(figure.marks, CellMark::masked), 4);
    for (std::size_t patch = 0; patch < 9; ++patch) {
        EXPECT_EQ(figure.marks[patch] == CellMark::masked, patch > 4) << patch;
        EXPECT_EQ(figure.marks[patch] == CellMark::chosen, figure.values[patch] == 1) << patch;
        EXPECT_EQ(figure.cover(patch) == 0, figure.values[patch] == 1) << patch;
    }
    EXPECT_EQ(lay_out(figure, TextFace()).legend.size(), 2u);
}

TEST(ImageFigureTest, AGridIsDrawnWhoseMatrixWouldBeTooLarge) {
    Session session = looking_at(32);
    session.experiment.input.patch_size = 1;
    session.presentation.cell_size = 48;
    const Figure figure = figure_of(ViewKind::image, session);
    EXPECT_EQ(lay_out(figure, TextFace()).matrix.width, 32 * 48 - 1);
    session.presentation.cell_size = 512;
    EXPECT_THROW(figure_of(ViewKind::image, session), Error);
    session.presentation.cell_size = 0;
    EXPECT_THROW(figure_of(ViewKind::image, session), Error);
}

TEST(ImageFigureTest, PatchesAreMarkedOneByOneAndNotByRowsAndColumns) {
    Session session = looking_at(3);
    session.experiment.attention.softmax_axis = SoftmaxAxis::queries;
    session.experiment.weighting.mask = {{MaskForm::valid, {1}}};  // the first patch alone
    const Figure figure = figure_of(ViewKind::image, session);
    EXPECT_EQ(figure.fully_masked_columns, std::vector<bool>(3, false));
    EXPECT_EQ(figure.fully_masked, std::vector<bool>(3, false));
    EXPECT_EQ(figure.marks[0], CellMark::value);
    EXPECT_EQ(figure.marks[8], CellMark::masked);
}

TEST(ImageFigureTest, WithoutAPictureThereIsNone) {
    const ViewFigure& view = *find_view_figure(ViewKind::image);
    EXPECT_EQ(view.stage(evaluate(Experiment{}), "weights"_stage), nullptr);
    Session session = looking_at(3);
    session.experiment.attention.dropout = 0.5;
    EXPECT_EQ(view.stage(evaluate(session.experiment), "weights"_stage)->name(), "weights_dropped");
    EXPECT_EQ(find_view_figure(ViewKind::pipeline), nullptr);
}

// ---- alignment

Session aligning(Normalization normalizer = Normalization::softmax) {
    Session session = test::test_session("random-alignment");
    session.experiment.weighting.normalizer = normalizer;
    session.presentation.cell_size = 32;
    session.presentation.values = false;
    return session;
}

TEST(AlignmentFigureTest, ItsWordsAreTheSourcesAndThoseThatTheStepsSay) {
    const Figure figure = figure_of(ViewKind::alignment, aligning());
    EXPECT_EQ(figure.title, "alignment");
    ASSERT_TRUE(figure.lines);
    EXPECT_EQ(figure.lines->words.size(), 12u);
    EXPECT_EQ(figure.lines->words[1], "agreement");
    EXPECT_EQ(figure.lines->words, figure.column_labels);
    EXPECT_EQ(figure.row_labels.front(), "l'accord");
    EXPECT_EQ(figure.row_labels.back(), "<eos>");
    EXPECT_EQ(figure.lines->row, -1);
    EXPECT_EQ(figure.lines->meeting, "");
    Session session = aligning();
    session.presentation.locked = Cell{4, 2};
    EXPECT_EQ(figure_of(ViewKind::alignment, session).lines->row, 4);
    // A locked source word is of no step.
    session.presentation.stage = "annotations"_stage;
    EXPECT_EQ(figure_of(ViewKind::alignment, session).lines->row, -1);
}

TEST(AlignmentFigureTest, ItsAxesAreStepsAndSourceWords) {
    const Session session = test::test_session("random-alignment");
    const Trace trace = evaluate(session.experiment);
    const Figure figure = make_figure(trace, *trace.find("alignment"_stage), {}, session.presentation);
    EXPECT_NE(figure.subtitle.find("steps\u00A0×\u00A0source\u00A0words"), std::string::npos)
        << figure.subtitle;
}

TEST(AlignmentFigureTest, WithoutAttentionAllWordsMeet) {
    Session session = test::test_session("random-encoder-decoder");
    const Figure figure = figure_of(ViewKind::alignment, session);
    EXPECT_EQ(figure.title, "decoder context");
    EXPECT_EQ(figure.lines->meeting, "last state");
    EXPECT_EQ(figure.lines->words.size(), 12u);
    EXPECT_NE(figure.subtitle.find("no\u00A0alignment"), std::string::npos);
    EXPECT_EQ(find_view_figure(ViewKind::alignment)->stage(evaluate(Experiment{}), "weights"_stage), nullptr);
}

TEST(AlignmentFigureTest, ALineGoesFromEachStepToTheWordItLooksAt) {
    Session session = aligning(Normalization::hard);
    session.presentation.locked = Cell{3, 0};
    const Figure figure = figure_of(ViewKind::alignment, session);
    const TextFace face;
    const FigureLayout layout = lay_out(figure, face);
    const Pixels pixels = render_pixels(figure, face);
    const auto at_word = [&](int word) {
        const double y = layout.lines.y + (word + 0.5) * layout.word_pitch;
        return pixel(pixels, layout.lines.x + 2, static_cast<int>(y));
    };
    for (int j = 0; j < figure.columns; ++j) {
        bool seen = false;
        for (int i = 0; i < figure.rows; ++i) seen |= figure.values[figure.cell(i, j)] == 1;
        EXPECT_EQ(at_word(j) != figure.theme->background, seen) << j;
    }
    const Box row = layout.cell(figure, 3, 0), other = layout.cell(figure, 5, 0);
    EXPECT_EQ(pixel(pixels, layout.lines.right() - 2, row.y + row.height / 2), figure.theme->accent);
    EXPECT_NE(pixel(pixels, layout.lines.right() - 2, other.y + other.height / 2), figure.theme->accent);
}

TEST(AlignmentFigureTest, NothingOverlapsOrLeavesThePicture) {
    const TextFace face;
    for (const int source : {1, 3, 40, 200})
        for (const int target : {1, 12, 90})
            for (const int cell : {2, 8, 16, 48}) {
                Session session = aligning();
                session.experiment.input.text = session.experiment.input.text2 = "";
                for (int i = 0; i < source; ++i) session.experiment.input.text += " word" + std::to_string(i);
                for (int i = 0; i < target; ++i) session.experiment.input.text2 += " mot" + std::to_string(i);
                session.presentation.cell_size = cell;
                const Figure figure = figure_of(ViewKind::alignment, session);
                const FigureLayout layout = lay_out(figure, face);
                double words = 0, steps = 0;
                for (const AxisLabel& label : layout.words.labels) words = std::max(words, label.width);
                for (const AxisLabel& label : layout.rows.labels) steps = std::max(steps, label.width);
                EXPECT_GE(layout.lines.x - 8 - words, 20) << source << " " << target << " " << cell;
                EXPECT_LE(layout.lines.right() + 8 + steps, layout.matrix.x - 8);
                EXPECT_LE(layout.lines.bottom() + 24, layout.size.height);
                EXPECT_LE(layout.word_pitch * source, layout.lines.height + 1);
                for (std::size_t i = 1; i < layout.words.labels.size(); ++i)
                    EXPECT_GE(
                        (layout.words.labels[i].index - layout.words.labels[i - 1].index) * layout.word_pitch,
                        layout.words.style.size);
            }
}

// ---- lines

Session with_lines() {
    Session session = test::four_heads();
    session.experiment.weighting.temperature = 0.15;
    session.presentation.mass = 0.8;
    return session;
}

TEST(LinesFigureTest, ItsLinesAreTheLargestWeightsOfEachQuery) {
    const Session session = with_lines();
    const Trace trace = evaluate(session.experiment);
    const Stage& stage = *trace.find("weights"_stage);
    const Figure figure = figure_of(ViewKind::lines, session);
    ASSERT_TRUE(figure.is_of_lines());
    EXPECT_EQ(figure.lines->words, trace.rows);
    EXPECT_EQ(figure.row_labels, trace.columns);
    EXPECT_EQ(figure.lines->words_caption, "queries");
    EXPECT_EQ(figure.lines->rows_caption, "keys");
    EXPECT_EQ(figure.title, "weights");
    EXPECT_NE(figure.subtitle.find("80\u00A0%\u00A0of\u00A0each\u00A0query's"), std::string::npos)
        << figure.subtitle;
    for (int i = 0; i < 8; ++i) {
        const Eigen::RowVectorXf row = stage.buffer.row(0, i);
        const MassCutoff cutoff = mass_cutoff({row.data(), 8}, 0.8);
        for (int j = 0; j < 8; ++j) {
            const auto line = std::ranges::find_if(
                figure.lines->drawn, [&](const FigureLine& each) { return each.word == i && each.row == j; });
            EXPECT_EQ(line != figure.lines->drawn.end(), cutoff.keeps(row[j], j)) << i << " " << j;
            if (line == figure.lines->drawn.end()) continue;
            EXPECT_NEAR(line->strength, row[j], 1e-6) << "of the range, 0 … 1";
        }
    }
}

TEST(LinesFigureTest, OfALockedQueryItHasTheLinesAndTheirWeights) {
    Session session = with_lines();
    session.presentation.locked = Cell{5, 1};
    const Figure figure = figure_of(ViewKind::lines, session);
    EXPECT_TRUE(figure.lines->single_word);
    ASSERT_FALSE(figure.lines->drawn.empty());
    ASSERT_EQ(figure.lines->numbers.size(), 8u);
    for (const FigureLine& line : figure.lines->drawn) {
        EXPECT_EQ(line.word, 5);
        EXPECT_NE(figure.lines->numbers[std::size_t(line.row)], "");
    }
    EXPECT_EQ(std::ranges::count(figure.lines->numbers, ""),
              8 - static_cast<std::ptrdiff_t>(figure.lines->drawn.size()));
    EXPECT_TRUE(figure.title.starts_with("weights of “")) << figure.title;
}

TEST(LinesFigureTest, ALineGoesFromTheQueryToTheKeyInTheColorOfTheHead) {
    Session session = with_lines();
    session.experiment.weighting.normalizer = Normalization::hard;
    session.presentation.locked = Cell{2, 0};
    const Figure figure = figure_of(ViewKind::lines, session);
    ASSERT_EQ(figure.lines->drawn.size(), 1u);
    const TextFace face;
    const FigureLayout layout = lay_out(figure, face);
    const Pixels pixels = render_pixels(figure, face);
    const Rgb8 color = head_color(*figure.theme, 0, 4);
    for (int i = 0; i < 8; ++i) {
        const int y = layout.lines.y + static_cast<int>((i + 0.5) * layout.word_pitch),
                  to = layout.lines.y + static_cast<int>((i + 0.5) * layout.row_pitch);
        EXPECT_EQ(pixel(pixels, layout.lines.x + 2, y), i == 2 ? color : figure.theme->background) << i;
        EXPECT_EQ(pixel(pixels, layout.lines.right() - 3, to),
                  i == figure.lines->drawn[0].row ? color : figure.theme->background)
            << i;
    }
}

TEST(LinesFigureTest, OfAllHeadsEachHasItsColorAndItsPlace) {
    const Session session = with_lines();
    const Trace trace = evaluate(session.experiment);
    const Stage& stage = *trace.find("weights"_stage);
    const Figure figure =
        find_view_figure(ViewKind::lines)->make(trace, stage, {HeadChoice::Kind::all}, session.presentation);
    ASSERT_EQ(figure.lines->colors.size(), 4u);
    std::ptrdiff_t drawn = 0;
    double before = -1;
    for (int head = 0; head < 4; ++head) {
        const LineColor& color = figure.lines->colors[std::size_t(head)];
        EXPECT_EQ(color.name, "head " + std::to_string(head + 1));
        EXPECT_EQ(color.color, head_color(*figure.theme, head, 4));
        const MassLines own = find_mass_lines(trace, stage, {head}, 0.8);
        double shift = 0;
        for (const FigureLine& line : figure.lines->drawn) {
            if (line.color != color.color) continue;
            ++drawn;
            shift = line.shift;
            EXPECT_TRUE(std::ranges::any_of(own.strongest, [&](const MassLine& each) {
                return each.query == line.word && each.key == line.row;
            }));
        }
        EXPECT_GT(shift, before) << "beside the head before it";
        EXPECT_LT(std::abs(shift), 0.5) << "nearer to its word than to the next";
        before = shift;
    }
    EXPECT_EQ(drawn, static_cast<std::ptrdiff_t>(figure.lines->drawn.size()));
    EXPECT_EQ(legend_items(figure).size(), 4u);
    EXPECT_NE(figure.subtitle.find("4\u00A0heads"), std::string::npos) << figure.subtitle;
}

TEST(LinesFigureTest, OfEachHeadThereIsOnePictureBesideTheOther) {
    const TextFace face;
    Session session = with_lines();
    session.presentation.width = 174;
    const Trace trace = evaluate(session.experiment);
    const ViewFigure& view = *find_view_figure(ViewKind::lines);
    Sheet sheet = sheet_of_heads(view, trace, *trace.find("weights"_stage), session.presentation);
    fit_cells(sheet, face);
    ASSERT_EQ(sheet.panels.size(), 4u);
    for (int head = 0; head < 4; ++head) {
        const Figure& figure = sheet.panels[std::size_t(head)].figure;
        EXPECT_EQ(figure.title, "head " + std::to_string(head + 1));
        for (const FigureLine& line : figure.lines->drawn)
            EXPECT_EQ(line.color, head_color(*figure.theme, head, 4));
    }
    EXPECT_EQ(sheet.panels[1].row, 0);
    const SheetLayout layout = lay_out(sheet, face);
    EXPECT_LE(layout.needed, layout.size.width);
}

TEST(LinesFigureTest, NothingOverlapsOrLeavesThePicture) {
    const TextFace face;
    for (const int queries : {1, 6, 300})
        for (const int keys : {1, 12, 300})
            for (const bool locked : {false, true}) {
                Session session = with_lines();
                Input& input = session.experiment.input;
                input.text = input.text2 = "";
                for (int i = 0; i < queries; ++i) input.text += " word" + std::to_string(i);
                for (int i = 0; i < keys; ++i) input.text2 += " other" + std::to_string(i);
                session.experiment.weighting.mask = {{MaskForm::valid, {keys / 2}}};
                if (locked) session.presentation.locked = Cell{0, 0};
                const Figure figure = figure_of(ViewKind::lines, session);
                const FigureLayout layout = lay_out(figure, face);
                double words = 0, rows = 0;
                for (const AxisLabel& label : layout.words.labels) words = std::max(words, label.width);
                for (const AxisLabel& label : layout.rows.labels) rows = std::max(rows, label.width);
                EXPECT_GE(layout.lines.x - 8 - words, 20);
                EXPECT_LE(layout.lines.right() + 8 + rows + (locked ? 40 : 0), layout.size.width - 8);
                EXPECT_LE(layout.lines.bottom() + 24, layout.size.height);
                EXPECT_LE(layout.word_pitch * queries, layout.lines.height + 1);
                EXPECT_LE(layout.row_pitch * keys, layout.lines.height + 1);
                for (const LegendItem& item : layout.legend) EXPECT_GE(item.y, layout.lines.bottom());
                render_pixels(figure, face);
            }
}

TEST(LinesFigureTest, ADecoderWithoutAttentionHasNone) {
    const Trace trace = evaluate(test::test_session("random-encoder-decoder").experiment);
    EXPECT_EQ(find_view_figure(ViewKind::lines)->stage(trace, "weights"_stage), nullptr);
}

TEST(WordLinesTest, TheStrongestAreKeptAndDrawnLast) {
    const ColorScale scale{&colormap_of(ColormapKind::viridis), 0, 0.5};
    const float weights[] = {0.1f, 0.001f, 0.5f, std::nanf(""), 0.25f, INFINITY};
    const auto lines = word_lines(weights, scale, 10);
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_EQ(lines[0].column, 0);
    EXPECT_EQ(lines[1].column, 4);
    EXPECT_EQ(lines[2].column, 2);
    EXPECT_EQ(lines[1].strength, 0.5);
    EXPECT_EQ(lines[2].strength, 1);
    EXPECT_EQ(word_lines(weights, scale, 1).front().column, 2);
    EXPECT_EQ(word_lines({}, scale, 1).size(), 0u);
    for (const int rows : {1, 13, 300, 4096}) EXPECT_LE((lines_per_row(rows) - 1) * rows, 1500) << rows;
}

TEST(WordLinesTest, HeightsAreThoseOfTheCurve) {
    for (const double t : {0.0, 0.1, 0.25, 0.5, 0.8, 1.0}) {
        const double u = 1 - t;  // handles at (1/2, 0) and (1/2, 1)
        const double x = 3 * u * u * t * 0.5 + 3 * u * t * t * 0.5 + t * t * t;
        const double y = 3 * u * t * t + t * t * t;
        EXPECT_NEAR(line_height(x), y, 1e-6) << t;  // 30 halvings
    }
}

}  // namespace
}  // namespace attnscope
