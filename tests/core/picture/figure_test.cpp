#include "core/picture/figure.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>

#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "core/op/op.h"
#include "core/picture/compose.h"
#include "core/picture/figure_layout.h"
#include "tests/picture_fixture.h"

namespace attnscope {
namespace {

using namespace test;

std::vector<std::string> texts(const AxisLayout& axis) {
    std::vector<std::string> result;
    for (const AxisLabel& label : axis.labels) result.push_back(label.text);
    return result;
}

/// Weights of n tokens, each looking at itself.
Figure diagonal(int n, std::optional<int> cell_size) {
    const StagePtr weights =
        make_stage(k_weights, 1, n, n, [](int, int r, int c) { return r == c ? 1.f : 0.f; });
    Presentation presentation;
    presentation.cell_size = cell_size;
    return make_figure(make_trace(words(n), {weights}), *weights, k_first, presentation);
}

TEST(FigureTest, TheTitleTellsTheStageItsFormulaShapeAndHead) {
    const StagePtr weights = make_stage(k_weights, 2, 2, 3, [](int h, int, int) { return h + 1.f; });
    Trace trace = make_trace(words(2), {weights});
    trace.columns = words(3);
    const Figure first = make_figure(trace, *weights, k_second, Presentation());
    EXPECT_EQ(first.title, "weights");
    EXPECT_EQ(first.subtitle,
              "custom\u00A0\u00A0·  2\u00A0×\u00A03\u00A0\u00A0·  "
              "queries\u00A0×\u00A0keys\u00A0\u00A0·  head\u00A02\u00A0of\u00A02");
    EXPECT_EQ(first.values[0], 2);
    Presentation titled;
    titled.title = "Figure 1";
    const Figure mean = make_figure(trace, *weights, k_mean, titled);
    EXPECT_EQ(mean.title, "Figure 1");
    EXPECT_EQ(mean.subtitle.find("weights\u00A0\u00A0·  mean over 2 heads of custom"), 0u);
    EXPECT_NE(mean.subtitle.find("mean\u00A0of\u00A02\u00A0heads"), std::string::npos);
    EXPECT_EQ(mean.values[0], 1.5f);
}

TEST(FigureTest, ATitleIsInWordsAndAParametersIsItsSymbol) {
    const auto title = [](const StageInfo& info) {
        const StagePtr stage = make_stage(info, 1, 1, 1, [](int, int, int) { return 1.f; });
        return make_figure(make_trace(words(1), {stage}), *stage, k_first, Presentation()).title;
    };
    EXPECT_EQ(title(*"feed_forward_hidden"_stage), "feed forward hidden");
    EXPECT_EQ(title(*"W_q"_stage), "W_q");
}

TEST(FigureTest, TheColorBarTellsTheRangeItBelongsTo) {
    const StagePtr weights = make_stage(k_weights, 2, 1, 1, [](int, int, int) { return 1.f; });
    const StagePtr embedding = make_stage(k_embedding, 1, 1, 1, [](int, int, int) { return 1.f; });
    const Trace trace = make_trace(words(1), {weights, embedding});
    const auto caption = [&](const StagePtr& stage, HeadChoice head, RangeChoice::Kind kind) {
        Presentation presentation;
        presentation.range.kind = kind;
        return make_figure(trace, *stage, head, presentation).range_caption;
    };
    EXPECT_EQ(caption(weights, k_second, RangeChoice::Kind::matrix), "this matrix");
    EXPECT_EQ(caption(weights, k_second, RangeChoice::Kind::head), "head 2");
    EXPECT_EQ(caption(weights, k_mean, RangeChoice::Kind::head), "mean of heads");
    EXPECT_EQ(caption(weights, k_second, RangeChoice::Kind::all), "all heads");
    EXPECT_EQ(caption(weights, k_second, RangeChoice::Kind::fixed), "fixed");
    EXPECT_EQ(caption(embedding, k_first, RangeChoice::Kind::all), "this matrix");
}

TEST(FigureTest, ClosedPairsAreMaskedInTheStagesAfterTheMaskAndNowhereElse) {
    const StagePtr mask =
        make_stage(k_mask, 1, 3, 3, [](int, int r, int c) { return c <= r && r != 1 ? 1.f : 0.f; });
    const StagePtr scores = make_stage(k_scores, 1, 3, 3, [](int, int, int) { return 2.f; });
    const StagePtr masked = make_stage(k_masked, 1, 3, 3, [](int, int r, int c) {
        const bool open = c <= r && r != 1, low = c == 0 && r == 2;
        return open && !low ? 1.f : -k_infinity;
    });
    const StagePtr weights = make_stage(k_weights, 1, 3, 3, [](int, int, int) { return 0.f; });
    const StagePtr context = make_stage(k_context, 1, 3, 3, [](int, int, int) { return 0.f; });
    const Trace trace = make_trace(words(3), {scores, mask, masked, weights, context});
    const auto figure = [&](const StagePtr& stage) {
        return make_figure(trace, *stage, k_first, Presentation());
    };
    const std::vector<bool> second{false, true, false};
    const std::vector<bool> none(3, false);
    EXPECT_EQ(figure(scores).marks, LargeVector<CellMark>(9, CellMark::value));
    EXPECT_EQ(figure(scores).fully_masked, none);
    EXPECT_EQ(figure(weights).marks[1], CellMark::masked);
    EXPECT_EQ(figure(weights).marks[0], CellMark::value);
    EXPECT_EQ(figure(weights).fully_masked, second);
    EXPECT_EQ(figure(masked).marks[1], CellMark::masked);
    EXPECT_EQ(figure(masked).marks[6], CellMark::minus_infinity) << "an open pair with a score of −∞";
    EXPECT_EQ(figure(mask).marks[0], CellMark::open);
    EXPECT_EQ(figure(mask).marks[1], CellMark::masked);
    EXPECT_EQ(figure(context).marks, LargeVector<CellMark>(9, CellMark::value));
    EXPECT_EQ(figure(context).fully_masked, second);
}

TEST(FigureTest, ARowWhoseCustomScoresAreAllMinusInfinityIsFlaggedInItsHeadOnly) {
    const StagePtr mask = make_stage(k_mask, 1, 2, 2, [](int, int, int) { return 1.f; });
    const StagePtr masked =
        make_stage(k_masked, 2, 2, 2, [](int h, int r, int) { return h == 0 && r == 1 ? -k_infinity : 1.f; });
    const StagePtr weights = make_stage(k_weights, 2, 2, 2, [](int, int, int) { return 0.f; });
    const StagePtr context = make_stage(k_context, 2, 2, 2, [](int, int, int) { return 0.f; });
    const Trace trace = make_trace(words(2), {mask, masked, weights, context});
    const auto flagged = [&](const StagePtr& stage, HeadChoice head) {
        return make_figure(trace, *stage, head, Presentation()).fully_masked;
    };
    const std::vector<bool> none(2, false), second{false, true};
    for (const StagePtr& stage : {masked, weights, context}) {
        EXPECT_EQ(flagged(stage, k_first), second) << stage->name();
        EXPECT_EQ(flagged(stage, {HeadChoice::Kind::one, 1}), none) << stage->name();
    }
    EXPECT_EQ(flagged(weights, k_mean), none);
}

TEST(FigureTest, APictureOfOneRowIsThatRowOfTheWhole) {
    const StagePtr mask = make_stage(k_mask, 1, 3, 3, [](int, int r, int c) { return c < r ? 1.f : 0.f; });
    const StagePtr masked =
        make_stage(k_masked, 1, 3, 3, [](int, int r, int c) { return c < r ? 1.f : -k_infinity; });
    const StagePtr weights =
        make_stage(k_weights, 1, 3, 3, [](int, int r, int c) { return c < r ? 1.f / float(r) : 0.f; });
    const Trace trace = make_trace(words(3), {mask, masked, weights});
    const Figure whole = make_figure(trace, *weights, k_first, Presentation());
    for (int row = 0; row < 3; ++row) {
        const Figure one = make_row_figure(trace, *weights, k_first, Presentation(), row);
        const auto part = [&]<typename Cells>(const Cells& cells) {
            return Cells(cells.begin() + 3 * row, cells.begin() + 3 * row + 3);
        };
        EXPECT_EQ(one.rows, 1);
        EXPECT_EQ(one.values, part(whole.values));
        EXPECT_EQ(one.marks, part(whole.marks));
        EXPECT_EQ(one.row_labels, std::vector{whole.row_labels[std::size_t(row)]});
        EXPECT_EQ(one.fully_masked, std::vector<bool>{row == 0});
        EXPECT_EQ(one.scale.max, whole.scale.max);
    }
}

TEST(FigureTest, AKeyThatNoQueryMayLookAtIsMarkedWhereTheSoftmaxIsOverTheQueries) {
    const StagePtr mask = make_stage(k_mask, 1, 2, 3, [](int, int, int c) { return c == 1 ? 0.f : 1.f; });
    const StagePtr masked =
        make_stage(k_masked, 2, 2, 3, [](int, int, int c) { return c == 1 ? -k_infinity : 1.f; });
    const StagePtr weights = make_stage(k_weights, 2, 2, 3, [](int, int, int) { return 0.f; });
    const StagePtr context = make_stage(k_context, 2, 2, 3, [](int, int, int) { return 0.f; });
    Trace trace = make_trace(words(3), {mask, masked, weights, context});
    const std::vector<bool> none(3, false), second{false, true, false};
    const auto figure = [&](const StagePtr& stage) {
        return make_figure(trace, *stage, stage == context ? k_first : k_mean, Presentation());
    };
    EXPECT_EQ(figure(weights).fully_masked_columns, none);
    trace.records[2].op = std::make_shared<const Op>(op::Softmax{SoftmaxAxis::queries});
    trace.records[2].inputs = {masked};
    EXPECT_EQ(figure(mask).fully_masked_columns, second);
    EXPECT_EQ(figure(weights).fully_masked_columns, second);
    EXPECT_EQ(figure(weights).fully_masked, std::vector<bool>(2, false));
    EXPECT_EQ(figure(context).fully_masked_columns, none) << "its columns are features";
    const FigureLayout layout = lay_out(figure(weights), TextFace());
    EXPECT_EQ(texts(layout.columns), (std::vector<std::string>{"Can", "∅ you", "help"}));
    EXPECT_EQ(layout.legend.back().text, "every query is masked: weights are 0 (1 column)");
    trace.records[2].op = std::make_shared<const Op>(op::Hardmax{});
    EXPECT_EQ(figure(weights).fully_masked_columns, none);
}

TEST(FigureTest, WhatIsNotFiniteHasMarksOfItsOwnAndIsCountedInTheLegend) {
    const StagePtr scores = make_stage(k_scores, 1, 2, 2, [](int, int r, int c) {
        const float values[] = {std::nanf(""), k_infinity, -k_infinity, 3};
        return values[2 * r + c];
    });
    const Figure figure = make_figure(make_trace(words(2), {scores}), *scores, k_first, Presentation());
    EXPECT_EQ(figure.marks, (LargeVector<CellMark>{CellMark::nan, CellMark::plus_infinity,
                                                   CellMark::minus_infinity, CellMark::value}));
    EXPECT_EQ(figure.fill(0), figure.theme->nan);
    EXPECT_EQ(figure.text(1), "∞");
    const TextFace face;
    const FigureLayout layout = lay_out(figure, face);
    ASSERT_EQ(layout.legend.size(), 3u);
    EXPECT_EQ(layout.legend[0].text, "NaN (1)");
    EXPECT_TRUE(lay_out(diagonal(2, 48), face).legend.empty());
}

TEST(FigureTest, ASubtitleBreaksBetweenItsFactsAndLosesNone) {
    Figure figure = diagonal(2, 24);
    const std::vector<std::string> facts = {"a formula of a length", "8 × 8",       "rows are queries",
                                            "columns are keys",      "head 1 of 4", "softmax over the keys"};
    figure.subtitle = side_by_side(facts[0], {facts.begin() + 1, facts.end()});
    const FigureLayout layout = lay_out(figure, TextFace());
    std::istringstream lines(layout.subtitle_text);
    std::vector<std::string> found;
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count)
        for (const std::string& fact : side_by_side_parts(line)) found.push_back(fact);
    EXPECT_GT(count, 1) << layout.subtitle_text;
    EXPECT_EQ(found, side_by_side_parts(figure.subtitle));
    EXPECT_EQ(found.size(), facts.size());
}

TEST(FigureTest, ValuesBeyondAFixedRangeAreTold) {
    const StagePtr weights =
        make_stage(k_weights, 1, 1, 2, [](int, int, int c) { return c == 0 ? 0.1f : 0.9f; });
    const Trace trace = make_trace(words(2), {weights});
    Presentation presentation;
    presentation.range = {RangeChoice::Kind::fixed, 0, 0.5};
    const Figure figure = make_figure(trace, *weights, k_first, presentation);
    EXPECT_TRUE(figure.clipped_above);
    EXPECT_FALSE(figure.clipped_below);
    EXPECT_EQ(scale_ticks(figure, 400).back().text, "≥ 0.5");
    EXPECT_EQ(scale_ticks(figure, 400).front().text, "0.0");
    EXPECT_FALSE(make_figure(trace, *weights, k_first, Presentation()).clipped_above);
}

TEST(FigureTest, TicksAreRoundWithinTheScaleAndExactAtItsEnds) {
    Figure figure;
    figure.scale = {&colormap_of(ColormapKind::viridis), 0, 1};
    const auto ticks = [&](double min, double max, int pixels) {
        figure.scale.min = min;
        figure.scale.max = max;
        std::string all;
        double before = -1;
        for (const ScaleTick& tick : scale_ticks(figure, pixels)) {
            EXPECT_GT(tick.position, before);
            before = tick.position;
            all += tick.text + " ";
        }
        return all;
    };
    EXPECT_EQ(ticks(0, 1, 400), "0.00 0.25 0.50 0.75 1.00 ");
    EXPECT_EQ(ticks(-50, 50, 400), "-50 -25 0 25 50 ");
    EXPECT_EQ(ticks(-85.3, 85.3, 400), "-85.3 -50.0 0.0 50.0 85.3 ");
    EXPECT_EQ(ticks(0, 1, 40), "0.00 0.50 1.00 ");
    EXPECT_EQ(ticks(0, 0.00435, 400), "0.0000 0.0010 0.0020 0.0030 0.0040 0.0043 ") << "not 0.004 twice";
    EXPECT_EQ(ticks(-1e-6, 1e-6, 400), "-1e-06 -5e-07 0 5e-07 1e-06 ");
    EXPECT_EQ(ticks(1, 1 + 2.3e-16, 400).substr(0, 2), "1 ") << "ends, whatever the rounding";
    EXPECT_NE(ticks(-3.4e38, 3.4e38, 400).find("3.4e+38"), std::string::npos);
}

TEST(FigureTest, AllLabelsAreShownWhileTheyFitAndThinnedOutAfter) {
    const TextFace face;
    const FigureLayout eight = lay_out(diagonal(8, 48), face);
    EXPECT_EQ(texts(eight.rows), sentence());
    EXPECT_EQ(texts(eight.columns), sentence());
    EXPECT_EQ(eight.columns.angle, AxisLayout::Angle::level);
    EXPECT_FALSE(eight.rows.thinned);
    EXPECT_EQ(lay_out(diagonal(8, 24), face).columns.angle, AxisLayout::Angle::upright);
    const FigureLayout narrow = lay_out(diagonal(8, 28), face);
    EXPECT_EQ(narrow.columns.angle, AxisLayout::Angle::slanted);
    EXPECT_EQ(narrow.columns.labels.size(), 8u);
    const FigureLayout small = lay_out(diagonal(128, 8), face);
    EXPECT_EQ(small.columns.angle, AxisLayout::Angle::upright);
    EXPECT_EQ(small.rows.labels.size(), 64u);
    EXPECT_TRUE(small.rows.thinned);
    const FigureLayout tiny = lay_out(diagonal(1000, 1), face);
    EXPECT_EQ(tiny.rows.labels.size(), 50u);
}

TEST(FigureTest, FeaturesAreNumberedFromOneAndThinnedAtRoundNumbers) {
    const StagePtr stage = make_stage(k_embedding, 1, 2, 64, [](int, int, int c) { return c + 1.f; });
    Presentation presentation;
    presentation.cell_size = 4;
    const TextFace face;
    const Trace trace = make_trace(words(2), {stage});
    const FigureLayout layout = lay_out(make_figure(trace, *stage, k_first, presentation), face);
    EXPECT_EQ(texts(layout.columns), (std::vector<std::string>{"1", "5", "10", "15", "20", "25", "30", "35",
                                                               "40", "45", "50", "55", "60"}));
}

TEST(FigureTest, TheNumberAfterTheFirstLeavesItRoom) {
    const StagePtr stage = make_stage(k_embedding, 1, 2, 9, [](int, int, int c) { return c + 1.f; });
    Presentation presentation;
    presentation.cell_size = 8;
    const TextFace face;
    const FigureLayout layout =
        lay_out(make_figure(make_trace(words(2), {stage}), *stage, k_first, presentation), face);
    EXPECT_EQ(texts(layout.columns), (std::vector<std::string>{"1", "4", "6", "8"}));
}

TEST(FigureTest, CellsHaveALineBetweenThemOnlyWhereItDoesNotOutshineThem) {
    for (const int size : {1, 12, 16, 23}) EXPECT_EQ(diagonal(2, size).gap(), 0) << size;
    for (const int size : {24, 48, 512}) EXPECT_EQ(diagonal(2, size).gap(), 1) << size;
}

TEST(FigureTest, LabelsNeverOverlapAndNothingLeavesThePicture) {
    const TextFace face;
    for (const int n : {1, 2, 8, 40, 128}) {
        for (const int cell : {1, 2, 5, 8, 11, 12, 13, 17, 18, 24, 31, 48, 96}) {
            const Figure figure = diagonal(n, cell);
            const FigureLayout layout = lay_out(figure, face);
            const auto& labels = layout.columns.labels;
            for (std::size_t i = 1; i < labels.size(); ++i) {
                const double pitch = (labels[i].index - labels[i - 1].index) * cell;
                const double free = layout.columns.angle == AxisLayout::Angle::level
                                        ? pitch - (labels[i].width + labels[i - 1].width) / 2
                                    : layout.columns.angle == AxisLayout::Angle::slanted
                                        ? pitch * 0.7071 - 1.4 * layout.columns.style.size
                                        : pitch - layout.columns.style.size;
                EXPECT_GE(free, 1) << n << " " << cell;
            }
            EXPECT_EQ(layout.matrix.width, n * cell - figure.gap());
            EXPECT_GE(layout.matrix.x, 24);
            EXPECT_LE(layout.matrix.right() + 24, layout.size.width);
            EXPECT_LE(layout.matrix.bottom() + 24, layout.size.height);
            EXPECT_LE(layout.bar.bottom() + 24, layout.size.height);
            EXPECT_LE(layout.title.right() + 24, layout.size.width);
            EXPECT_EQ(layout.size.width % 4 + layout.size.height % 4 + layout.matrix.x % 4, 0);
        }
    }
}

TEST(FigureTest, ValuesAreWrittenWhereTheLongestFits) {
    const TextFace face;
    EXPECT_GT(lay_out(diagonal(4, 48), face).value_size, 11);
    EXPECT_GT(lay_out(diagonal(4, 96), face).value_size, 19);
    EXPECT_EQ(lay_out(diagonal(4, 16), face).value_size, 0);
    Figure silent = diagonal(4, 48);
    silent.write_values = false;
    EXPECT_EQ(lay_out(silent, face).value_size, 0);
    Figure longer = diagonal(4, 36);
    EXPECT_GT(lay_out(longer, face).value_size, 0);
    longer.values[1] = -1e-9f;
    EXPECT_LT(lay_out(longer, face).value_size, lay_out(diagonal(4, 36), face).value_size);
}

TEST(FigureTest, PicturesThatAreTooLargeSayWhichCellsToUse) {
    const auto message = [](int rows, int columns, int cell) -> std::string {
        try {
            require_drawable("weights", rows, columns, cell);
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::too_large);
            return error.what();
        }
        return "fits";
    };
    EXPECT_EQ(message(4096, 4096, 3), "fits");
    EXPECT_EQ(
        message(4096, 4096, 4),
        "a picture of \"weights\" (4096 × 4096) with cells of 4 pixels is larger than 32767 pixels a side or "
        "256 megapixels: use a cell size of at most 3");
    EXPECT_NE(message(1024, 16, 48).find("use a cell size of at most 31"), std::string::npos);
    EXPECT_EQ(message(1024, 16, 31), "fits");
    EXPECT_NE(message(1'000'000, 16, 1).find("export it as npy or csv instead"), std::string::npos);
    EXPECT_EQ(message(2'000'000'000, 2'000'000'000, 512).find("fits"), std::string::npos);
}

TEST(FigureTest, CellsOfLargeMatricesAreSmallerUnlessASizeIsAskedFor) {
    Presentation presentation;
    const auto size = [&](int rows, int columns) { return cell_size_of(presentation, rows, columns); };
    EXPECT_EQ(size(8, 8), 48);
    EXPECT_EQ(size(32, 32), 48);
    EXPECT_EQ(size(16, 64), 48);
    EXPECT_EQ(size(128, 128), 12);
    EXPECT_EQ(size(7, 512), 8);
    EXPECT_EQ(size(512, 7), 8);
    EXPECT_EQ(size(4096, 4096), 1);
    EXPECT_EQ(diagonal(64, std::nullopt).cell_size, 24);
    presentation.cell_size = 31;
    EXPECT_EQ(size(4096, 4096), 31);
}

TEST(FigureTest, ASenselessCellSizeIsRefused) {
    const StagePtr weights = make_stage(k_weights, 1, 1, 1, [](int, int, int) { return 1.f; });
    const Trace trace = make_trace(words(1), {weights});
    Presentation presentation;
    for (const int size : {0, -1, 513}) {
        presentation.cell_size = size;
        EXPECT_THROW(make_figure(trace, *weights, k_first, presentation), Error);
    }
}

TEST(FigureTest, AStagesNameAsTheTitleHasItsSubscriptAndOnesOwnWordsAreLeftAlone) {
    const Trace trace = evaluate(Experiment());
    Presentation presentation;
    const auto typesets = [&] {
        const Figure figure = make_figure(trace, *trace.find("W_q"_stage), {}, presentation);
        const Sheet sheet = compose(trace, *trace.find("W_q"_stage), {}, presentation);
        EXPECT_EQ(sheet.typesets_title, figure.typesets_title);
        return lay_out(figure, TextFace()).title_style.formula;
    };
    EXPECT_TRUE(typesets());
    presentation.title = "my_file_name";
    EXPECT_FALSE(typesets());
}

/// 1600 tokens are more than a picture shows one by one.
TEST(FigureTest, ACellOfManyPairsIsTheirStrongestOrTheirMean) {
    constexpr int k_many = 1600;
    Experiment e;
    e.input.text.clear();
    for (int i = 0; i < k_many; ++i) e.input.text += fmt::format("w{} ", i * 7 % 31);
    e.attention.projection = Projection::xavier;
    const Trace trace = evaluate(e, {}, {.on_demand = {.most_cells = 1000}});
    const Stage& weights = *trace.find("weights"_stage);
    Matrix all(k_many, k_many);
    weights.buffer.read(0, {0, 0, k_many, k_many}, {all.data(), k_many, k_many});
    for (const Pool pool : {Pool::dominant, Pool::mean}) {
        Presentation presentation;
        presentation.pooling = pool;
        const Figure figure = make_figure(trace, weights, k_first, presentation);
        ASSERT_EQ(figure.rows, k_many / 2);
        EXPECT_NE(figure.subtitle.find(pool == Pool::mean ? "mean" : "strongest"), std::string::npos)
            << figure.subtitle;
        for (int i = 0; i < figure.rows; i += 37)
            for (int j = 0; j < figure.columns; j += 41) {
                const auto block = all.block<2, 2>(2 * i, 2 * j).cast<double>();
                const double expected = pool == Pool::mean ? block.mean() : block.maxCoeff();
                // A weight is computed again for the block: the last digits of float32 may differ.
                EXPECT_NEAR(figure.values[std::size_t(i) * std::size_t(figure.columns) + std::size_t(j)],
                            expected, 1e-5 * expected)
                    << i << " " << j;
            }
    }
    Presentation presentation;
    for (const auto& [most, cells] : {std::pair{1600, 1600}, {1599, 800}, {800, 800}, {64, 50}}) {
        presentation.max_cells = most;
        const Figure figure = make_figure(trace, weights, k_first, presentation);
        EXPECT_EQ(figure.rows, cells) << most;
        EXPECT_EQ(figure.columns, cells) << most;
    }
    presentation.width = 84;  // as many cells as the column of a paper has room for
    presentation.max_cells = k_most_max_cells;
    EXPECT_EQ(make_figure(trace, weights, k_first, presentation).rows, 100);
    presentation.max_cells = 64;
    EXPECT_EQ(make_figure(trace, weights, k_first, presentation).rows, 50);
}

}  // namespace
}  // namespace attnscope
