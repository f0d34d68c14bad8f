// For any choice of heads, a stage is shown, explained, copied and exported as the same matrix, or refused
// for the same reason.
#include "core/picture/shown_matrix.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "app/actions/matrix_text.h"
#include "app/views/matrix_painter.h"
#include "core/error.h"
#include "core/export/export.h"
#include "core/export/matrix_files.h"
#include "core/graph/explain.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "core/number_text.h"
#include "core/session/examples.h"
#include "tests/drawn_sessions.h"
#include "tests/interface.h"
#include "tests/random_attention.h"
#include "tests/random_seq2seq.h"
#include "tests/random_transformer.h"
#include "tests/sanitized.h"
#include "tests/written.h"

namespace attnscope {
namespace {

using Kind = HeadChoice::Kind;
using Cells = std::vector<std::vector<std::string>>;

/// The cells of a table without its labels, which stand before the first mark and above the first line end.
Cells cells_of(const std::string& table, char mark, int columns) {
    Cells cells;
    std::istringstream lines(table);
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
        std::vector<std::string> row;
        for (int c = 0; c < columns; ++c) {
            const std::size_t at = line.rfind(mark);
            row.insert(row.begin(), line.substr(at + 1));
            line.resize(at);
        }
        cells.push_back(std::move(row));
    }
    return cells;
}

std::string message_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

/// Some cells of a matrix, on a grid.
std::vector<Cell> some_cells(const Shape& shape) {
    std::vector<Cell> cells;
    for (int r = 0; r < shape.rows; r += std::max(1, shape.rows / 3))
        for (int c = 0; c < shape.columns; c += std::max(1, shape.columns / 3)) cells.push_back({r, c});
    return cells;
}

void expect_nowhere(const Trace& trace, const Stage& stage, const Presentation& presentation,
                    const HeadChoice& head) {
    const std::string name(stage.name()), why = why_not_shown(stage, head, name);
    EXPECT_FALSE(shown_stage(trace, stage.key(), presentation)) << name;
    EXPECT_EQ(message_of([&] { focused_matrix_text(trace, presentation); }), why_not_shown(stage, head));
    EXPECT_EQ(message_of([&] { plan_export(trace, {{name}, head, {FileFormat::csv}}); }), why);
    EXPECT_EQ(message_of([&] { test::written_csv(trace, stage, head); }), why);
    EXPECT_EQ(message_of([&] { test::written_json(trace, stage, head); }), why);
    EXPECT_EQ(message_of([&] { test::written_npy(stage, head); }), why);
    EXPECT_EQ(message_of([&] { make_figure(trace, stage, head, presentation); }), why);
}

void expect_everywhere(const Trace& trace, const Stage& stage, const Presentation& presentation,
                       const HeadChoice& head) {
    const std::string name(stage.name());
    const auto shown = shown_stage(trace, stage.key(), presentation);
    ASSERT_TRUE(shown) << name;
    const bool mean = head.kind == Kind::mean && stage.shape().heads > 1;
    EXPECT_EQ(shown->head_index() < 0, mean) << name;
    const int columns = stage.shape().columns;
    if (stage.shape().rows * columns > 1600) return;  // larger ones take the same path, and long
    const Cells copied = cells_of(focused_matrix_text(trace, presentation), '\t', columns);
    EXPECT_EQ(copied, cells_of(test::written_csv(trace, stage, head), ',', columns)) << name;
    const auto items = plan_export(trace, {{name}, head, {FileFormat::csv}});
    ASSERT_EQ(items.size(), 1U) << name;
    EXPECT_EQ(items[0].file_name.find("-mean") != std::string::npos, mean) << items[0].file_name;
    EXPECT_EQ(cells_of(export_bytes(trace, {trace.experiment, presentation, ""}, items[0]), ',', columns),
              copied);
    for (const auto& [row, column] : some_cells(stage.shape())) {
        const std::string text = exact_text(shown->at(row, column));
        EXPECT_EQ(copied[std::size_t(row)][std::size_t(column)], text) << name;
        const Proof proof = explain(trace, stage, shown->head_index(), row, column);
        EXPECT_EQ(exact_text(proof.value), text) << name;
    }
    const Figure figure = make_figure(trace, stage, head, presentation);
    EXPECT_EQ(figure.subtitle.find("mean over") != std::string::npos, mean) << figure.subtitle;
    EXPECT_TRUE(figure.subtitle.starts_with(formula_shown(trace, stage, head))) << figure.subtitle;
    for (const auto& [row, column] : some_cells(stage.shape())) {
        const std::size_t at = figure.cell(row, column);
        EXPECT_EQ(exact_text(figure.values[at]), exact_text(shown->at(row, column))) << name;
        const bool hatched = stage.info->unit != Unit::boolean && figure.marks[at] == CellMark::masked;
        EXPECT_EQ(hatched, shown->closed(row, column)) << name << " " << row << " " << column;
    }
}

void expect_one_thing(const Trace& trace) {
    for (const StageRecord& record : trace.records) {
        const Stage& stage = *record.stage;
        Presentation presentation;
        presentation.focus(stage.key());
        for (int h = 0; h <= trace.experiment.attention.heads; ++h) {
            presentation.head =
                h < trace.experiment.attention.heads ? HeadChoice{Kind::one, h} : HeadChoice{Kind::mean};
            const HeadChoice head = head_on_screen(stage, presentation.head);
            const std::string why = why_not_shown(stage, head);
            why.empty() ? expect_everywhere(trace, stage, presentation, head)
                        : expect_nowhere(trace, stage, presentation, head);
            if (presentation.head.kind == Kind::one) {
                EXPECT_EQ(why, "") << stage.name() << ": every head is shown";
            }
        }
    }
}

TEST(ShownMatrixTest, EveryStageOfEveryExampleIsOneThingEverywhere) {
    for (const std::string& name : example_names()) {
        SCOPED_TRACE(name);
        Experiment e = load_example(name).experiment;
        expect_one_thing(evaluate(e));
        if (e.mechanism != MechanismKind::attention || e.input.dim % 2 != 0 || e.attention.heads != 1)
            continue;
        e.attention.heads = 2;
        std::optional<Trace> trace;
        try {
            trace = evaluate(e);
        } catch (const Error&) {
            continue;  // what is given fits one head alone
        }
        expect_one_thing(*trace);
    }
}

TEST(ShownMatrixTest, EveryStageOfRandomExperimentsIsOneThingEverywhere) {
    int evaluated = 0;
    for (unsigned seed = 1; seed <= (test::k_sanitized ? 40 : 120); ++seed) {
        SCOPED_TRACE(seed);
        test::Dice dice(seed);
        std::optional<Trace> trace;
        try {
            trace = evaluate(seed % 5 == 0   ? test::random_seq2seq(dice)
                             : seed % 5 == 1 ? test::random_transformer(dice)
                                             : test::random_attention(dice));
        } catch (const Error&) {
            continue;  // settings that exclude each other
        }
        expect_one_thing(*trace);
        ++evaluated;
        if (HasFailure()) return;
    }
    EXPECT_GT(evaluated, test::k_sanitized ? 12 : 40);
}

TEST(ShownMatrixTest, OnlyNumbersOfQueriesAndKeysHaveAMean) {
    const Trace trace = evaluate(test::four_heads().experiment);
    for (const StagePtr& stage : trace.stages()) {
        if (stage->shape().heads == 1) continue;
        const bool of_pairs =
            stage->info->rows == Axis::query_token && stage->info->columns == Axis::key_token;
        EXPECT_EQ(why_not_shown(*stage, {Kind::mean}).empty(), of_pairs) << stage->name();
    }
    EXPECT_EQ(why_not_shown(*trace.find("context"_stage), {Kind::mean}),
              "context has no mean over heads, which only stages of queries × keys have: choose a head");
}

/// Every row of the table, as a stage of two heads.
TEST(ShownMatrixTest, EveryStageWithAMeanShowsItAndEveryOtherSaysWhyNot) {
    int masks = 0;
    for (const StageInfo& info : stage_table()) {
        SCOPED_TRACE(info.name);
        const Stage stage{&info, Buffer(Tensor(Shape{.heads = 2, .rows = 3, .columns = 4}))};
        const bool of_pairs = info.rows == Axis::query_token && info.columns == Axis::key_token;
        const bool is_mask = info.unit == Unit::boolean;
        EXPECT_EQ(has_mean(stage), of_pairs && !is_mask);
        const std::string why = why_not_shown(stage, {Kind::mean}, info.name);
        EXPECT_EQ(why.empty(), has_mean(stage)) << why;
        EXPECT_EQ(why.find("a mask has no mean over heads") != why.npos, is_mask) << why;
        masks += is_mask;
    }
    EXPECT_EQ(masks, 3);
}

TEST(ShownMatrixTest, OnScreenAReasonNamesTheStageByItsHeading) {
    const Trace trace = evaluate(test::four_heads().experiment);
    const Stage& keys = *trace.find("key_heads"_stage);
    EXPECT_TRUE(why_not_shown(keys, {Kind::mean}).starts_with("key heads has no mean"));
    EXPECT_TRUE(message_of([&] { shown_matrix(keys, {Kind::mean}); }).starts_with("key_heads has no mean"));
}

class MeanTest : public InterfaceTest {
protected:
    void SetUp() override {
        Session session = test::four_heads();
        session.presentation.head = {Kind::mean};
        session.presentation.stage = "context"_stage;
        start(std::move(session));
    }
    bool is_drawn(const std::string& stage) {
        step();
        for (const SeenMatrix& seen : seen_matrices())
            if (seen.stage->name() == stage) return true;
        return false;
    }
};

TEST_F(MeanTest, AStageWithoutOneIsNotDrawnNorCopiedNorExported) {
    ASSERT_TRUE(document().trace());
    for (const char* stage : {"query_heads", "key_heads", "value_heads", "context"})
        EXPECT_FALSE(is_drawn(stage)) << stage;
    EXPECT_TRUE(is_drawn("weights"));
    const std::string why = why_not_shown(*document().trace()->find("context"_stage), {Kind::mean});
    press(Key::c, {.ctrl = true});
    EXPECT_TRUE(interaction().notice.problem);
    EXPECT_EQ(interaction().notice.text, why);
    press(Key::up);
    ASSERT_EQ(document().presentation().head.kind, Kind::one);
    EXPECT_TRUE(is_drawn("context"));
}

}  // namespace
}  // namespace attnscope
