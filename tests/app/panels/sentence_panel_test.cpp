// Typing into the sentence field.
#include "app/actions/files.h"
#include "app/panels/panels.h"
#include "core/image/image.h"
#include "core/mechanism/evaluate.h"
#include "core/mechanism/mechanisms.h"
#include "core/picture/color.h"
#include "tests/interface.h"
#include "tests/keys.h"
#include "tests/sessions.h"

namespace attnscope {
namespace {

using namespace test;

class SentenceTest : public InterfaceTest {
protected:
    void retype(std::string_view sentence) {
        click(sentence_field());
        push(pressing(Key::a, k_ctrl));
        play(typing(sentence));
    }
};

TEST_F(SentenceTest, TypedTextIsTheSessionsAndIsComputed) {
    retype("The cat sat on the mat");
    EXPECT_EQ(text(), "The cat sat on the mat");
    EXPECT_FALSE(document().stale());
    EXPECT_EQ(document().trace()->rows.size(), 6U);
}

TEST_F(SentenceTest, AnEmojiAndACombiningAccentKeepTheirBytes) {
    const std::string sentence = "I 👍🏽 cafe\u0301 naïve 木";
    retype(sentence);
    EXPECT_EQ(text(), sentence);
    EXPECT_EQ(document().problem(), "");
}

TEST_F(SentenceTest, EachWordIsOneUndoStepInTheFieldToo) {
    retype("one two");
    press(Key::z, k_ctrl);
    EXPECT_EQ(text(), "one");
    press(Key::z, k_ctrl_shift);
    EXPECT_EQ(text(), "one two");
    play(typing("!"));
    EXPECT_EQ(text(), "one two!") << "the field did not follow the undo";
}

TEST_F(SentenceTest, UndoGoesBackToTheSentenceBefore) {
    const std::string before = text();
    retype("something else");
    for (int i = 0; i < 20 && document().can_undo(); ++i) press(Key::z, k_ctrl);
    EXPECT_EQ(text(), before);
    EXPECT_FALSE(document().stale());
}

TEST_F(SentenceTest, CtrlLTakesTheKeyboardThere) {
    press(Key::l, k_ctrl);
    EXPECT_TRUE(ImGui::GetIO().WantTextInput);
    push(pressing(Key::end));
    play(typing("!"));
    EXPECT_TRUE(text().ends_with("!")) << text();
}

TEST_F(SentenceTest, LettersAreNotShortcutsWhileTyping) {
    document().change([](Session& s) { s.presentation.stage = "query"_stage; });
    click(sentence_field());
    interaction().zoom = {2, 0.5, 0.5};
    push(pressing(Key::end));
    push(typing("0"));
    play(pressing(Key::left));
    EXPECT_TRUE(text().ends_with("0"));
    EXPECT_EQ(interaction().zoom.factor, 2);
    EXPECT_EQ(document().presentation().stage, "query"_stage);
}

TEST_F(SentenceTest, EmptyingItKeepsThePictureAndTypingGoesOn) {
    const auto before = document().trace();
    click(sentence_field());
    push(pressing(Key::a, k_ctrl));
    press(Key::backspace);
    EXPECT_EQ(text(), "");
    EXPECT_EQ(document().trace(), before);
    EXPECT_EQ(document().problem(), "");
    play(typing("again"));
    EXPECT_EQ(document().trace()->rows, std::vector<std::string>{"again"});
}

TEST_F(SentenceTest, EscapeLetsGoOfTheKeyboardAndKeepsTheText) {
    retype("kept");
    press(Key::escape);
    EXPECT_EQ(text(), "kept");
    EXPECT_FALSE(ImGui::GetIO().WantTextInput);
}

/// Two sentences: the second asked for, typed, pointed at and taken away.
class SecondSentenceTest : public SentenceTest {
protected:
    const std::string& second() { return document().experiment().input.text2; }
    void add(std::string_view sentence) {
        click(place_of("attnscope", {"add sentence"}));
        play(typing(sentence));
    }
    ImVec2 chip_place(const char* sentence, int token) {
        ImGuiWindow* in = find_window("attnscope");
        ImGuiID id = ImHashStr(sentence, 0, in->ID);
        id = ImHashData(&token, sizeof token, id);
        return area_of(in, ImHashStr("chip", 0, id)).GetCenter();
    }
};

TEST_F(SecondSentenceTest, IsTypedIntoItsOwnField) {
    add("je te vois");
    EXPECT_EQ(second(), "je te vois");
    EXPECT_EQ(document().trace()->columns, (std::vector<std::string>{"je", "te", "vois"}));
    EXPECT_EQ(document().trace()->rows.size(), 8U);
    EXPECT_EQ(focused().drawn.columns, 3);
    EXPECT_EQ(text(), load_example("scaled-dot-product").experiment.input.text);
}

TEST_F(SecondSentenceTest, EachOfItsWordsIsAnUndoStep) {
    add("one two");
    press(Key::z, k_ctrl);
    EXPECT_EQ(second(), "one");
    press(Key::z, k_ctrl);
    EXPECT_EQ(second(), "");
    EXPECT_EQ(document().trace()->columns.size(), 8U);
    press(Key::z, k_ctrl_shift);
    EXPECT_EQ(second(), "one");
}

TEST_F(SecondSentenceTest, SpacesAloneKeepThePicture) {
    const auto before = document().trace();
    add("  ");
    EXPECT_EQ(document().trace(), before);
    EXPECT_EQ(document().problem(), "");
}

TEST_F(SecondSentenceTest, TheButtonThatAddsItIsLegibleWhileItIsDisabled) {
    for (const ThemeKind theme : {ThemeKind::dark, ThemeKind::light}) {
        Session session = load_example("scaled-dot-product");
        session.presentation.theme = theme;
        start(session);
        const ImRect button = area_of("attnscope", {"add sentence"});
        session.experiment.input.image = drawn_picture();
        start(session);
        play({MouseMove{2, 2}});
        const gl::Pixels pixels = picture();
        const auto color = [&](int x, int y) { return rgb8(pixels.at(x, y) >> 8); };
        const int left = static_cast<int>(button.Min.x), top = static_cast<int>(button.Min.y);
        const Rgb8 background = color(left + 1, top + 1);
        double contrast = 1;
        for (int y = top; y < static_cast<int>(button.Max.y); ++y)
            for (int x = left; x < static_cast<int>(button.Max.x); ++x)
                contrast = std::max(contrast, contrast_ratio(color(x, y), background));
        EXPECT_GE(contrast, k_least_contrast) << name_of(theme);
    }
}

TEST_F(SecondSentenceTest, TheCrossRemovesIt) {
    add("one two");
    press(Key::escape);
    click(place_of("attnscope", {"remove", "×"}));
    EXPECT_EQ(second(), "");
    EXPECT_EQ(document().trace()->columns.size(), 8U);
    EXPECT_NE(place_of("attnscope", {"add sentence"}).x, -1);
    press(Key::z, k_ctrl);
    EXPECT_EQ(second(), "one two");
}

TEST_F(SecondSentenceTest, AnEmptyFieldGoesWhenItIsLeft) {
    add("");
    EXPECT_TRUE(interaction().second_sentence_open);
    press(Key::escape);
    settle();
    EXPECT_FALSE(interaction().second_sentence_open);
    EXPECT_FALSE(document().can_undo());
}

TEST_F(SecondSentenceTest, ItsFieldGoesWithItsSession) {
    for (const char* next : {"file.new", ""}) {
        start(load_example("scaled-dot-product"));
        add("one two");
        press(Key::escape);
        ASSERT_TRUE(interaction().second_sentence_open);
        SavedState saved;
        ActionContext c{document(), interaction(), saved, [](const std::string&) {}};
        *next ? workspace->run(*find_action(next)) : open_example(c, "image-attention");
        settle();
        EXPECT_FALSE(interaction().second_sentence_open);
        ImGuiWindow* root = find_window("attnscope");
        const auto& drawn = drawn_controls();
        EXPECT_EQ(std::ranges::find(drawn, id_of(*root, {"second sentence"})), drawn.end());
    }
}

TEST_F(SecondSentenceTest, ItsChipsAreKeysAndTheFirstOnesAreQueries) {
    add("one two three");
    press(Key::escape);
    move(chip_place("second sentence", 2));
    EXPECT_EQ(interaction().hovered_token, (PointedToken{2, true}));
    const Trace& trace = *document().trace();
    Highlight lit = current_highlight(interaction(), document().presentation(), &trace);
    EXPECT_EQ(lit.key, 2);
    EXPECT_EQ(lit.query, -1);
    click(chip_place("second sentence", 2));
    ASSERT_TRUE(document().presentation().locked);
    EXPECT_EQ(document().presentation().locked->column, 2);
    const int query = document().presentation().locked->row == 5 ? 4 : 5;  // a second click unlocks
    click(chip_place("sentence", query));
    int key = 0;
    document().trace()->find("weights"_stage)->buffer.row(0, query).maxCoeff(&key);
    EXPECT_EQ(document().presentation().locked, (Cell{query, key}));
}

TEST_F(SecondSentenceTest, TheKeyboardReachesIt) {
    press(Key::l, k_ctrl_shift);
    EXPECT_TRUE(ImGui::GetIO().WantTextInput);
    play(typing("hi"));
    EXPECT_EQ(second(), "hi");
    press(Key::escape);
    workspace->run(*find_action("edit.one_sentence"));
    EXPECT_EQ(second(), "");
}

TEST_F(SentenceTest, ACustomMatrixInItsPlaceDisablesIt) {
    start(load_example("scalar-cross-attention"));
    const Session before = document().session();
    const std::size_t controls = drawn_controls().size();
    click({400, 60});
    play(typing("x"));
    press(Key::l, k_ctrl);
    play(typing("x"));
    EXPECT_FALSE(ImGui::GetIO().WantTextInput);
    EXPECT_EQ(document().session(), before);
    document().change([](Session& s) { s.experiment.weights.custom.clear(); });
    settle();
    EXPECT_GT(drawn_controls().size(), controls) << "Tab passes it";
    press(Key::l, k_ctrl);
    play(typing("x"));
    EXPECT_NE(text(), before.experiment.input.text);
}

TEST_F(SentenceTest, EmptiedItLeavesTheMatricesFaint) {
    const auto brightness = [&] {
        const SeenMatrix seen = focused();
        const gl::Pixels pixels = picture();
        double sum = 0;
        for (int i = 0; i < seen.drawn.rows; ++i)
            for (int j = 0; j < seen.drawn.columns; ++j) {
                const ImVec2 at = bare_point(seen, i, j);
                const std::uint32_t color = pixels.at(static_cast<int>(at.x), static_cast<int>(at.y));
                sum += (color >> 24) + (color >> 16 & 0xFF) + (color >> 8 & 0xFF);
            }
        return sum;
    };
    const double before = brightness();
    document().change([](Session& s) { s.experiment.input.text.clear(); });
    settle();
    EXPECT_LT(brightness(), 0.7 * before);
}

TEST_F(SentenceTest, TimesTakeTenLinesAtMost) {
    Session session = test::test_session("random-alignment");
    const Trace trace = evaluate(session.experiment);
    ASSERT_GT(trace.records.size(), 30U);
    const std::string text = stage_times_text(trace);
    EXPECT_LE(std::ranges::count(text, '\n'), 10) << text;
    EXPECT_NE(text.find("other stages"), std::string::npos) << text;
    const Trace again = evaluate(session.experiment, trace);
    EXPECT_EQ(stage_times_text(again), std::to_string(trace.records.size()) + " stages reused\n");
}

TEST_F(SentenceTest, TheStatusBarCountsWhatThereIs) {
    const auto sizes = [](const Experiment& e) { return sizes_text(evaluate(e)); };
    Experiment e;
    EXPECT_EQ(sizes(e), "8 tokens · d 16 · 1 head");
    e.input.text2 = "three keys here";
    e.attention.heads = 2;
    EXPECT_EQ(sizes(e), "8 queries · 3 keys · d 16 · 2 heads");
    e = load_example("scalar-cross-attention").experiment;
    EXPECT_EQ(sizes(e), "3 queries · 3 keys · d 1 · 1 head");
    e.weights.custom.clear();
    e.attention.scale = {Scale::Kind::none};
    e.weights.custom.insert_or_assign("scores", CustomMatrix(Matrix::Ones(1, 6)));
    EXPECT_EQ(sizes(e), "1 query · 6 keys · 1 head");
    EXPECT_EQ(sizes(test::test_session("random-alignment").experiment), "13 steps · 12 source words · d 16");
}

/// Words, each of which says where it stands.
std::string numbered_words(int first, int last) {
    std::string words;
    for (int i = first; i <= last; ++i) words += (i > first ? " word" : "word") + std::to_string(i);
    return words;
}

class LongSentenceTest : public InterfaceTest {
protected:
    void SetUp() override {
        Session session = load_example("scaled-dot-product");
        session.experiment.input.text = numbered_words(1, 400);
        start(session);
    }
    bool has_chip(int token) {
        ImGuiWindow* in = find_window("attnscope");
        const ImGuiID sentence = ImHashStr("sentence", 0, in->ID);
        return area_of(in, ImHashStr("chip", 0, ImHashData(&token, sizeof token, sentence))).GetWidth() > 0;
    }
    void lock(const std::optional<Cell>& cell) {
        document().change(
            [&](Session& s) { s.presentation.lock(main_stage(*document().trace()).key(), cell); });
        settle();
    }
};

TEST_F(LongSentenceTest, TheChipsFollowTheLockedToken) {
    EXPECT_TRUE(has_chip(0));
    EXPECT_FALSE(has_chip(200));
    lock(Cell{200, 3});
    EXPECT_TRUE(has_chip(200));
    EXPECT_FALSE(has_chip(0));
    lock(Cell{399, 3});
    EXPECT_TRUE(has_chip(399)) << "the last one";
    lock(std::nullopt);
    EXPECT_TRUE(has_chip(0)) << "once nothing is locked";
}

TEST_F(LongSentenceTest, TheChipsFollowWhatIsZoomedTo) {
    interaction().zoom = {16, 0.5, 0.75};
    settle();
    EXPECT_TRUE(has_chip(300));
    EXPECT_FALSE(has_chip(0));
}

TEST_F(LongSentenceTest, ItIsTypedIntoWhereItWasClicked) {
    lock(Cell{300, 3});
    // The part that is shown begins three words before the locked one, the 301st.
    const ImRect excerpt = area_of("attnscope", {"excerpt##sentence"});
    click({excerpt.Min.x + 34, excerpt.GetCenter().y});
    EXPECT_TRUE(ImGui::GetIO().WantTextInput);
    play(typing("X"));
    EXPECT_EQ(text(), numbered_words(1, 297) + " X" + numbered_words(298, 400));
    press(Key::escape);
    EXPECT_GT(area_of("attnscope", {"excerpt##sentence"}).GetWidth(), 0) << "and is a part again";
}

TEST_F(LongSentenceTest, CtrlLTakesTheKeyboardThere) {
    lock(Cell{300, 3});
    press(Key::l, k_ctrl);
    EXPECT_TRUE(ImGui::GetIO().WantTextInput);
    play(typing("X"));
    EXPECT_EQ(text(), numbered_words(1, 297) + " X" + numbered_words(298, 400));
}

TEST_F(LongSentenceTest, ItIsDrawnWhereMatricesReplaceItsTokens) {
    for (const char* name : {"scores", "query"}) {
        Session session = load_example("scaled-dot-product");
        session.experiment.input.text = numbered_words(1, 400);
        session.experiment.attention.scale = {Scale::Kind::none};
        session.experiment.weights.set_custom(name, Matrix::Random(16, 16));
        start(session);
        ASSERT_TRUE(document().trace()) << document().problem();
        lock(Cell{9, 9});
        EXPECT_GT(area_of("attnscope", {"excerpt##sentence"}).GetWidth(), 0) << name;
    }
}

TEST_F(LongSentenceTest, AWordIsFoundByTyping) {
    press(Key::f, k_ctrl);
    push(typing("word250"));
    settle();
    press(Key::enter);
    ASSERT_TRUE(document().presentation().locked);
    EXPECT_EQ(document().presentation().locked->row, 249);
    EXPECT_TRUE(has_chip(249));
    const SeenMatrix matrix = focused();
    EXPECT_GT(matrix.pitch_y(), 6) << "a cell can be seen";
    EXPECT_TRUE(matrix.sees(cell_place(249, document().presentation().locked->column)));
}

}  // namespace
}  // namespace attnscope
