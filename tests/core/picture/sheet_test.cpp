// Pictures for print: their size, their type, and what is composed on them.
#include "core/picture/sheet.h"

#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "core/error.h"
#include "core/graph/formula.h"
#include "core/graph/row_steps.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "core/mechanism/seq2seq/step_words.h"
#include "core/picture/compose.h"
#include "core/picture/render_png.h"
#include "core/picture/render_vector.h"
#include "core/picture/shown_matrix.h"
#include "core/session/examples.h"
#include "tests/sanitized.h"

namespace attnscope {
namespace {

constexpr double k_points_per_millimeter = 72 / 25.4;

Presentation on_paper(Compose compose, double width, double font_size = 8) {
    Presentation presentation;
    presentation.theme = ThemeKind::print;
    presentation.compose = compose;
    presentation.width = width;
    presentation.font_size = font_size;
    return presentation;
}

/// A is the same text with another seed.
PinnedSide pinned_for(const Experiment& e) {
    Experiment other = e;
    other.weights.seed = 7;
    return {{std::make_shared<const Trace>(evaluate(other)), {}, 1}, "seed 7", "seed 123"};
}

double right_of(const SheetLayout::Panel& panel) { return panel.x + panel.layout.size.width; }
double bottom_of(const SheetLayout::Panel& panel) { return panel.y + panel.layout.size.height; }

/// Everything is on the sheet, and no panel covers another's matrix.
void expect_orderly(const SheetLayout& layout) {
    EXPECT_LE(layout.needed, layout.size.width);
    for (std::size_t i = 0; i < layout.panels.size(); ++i) {
        const SheetLayout::Panel& panel = layout.panels[i];
        EXPECT_GE(panel.x, 0);
        EXPECT_GE(panel.y, layout.frame.subtitle.bottom());
        EXPECT_LE(right_of(panel), layout.size.width);
        EXPECT_LE(bottom_of(panel), layout.size.height);
        for (std::size_t j = 0; j < i; ++j) {
            const SheetLayout::Panel& other = layout.panels[j];
            const bool apart = panel.x + panel.layout.matrix.x >= other.x + other.layout.matrix.right() ||
                               other.x + other.layout.matrix.x >= panel.x + panel.layout.matrix.right() ||
                               panel.y + panel.layout.matrix.y >= other.y + other.layout.matrix.bottom() ||
                               other.y + other.layout.matrix.y >= panel.y + panel.layout.matrix.bottom();
            EXPECT_TRUE(apart) << i << " covers " << j;
        }
    }
}

TEST(SheetTest, EveryCompositionOfEveryStageOfEveryExampleIsAsWideAsItsPaper) {
    const TextFace face;
    int made = 0;
    std::size_t row = 0;
    for (const std::string& name : example_names()) {
        const Experiment e = load_example(name).experiment;
        const Trace trace = evaluate(e);
        const PinnedSide pinned = pinned_for(e);
        for (const auto& [compose, compose_name] : choices<Compose>())
            for (const StagePtr& stage : trace.stages()) {
                const bool once = compose == Compose::strip && stage != trace.stages().back();
                const HeadChoice head = head_on_screen(*stage, {});
                if (once || !why_not_composed(compose, trace, *stage, head, pinned).empty()) continue;
                if (!test::is_visited(row++, 5)) continue;
                SCOPED_TRACE(name + " " + std::string(stage->name()) + " " + std::string(compose_name));
                Sheet sheet = attnscope::compose(trace, *stage, head, on_paper(compose, 174), pinned);
                fit_cells(sheet, face);
                const SheetLayout layout = lay_out(sheet, face);
                expect_orderly(layout);
                EXPECT_NEAR(layout.size.width * layout.points, 174 * k_points_per_millimeter, layout.points);
                const bool is_long = sheet.panels.front().figure.cell_size == 1;
                EXPECT_TRUE(is_long || layout.size.height <= layout.size.width * 297.0 / 210 + 1);
                ++made;
            }
    }
    EXPECT_GT(made, test::k_sanitized ? 80 : 400);
}

TEST(SheetTest, StepsAreTheNumbersOfOneRowKeyByKey) {
    const Trace trace = evaluate(load_example("causal").experiment);
    const Stage& weights = *trace.find("weights"_stage);
    Presentation presentation = on_paper(Compose::steps, 174);
    presentation.lock("weights"_stage, Cell{3, 1});
    const Sheet sheet = compose(trace, weights, {}, presentation);
    const RowSteps row = row_steps(trace, weights, 0, 3);
    EXPECT_EQ(sheet.title, "weights of “" + trace.rows[3] + "”, step by step");
    ASSERT_EQ(sheet.panels.size(), row.steps.size() + 1) << "and the values before the products";
    for (std::size_t i = 0; i + 2 < row.steps.size(); ++i) {
        const Figure& figure = sheet.panels[i].figure;
        SCOPED_TRACE(row.steps[i].title);
        EXPECT_EQ(figure.row_labels, trace.columns);
        ASSERT_EQ(figure.values.size(), row.steps[i].numbers.size());
        for (std::size_t j = 0; j < figure.values.size(); ++j) {
            const bool is_before_the_mask = row.steps[i].kind == RowStep::Kind::scores;
            EXPECT_EQ(figure.marks[j] == CellMark::masked, j > 3 && !is_before_the_mask) << j;
            if (j <= 3 || is_before_the_mask) {
                EXPECT_EQ(figure.values[j], static_cast<float>(row.steps[i].numbers[j])) << j;
            }
        }
    }
    const Figure &values = sheet.panels[row.steps.size() - 2].figure,
                 &products = sheet.panels[row.steps.size() - 1].figure, &sum = sheet.panels.back().figure;
    const Stage &value = *trace.find("value"_stage), &context = *trace.find("context"_stage);
    for (int k = 0; k < products.columns; ++k) {
        double total = 0;
        for (int j = 0; j <= 3; ++j) {
            const float of_key = value.buffer.at(0, j, k);
            EXPECT_EQ(values.values[values.cell(j, k)], of_key);
            EXPECT_FLOAT_EQ(products.values[products.cell(j, k)], of_key * weights.buffer.at(0, 3, j));
            total += products.values[products.cell(j, k)];
        }
        EXPECT_NEAR(total, context.buffer.at(0, 3, k), 1e-5) << k;
        EXPECT_EQ(sum.values[sum.cell(0, k)], context.buffer.at(0, 3, k)) << k;
    }
    presentation.title = "";
    EXPECT_EQ(compose(trace, weights, {}, presentation).subtitle, "");
    EXPECT_EQ(why_not_composed(Compose::steps, trace, context, {}),
              "only a row of weights is computed step by step");
    EXPECT_EQ(why_not_composed(Compose::steps, trace, weights, {HeadChoice::Kind::mean}), "")
        << "one head is its own mean";
}

/// With the values, where these are at most 2.5 times as large.
TEST(SheetTest, WeightedValuesAndTheirSumShareTheRangeOfTheLargest) {
    int of_sum = 0, of_products = 0, of_values = 0;
    for (const char* example : {"scaled-dot-product", "causal", "multi-head"}) {
        const Trace trace = evaluate(load_example(example).experiment);
        const Stage& weights = *trace.find("weights"_stage);
        for (int i = 0; i < weights.shape().rows; ++i) {
            SCOPED_TRACE(std::string(example) + ", row " + std::to_string(i));
            Presentation presentation = on_paper(Compose::steps, 174);
            presentation.lock("weights"_stage, Cell{i, 0});
            const Sheet sheet = compose(trace, weights, {}, presentation);
            const Figure &sum = sheet.panels.back().figure, &products = (sheet.panels.end() - 2)->figure,
                         &values = (sheet.panels.end() - 3)->figure;
            const auto largest = [](const Figure& figure) {
                float most = 0;
                for (std::size_t k = 0; k < figure.values.size(); ++k)
                    if (figure.marks[k] == CellMark::value) most = std::max(most, std::abs(figure.values[k]));
                return most;
            };
            const float own = std::max(largest(sum), largest(products));
            const float of_all = trace.find("value"_stage)->buffer.range(0).magnitude();
            const bool with_values = of_all > own && of_all <= 2.5f * own;
            const float most = with_values ? of_all : own;
            of_values += with_values ? 1 : 0;
            EXPECT_FLOAT_EQ(static_cast<float>(values.scale.max), std::max(of_all, most));
            (largest(sum) > largest(products) ? of_sum : of_products) += 1;
            for (const Figure* each : {&sum, &products}) {
                EXPECT_FLOAT_EQ(static_cast<float>(each->scale.max), most);
                EXPECT_EQ(each->scale.min, -each->scale.max);
            }
        }
    }
    EXPECT_GT(of_sum, 0);
    EXPECT_GT(of_products, 0);
    EXPECT_GT(of_values, 0);
}

TEST(SheetTest, OnAWiderPaperTheCellsGrowAndTheTypeDoesNot) {
    const TextFace face;
    const Trace trace = evaluate(load_example("scaled-dot-product").experiment);
    const Stage& weights = *trace.find("weights"_stage);
    std::vector<SheetLayout> layouts;
    std::vector<int> cells;
    for (const double width : {84.0, 174.0}) {
        Sheet sheet = compose(trace, weights, {}, on_paper(Compose::none, width));
        fit_cells(sheet, face);
        layouts.push_back(lay_out(sheet, face));
        cells.push_back(sheet.panels.front().figure.cell_size);
    }
    EXPECT_GT(cells[1], cells[0] * 2);
    for (const SheetLayout& layout : layouts) {
        const FigureLayout& panel = layout.panels.front().layout;
        for (const TextStyle* style : {&panel.rows.style, &panel.columns.style, &panel.bar_style})
            EXPECT_DOUBLE_EQ(style->size * layout.points, 8) << "points";
    }
}

TEST(SheetTest, APaperThatIsTooNarrowIsRefusedWithAWidthThatIsEnough) {
    const TextFace face;
    Experiment e;
    e.input.text = "internationalization of a counterrevolutionary";
    const Trace trace = evaluate(e);
    const Stage& weights = *trace.find("weights"_stage);
    const auto fit = [&](double width) {
        Sheet sheet = compose(trace, weights, {}, on_paper(Compose::none, width, 20));
        fit_cells(sheet, face);
    };
    std::string message;
    try {
        fit(40);
    } catch (const Error& error) {
        message = error.what();
    }
    std::smatch enough;
    ASSERT_TRUE(std::regex_search(message, enough, std::regex("use at least ([0-9]+) mm"))) << message;
    EXPECT_NO_THROW(fit(std::stod(enough[1])));
}

TEST(SheetTest, AllFormatsHaveTheWidth) {
    const TextFace face;
    const Trace trace = evaluate(load_example("scaled-dot-product").experiment);
    Presentation presentation = on_paper(Compose::operands, 84);
    presentation.dpi = 300;
    const Page page = page_of(compose(trace, *trace.find("scores"_stage), {}, presentation), face);
    const Pixels pixels = render_pixels(page);
    EXPECT_NEAR(pixels.width, 84 / 25.4 * 300, 300 * page.points / 72 + 1);
    EXPECT_EQ(pixels.dpi, 300);
    const std::string png = collected([&](const ByteSink& to) { write_png(page, "", to); });
    const std::size_t at = png.find("pHYs");
    ASSERT_NE(at, std::string::npos);
    EXPECT_EQ(png.substr(at + 4, 4), std::string("\x00\x00\x2e\x23", 4)) << "11811 pixels per meter";
    EXPECT_NE(render_svg(page, "").find("width=\"84mm\""), std::string::npos);
    const std::string pdf = collected([&](const ByteSink& to) { write_pdf(page, to); });
    std::smatch box;
    ASSERT_TRUE(std::regex_search(pdf, box, std::regex("MediaBox \\[ 0 0 ([0-9.]+)")));
    EXPECT_NEAR(std::stod(box[1]), 84 * k_points_per_millimeter, 0.01);
}

TEST(SheetTest, AnEmptyTitleIsNone) {
    const Trace trace = evaluate(load_example("scaled-dot-product").experiment);
    const Stage& weights = *trace.find("weights"_stage);
    Presentation presentation = on_paper(Compose::none, 84);
    EXPECT_EQ(compose(trace, weights, {}, presentation).title, "weights");
    presentation.title = "";
    const Sheet bare = compose(trace, weights, {}, presentation);
    EXPECT_EQ(bare.title + bare.subtitle, "");
    presentation.width.reset();
    const Figure figure = make_figure(trace, weights, {}, presentation);
    EXPECT_EQ(figure.title + figure.subtitle, "");
}

TEST(ComposeTest, OperandsStandWhereTheirRowAndColumnMeetInACell) {
    const TextFace face;
    const Trace trace = evaluate(load_example("scaled-dot-product").experiment);
    const Stage& scores = *trace.find("scores"_stage);
    Sheet sheet = compose(trace, scores, {}, on_paper(Compose::operands, 120));
    ASSERT_EQ(sheet.panels.size(), 3u);
    fit_cells(sheet, face);
    const SheetLayout layout = lay_out(sheet, face);
    const auto matrix = [&](std::size_t i) {
        Box box = layout.panels[i].layout.matrix;
        box.x += layout.panels[i].x;
        box.y += layout.panels[i].y;
        return box;
    };
    const Box K = matrix(0), Q = matrix(1), S = matrix(2);
    EXPECT_EQ(K.x, S.x);
    EXPECT_EQ(K.width, S.width);
    EXPECT_EQ(Q.y, S.y);
    EXPECT_EQ(Q.height, S.height);
    const Figure &above = sheet.panels[0].figure, &left = sheet.panels[1].figure,
                 &result = sheet.panels[2].figure;
    // Σ over the features of the row of Q and the column of Kᵀ is the score.
    for (int i = 0; i < result.rows; ++i)
        for (int j = 0; j < result.columns; ++j) {
            double sum = 0;
            for (int k = 0; k < left.columns; ++k)
                sum += double{left.values[left.cell(i, k)]} * above.values[above.cell(k, j)];
            EXPECT_NEAR(sum, result.values[result.cell(i, j)], 1e-3);
        }
}

TEST(ComposeTest, EveryHeadOfEveryLayerIsThereOnOneRange) {
    const Trace trace = evaluate(load_example("learned-induction").experiment);
    const Stage& weights = *trace.find({"weights"_stage, 1});
    const Sheet sheet = compose(trace, weights, {}, on_paper(Compose::heads, 174));
    ASSERT_EQ(sheet.panels.size(), 4u);
    EXPECT_TRUE(sheet.one_scale);
    double largest = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        const Figure& figure = sheet.panels[i].figure;
        EXPECT_EQ(figure.scale.min, sheet.panels[0].figure.scale.min);
        EXPECT_EQ(figure.scale.max, sheet.panels[0].figure.scale.max);
        EXPECT_FALSE(figure.clipped_above || figure.clipped_below);
        const Stage& stage = *trace.find({"weights"_stage, static_cast<int>(i) / 2 + 1});
        EXPECT_EQ(figure.values[figure.cell(3, 1)], stage.buffer.host().head(static_cast<int>(i) % 2)(3, 1));
        for (const float value : figure.values) largest = std::max<double>(largest, value);
    }
    EXPECT_FLOAT_EQ(static_cast<float>(sheet.panels[0].figure.scale.max), static_cast<float>(largest));
}

TEST(ComposeTest, OneHeadHasNoPictureOfHeads) {
    const Trace trace = evaluate(load_example("scaled-dot-product").experiment);
    const Stage& weights = *trace.find("weights"_stage);
    EXPECT_EQ(why_not_composed(Compose::heads, trace, weights, {}),
              "weights has one head: choose heads 2 or more");
    EXPECT_THROW(compose(trace, weights, {}, on_paper(Compose::heads, 84)), Error);
}

TEST(ComposeTest, AComparisonIsOnOneScaleAndItsDifferenceIsBMinusA) {
    const Experiment e = load_example("scaled-dot-product").experiment;
    const Trace trace = evaluate(e);
    const Stage& weights = *trace.find("weights"_stage);
    const Sheet sheet = compose(trace, weights, {}, on_paper(Compose::compare, 174), pinned_for(e));
    ASSERT_EQ(sheet.panels.size(), 3u);
    const Figure &a = sheet.panels[0].figure, &b = sheet.panels[1].figure, &change = sheet.panels[2].figure;
    EXPECT_EQ(a.title, "A  seed 7");
    EXPECT_EQ(b.title, "B  seed 123");
    EXPECT_EQ(a.scale.max, b.scale.max);
    for (std::size_t i = 0; i < b.values.size(); ++i)
        EXPECT_EQ(change.values[i], b.values[i] - a.values[i]) << i;
    EXPECT_TRUE(change.scale.map->diverging);
    EXPECT_NE(why_not_composed(Compose::compare, trace, weights, {}), "") << "nothing is pinned";
}

TEST(ComposeTest, TheStripHasEveryStageOfTheShownLayer) {
    const Trace trace = evaluate(load_example("learned-induction").experiment);
    const Stage& weights = *trace.find({"weights"_stage, 2});
    Presentation presentation = on_paper(Compose::strip, 174);
    presentation.set_layer(2);
    const Sheet sheet = compose(trace, weights, {}, presentation);
    int weights_panels = 0;
    for (const SheetPanel& panel : sheet.panels)
        if (panel.figure.title.starts_with("weights · layer 2")) ++weights_panels;
    EXPECT_EQ(weights_panels, 1);
    EXPECT_GT(sheet.panels.size(), 10u);
}

TEST(ComposeTest, AnOperandOfManyFeaturesLeavesTheRoomToTheResult) {
    const TextFace face;
    const Trace trace = evaluate(load_example("scaled-dot-product").experiment);
    Sheet sheet = compose(trace, *trace.find("scores"_stage), {}, on_paper(Compose::operands, 84));
    sheet.title = sheet.subtitle = "";
    fit_cells(sheet, face);
    const Figure &above = sheet.panels[0].figure, &left = sheet.panels[1].figure,
                 &result = sheet.panels[2].figure;
    EXPECT_LT(above.cell_height(), above.cell_width());
    EXPECT_LT(left.cell_width(), left.cell_height());
    EXPECT_EQ(result.cell_width(), result.cell_height());
    const SheetLayout layout = lay_out(sheet, face);
    EXPECT_LT(layout.panels[1].layout.matrix.width, layout.panels[2].layout.matrix.width / 2);
    EXPECT_EQ(layout.panels[0].layout.columns.labels.size(), 8u) << "every key";
    EXPECT_EQ(layout.panels[1].layout.rows.labels.size(), 8u) << "every query";
    EXPECT_TRUE(left.column_labels.empty()) << "the features are named at K";
}

/// Layers × heads over 15 tokens, which a matrix of a twelfth of a column cannot name.
Trace stack(int layers, int heads) {
    Experiment e;
    e.mechanism = MechanismKind::transformer;
    e.input.text = "a b c d e a b c d e a b c d e";
    e.input.dim = 2 * heads;
    e.attention.heads = heads;
    e.transformer.layers = layers;
    return evaluate(e);
}

TEST(ComposeTest, AGridOfLayersAndHeadsIsNumberedAtItsEdgesAndFitsAColumn) {
    const TextFace face;
    const Trace trace = stack(12, 12);
    Presentation presentation = on_paper(Compose::heads, 84);
    presentation.title = "";
    Sheet sheet = compose(trace, *trace.find({"weights"_stage, 1}), {}, presentation);
    fit_cells(sheet, face);
    const SheetLayout layout = lay_out(sheet, face);
    expect_orderly(layout);
    EXPECT_EQ(sheet.row_axis.title, "layers");
    EXPECT_EQ(sheet.column_axis.title, "heads");
    ASSERT_EQ(layout.headings.size(), 12u + 12 + 2);
    for (std::size_t i = 0; i < 12; ++i) {
        const SheetLayout::Panel &in_column = layout.panels[12 * i], &in_row = layout.panels[i];
        const Box &matrix = in_column.layout.matrix, &other = in_row.layout.matrix;
        EXPECT_EQ(layout.headings[i].text, std::to_string(i + 1));
        EXPECT_NEAR(layout.headings[i].y, in_column.y + matrix.y + matrix.height / 2.0, 6) << "layer " << i;
        EXPECT_LE(layout.headings[i].x, in_column.x + matrix.x);
        EXPECT_EQ(layout.headings[12 + i].text, std::to_string(i + 1));
        EXPECT_NEAR(layout.headings[12 + i].x, in_row.x + other.x + other.width / 2.0, 1) << "head " << i;
    }
    for (const SheetPanel& panel : sheet.panels)
        EXPECT_TRUE(panel.figure.row_labels.empty() && panel.figure.column_labels.empty())
            << "all words or none";
}

TEST(ComposeTest, AFewLayersAndHeadsKeepTheirWords) {
    const TextFace face;
    const Trace trace = stack(2, 2);
    Sheet sheet = compose(trace, *trace.find({"weights"_stage, 1}), {}, on_paper(Compose::heads, 174));
    fit_cells(sheet, face);
    EXPECT_EQ(sheet.panels[0].figure.row_labels.size(), 15u);
    EXPECT_EQ(sheet.panels[2].figure.column_labels.size(), 15u) << "below the last row";
    EXPECT_TRUE(sheet.panels[0].figure.column_labels.empty());
}

TEST(ComposeTest, TheNameOfAHeadIsNextToItsMatrix) {
    const TextFace face;
    const Experiment e = load_example("designed-heads").experiment;
    const Trace trace = evaluate(e);
    Sheet sheet = compose(trace, *trace.find("weights"_stage), {}, on_paper(Compose::heads, 174));
    fit_cells(sheet, face);
    const SheetLayout layout = lay_out(sheet, face);
    for (std::size_t i = 0; i < sheet.panels.size(); ++i) {
        const FigureLayout& panel = layout.panels[i].layout;
        EXPECT_EQ(sheet.panels[i].figure.title, "head " + std::to_string(i + 1));
        EXPECT_LE(panel.matrix.y - panel.title.bottom(), 8);
    }
}

TEST(ComposeTest, AComparisonOnANarrowPaperGoesOnInAnotherLine) {
    const TextFace face;
    const Experiment e = load_example("scaled-dot-product").experiment;
    const Trace trace = evaluate(e);
    const auto rows_on = [&](double width) {
        Sheet sheet = compose(trace, *trace.find("weights"_stage), {}, on_paper(Compose::compare, width),
                              pinned_for(e));
        fit_cells(sheet, face);
        const SheetLayout layout = lay_out(sheet, face);
        expect_orderly(layout);
        std::vector<int> rows;
        for (std::size_t i = 0; i < sheet.panels.size(); ++i) {
            rows.push_back(sheet.panels[i].row);
            EXPECT_EQ(layout.panels[i].layout.rows.labels.empty(), sheet.panels[i].column > 0);
        }
        return rows;
    };
    EXPECT_EQ(rows_on(174), (std::vector<int>{0, 0, 0}));
    EXPECT_EQ(rows_on(84), (std::vector<int>{0, 0, 1}));
}

TEST(ComposeTest, WhatAHasNotIsMarkedAsNotComparedRatherThanAsMasked) {
    Experiment e = load_example("causal").experiment;
    const Trace trace = evaluate(e);
    e.input.text = e.input.text.substr(0, e.input.text.rfind(' '));  // without the last word
    const PinnedSide shorter{{std::make_shared<const Trace>(evaluate(e)), {}, 1}};
    const Sheet sheet =
        compose(trace, *trace.find("weights"_stage), {}, on_paper(Compose::compare, 174), shorter);
    const Figure& change = sheet.panels[2].figure;
    for (int i = 0; i < change.rows; ++i)
        for (int j = 0; j < change.columns; ++j)
            EXPECT_EQ(change.marks[change.cell(i, j)], j > i                 ? CellMark::masked
                                                       : i + 1 < change.rows ? CellMark::value
                                                                             : CellMark::not_compared)
                << i << " " << j;
    const std::vector<LegendItem> legend = legend_items(change);
    ASSERT_EQ(legend.size(), 2u);
    EXPECT_EQ(legend[0].text, "masked");
    EXPECT_EQ(legend[1].text, "not in A: not compared");
}

TEST(ComposeTest, TheRowsOfAnAlignmentBearTheTargetWords) {
    const Trace trace = evaluate(load_example("bahdanau-alignment").experiment);
    const Stage& alignment = *trace.find("alignment"_stage);
    const Figure figure = compose(trace, alignment, {}, on_paper(Compose::none, 84)).panels.front().figure;
    EXPECT_EQ(figure.row_title, "target words");
    EXPECT_EQ(figure.row_labels, said_words(trace));
    EXPECT_NE(make_figure(trace, alignment, {}, {}).row_labels, figure.row_labels)
        << "on screen a step also says what it reads";
}

}  // namespace
}  // namespace attnscope
