// The alignment in the window.
#include "core/mechanism/seq2seq/step_words.h"
#include "core/picture/view_figure.h"
#include "tests/interface.h"
#include "tests/sanitized.h"
#include "tests/sessions.h"

namespace attnscope {
namespace {

class AlignmentViewTest : public InterfaceTest {
protected:
    void SetUp() override { start(test::test_session("random-alignment")); }

    /// The middle of cell `index` of `count` in an item, from the top (or the left).
    ImVec2 row_of(const char* item, int index, int count) {
        const ImRect area = area_of("attnscope", {item});
        return {area.GetCenter().x, area.Min.y + (static_cast<float>(index) + 0.5f) * area.GetHeight() /
                                                     static_cast<float>(count)};
    }
    ImVec2 matrix_cell(int row, int column) {
        const ImRect area = area_of("attnscope", {"matrix"});
        const Shape& shape = stage("alignment").shape();
        return {area.Min.x +
                    (static_cast<float>(column) + 0.5f) * area.GetWidth() / static_cast<float>(shape.columns),
                area.Min.y +
                    (static_cast<float>(row) + 0.5f) * area.GetHeight() / static_cast<float>(shape.rows)};
    }
    const Stage& stage(const char* name) { return *document().trace()->find_named(name); }
    int looks_most_at(int step) {
        Eigen::Index at = 0;
        stage("alignment").buffer.host().head(0).row(step).maxCoeff(&at);
        return static_cast<int>(at);
    }
    void expect_hovered(const StageKey& stage, Cell cell) {
        ASSERT_TRUE(interaction().hovered) << stage_name(stage);
        EXPECT_EQ(interaction().hovered->stage, stage);
        EXPECT_EQ(interaction().hovered->cell, cell);
    }
    void change(const std::function<void(Session&)>& edit) {
        document().change(edit);
        settle();
    }
};

TEST_F(AlignmentViewTest, TheExamplesOpenOnIt) {
    for (const char* name : {"bahdanau-alignment", "encoder-decoder"})
        EXPECT_EQ(load_example(name).presentation.view, ViewKind::alignment) << name;
    EXPECT_EQ(seen_of("alignment", false).stage->name(), "alignment");
}

TEST_F(AlignmentViewTest, TabAndKeyOpenIt) {
    click(place_of("attnscope", {"pipeline"}));
    EXPECT_EQ(document().presentation().view, ViewKind::pipeline);
    press(Key::digit_5);
    EXPECT_EQ(document().presentation().view, ViewKind::alignment);
    press(Key::digit_1);
    click(place_of("attnscope", {"alignment"}));
    EXPECT_EQ(document().presentation().view, ViewKind::alignment);
}

TEST_F(AlignmentViewTest, OfAttentionTheTabIsDisabled) {
    start(load_example("scaled-dot-product"));
    click(place_of("attnscope", {"alignment"}));
    EXPECT_EQ(document().presentation().view, ViewKind::pipeline);
    press(Key::digit_5);
    EXPECT_EQ(document().presentation().view, ViewKind::pipeline);
    // A session that says so all the same shows the pipeline, and the mechanism brings the view.
    change([](Session& s) { s.presentation.view = ViewKind::alignment; });
    EXPECT_EQ(focused().stage->name(), "weights");
    change([](Session& s) { s.experiment.mechanism = MechanismKind::seq2seq; });
    click(matrix_cell(1, 1));
    EXPECT_EQ(document().presentation().stage, "alignment"_stage);
}

TEST_F(AlignmentViewTest, ACellOfTheMatrixIsPointedAtAndLocked) {
    move(matrix_cell(7, 3));
    expect_hovered("alignment"_stage, {7, 3});
    click(matrix_cell(7, 3));
    EXPECT_EQ(document().presentation().locked, (Cell{7, 3}));
    EXPECT_EQ(document().presentation().stage, "alignment"_stage);
    click(matrix_cell(7, 3));
    EXPECT_FALSE(document().presentation().locked);
}

TEST_F(AlignmentViewTest, AStepsWordStandsForItsLargestWeight) {
    move(row_of("steps", 9, 13));
    expect_hovered("alignment"_stage, {9, looks_most_at(9)});
    click(row_of("steps", 9, 13));
    EXPECT_EQ(document().presentation().locked, (Cell{9, looks_most_at(9)}));
}

TEST_F(AlignmentViewTest, ASourceWordLightsItsColumnAndIsLockedForTheChosenStep) {
    change([](Session& s) { s.presentation.locked = Cell{4, 0}; });
    move(row_of("sources", 6, 12));
    EXPECT_EQ(interaction().hovered_token, (PointedToken{6, true}));
    const Highlight lit =
        current_highlight(interaction(), document().presentation(), document().trace().get());
    EXPECT_EQ(lit.key, 6);
    EXPECT_EQ(lit.query, -1);
    click(row_of("sources", 6, 12));
    EXPECT_EQ(document().presentation().locked, (Cell{4, 6}));
}

TEST_F(AlignmentViewTest, ALineIsItsCell) {
    change([](Session& s) { s.experiment.weighting.normalizer = Normalization::hard; });
    const ImRect lines = area_of("attnscope", {"weight lines"});
    for (const int i : {2, 8}) {
        click({lines.Max.x - 3, row_of("steps", i, 13).y});
        EXPECT_EQ(document().presentation().locked, (Cell{i, looks_most_at(i)}));
    }
}

TEST_F(AlignmentViewTest, ArrowsGoThroughTheStepsAndTheWords) {
    press(Key::down);
    EXPECT_EQ(document().presentation().locked, (Cell{1, looks_most_at(0)}));
    const int column = looks_most_at(0);
    press(Key::down);
    press(Key::right);
    EXPECT_EQ(document().presentation().locked, (Cell{2, column + 1}));
    press(Key::up);
    press(Key::left);
    EXPECT_EQ(document().presentation().locked, (Cell{1, column}));
    for (int i = 0; i < 20; ++i) press(Key::down);
    EXPECT_EQ(document().presentation().locked, (Cell{12, column}));
    EXPECT_EQ(document().presentation().stage, "alignment"_stage);
    // In the pipeline they go along the stages.
    press(Key::digit_1);
    press(Key::right);
    EXPECT_EQ(document().presentation().stage, "decoder_context"_stage);
}

TEST_F(AlignmentViewTest, TheStepsPartsAreCellsOfTheirStages) {
    change([](Session& s) { s.presentation.locked = Cell{5, 2}; });
    move(row_of("scores", 3, 12));
    expect_hovered("alignment_scores"_stage, {5, 3});
    move(row_of("weights", 10, 12));
    expect_hovered("alignment"_stage, {5, 10});
    const auto vector = [&](const char* symbol, int index, int count) {
        const ImRect area = area_of("attnscope", {symbol, "vector"});
        return ImVec2{area.GetCenter().x, area.Min.y + (static_cast<float>(index) + 0.5f) * area.GetHeight() /
                                                           static_cast<float>(count)};
    };
    move(vector("s₅", 1, 8));
    expect_hovered("decoder_state"_stage, {4, 1});
    move(vector("s₅", 3, 8));  // the row of another step, and this one stays
    expect_hovered("decoder_state"_stage, {4, 3});
    move(vector("c₆", 15, 16));
    expect_hovered("decoder_context"_stage, {5, 15});
    move(vector("s₆", 7, 8));
    expect_hovered("decoder_state"_stage, {5, 7});
    click(vector("s₆", 7, 8));
    EXPECT_EQ(document().presentation().stage, "decoder_state"_stage);
    EXPECT_EQ(document().presentation().locked, (Cell{5, 7}));
    change([](Session& s) { s.presentation.locked = Cell{0, 0}; });
    move({2, 2});
    move(vector("s₀", 2, 8));
    expect_hovered("initial_state"_stage, {0, 2});
}

TEST_F(AlignmentViewTest, TheWordsThatAStepFindsLikelyAreCellsOfTheirProbabilities) {
    change([](Session& s) { s.presentation.locked = Cell{5, 2}; });
    ImGuiWindow* in = find_window("attnscope");
    for (const LikelyWord& each : likely_words(*document().trace(), 5, 8)) {
        // Each has its row of the table as its id.
        const ImGuiID id = ImHashStr("likely", 0, ImHashData(&each.word, sizeof each.word, in->ID));
        const ImRect area = area_of(in, id);
        ASSERT_GT(area.GetWidth(), 0) << each.word;
        move(area.GetCenter());
        expect_hovered("probabilities"_stage, {5, each.word});
    }
}

TEST_F(AlignmentViewTest, ADecoderThatAlignsWithItsCurrentStateMakesItBefore) {
    const auto state = [&] { return area_of("attnscope", {"s₁", "vector"}).Min.x; };
    EXPECT_GT(state(), area_of("attnscope", {"scores"}).Min.x);
    change([](Session& s) { s.experiment.seq2seq.alignment_state = AlignmentState::current; });
    EXPECT_LT(state(), area_of("attnscope", {"scores"}).Min.x);
}

TEST_F(AlignmentViewTest, WithoutAttentionTheContextStandsInItsPlace) {
    start(test::test_session("random-encoder-decoder"));
    EXPECT_EQ(seen_of("decoder_context", false).stage->name(), "decoder_context");
    click(row_of("steps", 3, 13));
    EXPECT_EQ(document().presentation().stage, "decoder_context"_stage);
    EXPECT_EQ(document().presentation().locked, (Cell{3, 0}));
    click(row_of("sources", 3, 12));
    EXPECT_EQ(document().presentation().locked, (Cell{3, 0})) << "no cell is a step's and a word's";
    press(Key::down);
    EXPECT_EQ(document().presentation().locked, (Cell{4, 0}));
}

TEST_F(AlignmentViewTest, TheChosenStepIsSeen) {
    const gl::Pixels first = picture();
    change([](Session& s) { s.presentation.locked = Cell{6, 1}; });
    const gl::Pixels sixth = picture();
    EXPECT_NE(first, sixth);
    change([](Session& s) { s.experiment.seq2seq.encoder = Encoder::forward; });
    EXPECT_NE(picture(), sixth);
}

TEST_F(AlignmentViewTest, EverySizeOfWindowAndSentenceIsDrawn) {
    for (const auto& [width, height] : {std::pair(1024, 700), std::pair(640, 400), std::pair(2560, 1440)})
        for (const int words : {1, 4, 300})
            for (const DecoderAttention decoder : {DecoderAttention::additive, DecoderAttention::none}) {
                if (test::k_sanitized && width != 1024) continue;
                Session session = test::test_session("random-alignment");
                session.experiment.input.text.clear();
                for (int i = 0; i < words; ++i) session.experiment.input.text += " w" + std::to_string(i);
                session.experiment.input.text2 = session.experiment.input.text;
                session.experiment.seq2seq.decoder_attention = decoder;
                session.experiment.weighting.mask = {{MaskForm::valid, {words / 2}}};
                start(std::move(session), width, height);
                press(Key::down);
                picture();
                EXPECT_EQ(document().problem(), "");
            }
}

}  // namespace
}  // namespace attnscope
