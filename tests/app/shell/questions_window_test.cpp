// The questions of learners: each is answered in three actions, with the mouse as with the keys. What the
// window then shows is in docs/questions.md; ATTNSCOPE_UPDATE=1 updates the pictures there.
#include <fmt/format.h>

#include <algorithm>

#include "core/session/questions.h"
#include "tests/interface.h"
#include "tests/keys.h"
#include "tests/picture_fixture.h"
#include "tests/sanitized.h"
#include "tests/screen_texts.h"
#include "tests/window_picture.h"

namespace attnscope {
namespace {

using namespace test;

/// What a learner types to find a question.
constexpr std::array k_words = {
    "attend to most",      "why is this cell", "dividing by",   "see the future",
    "two heads differ",    "artifact",         "softmax turn",  "output made of",
    "dot additive differ", "padding do",       "decoder align", "soft hard global",
};

class QuestionsWindowTest : public InterfaceTest {
protected:
    static constexpr int k_most_actions = 3;

    void SetUp() override {
        actions = 0;
        start(load_example("scaled-dot-product"), 1920, 1200);
        if (!window) return;
        *workspace->controls().folded_sections = PanelLayout{}.folded_sections;  // as at the first start
        workspace->controls().whole_sections->clear();
    }
    void press_key(Key key, Mods mods = {}) {
        press(key, mods);
        ++actions;
    }
    void type(std::string_view text) {
        play(typing(text));
        ++actions;
    }
    void click_at(ImVec2 at) {
        click(at);
        ++actions;
    }
    void expect_answer(const Question& question) {
        EXPECT_LE(actions, k_most_actions);
        EXPECT_EQ(interaction().dialog, Dialog::none);
        Session expected = answer(question);
        expected.presentation.theme = document().session().presentation.theme;
        EXPECT_EQ(document().session(), expected);
        EXPECT_EQ(document().session().note, fmt::format("{} {}", question.text, question.look));
    }

    int actions = 0;

    /// The window, with the pointer out of the way, looks as in the guide.
    void expect_picture(std::size_t question) {
        if (!window->host().layer().font_warning().empty()) return;
        play({MouseMove{2, 2}});
        interaction().notice = {};
        expect_stored_picture(fmt::format(ATTNSCOPE_SOURCE_DIR "/docs/figures/question-{}.png", question + 1),
                              without_alpha(picture()), {});
    }
};

TEST_F(QuestionsWindowTest, EachIsAnsweredInThreeActionsWithTheKeys) {
    if (!window) GTEST_SKIP();
    ASSERT_EQ(questions().size(), k_words.size());
    for (std::size_t i = 0; i < k_words.size(); ++i) {
        if (!test::is_visited(i, 4)) continue;
        SCOPED_TRACE(questions()[i].text);
        SetUp();
        press_key(Key::p, k_ctrl);
        type(k_words[i]);
        press_key(Key::enter);
        expect_answer(questions()[i]);
        expect_picture(i);
    }
}

TEST_F(QuestionsWindowTest, EachIsAnsweredInTwoClicks) {
    if (!window) GTEST_SKIP();
    for (std::size_t i = 0; i < questions().size(); ++i) {
        const Question& question = questions()[i];
        SCOPED_TRACE(question.text);
        SetUp();
        click_at(place_of("attnscope", {"Help"}));
        click_at(place_of("##Popup", {std::string(question.text)}));
        expect_answer(question);
        if (test::is_visited(i, 4)) expect_picture(i);
    }
}

TEST_F(QuestionsWindowTest, EachNoteIsWholeAtTheUsualSize) {
    if (!window) GTEST_SKIP();
    for (const Question& question : questions()) {
        start_noted(answer(question), 1600, 1000);
        std::string note(question.look);
        std::erase(note, ' ');
        const auto ends_the_note = [&](const ScreenText& line) {
            return line.text.size() > 5 && note.ends_with(line.text);
        };
        step(true);
        EXPECT_TRUE(std::ranges::any_of(texts_on_screen(), ends_the_note)) << question.text;
    }
}

/// The question about the seed is about how the projections are drawn, whose section is folded at first.
TEST_F(QuestionsWindowTest, ItsSettingIsMarkedAndInSight) {
    if (!window) GTEST_SKIP();
    const Question& question = questions()[5];
    ASSERT_EQ(question.settings.front(), OptionName("projection"));
    /// At the left end of a row; the rows are named as for place_of.
    const auto mark_of = [&](const std::vector<std::string>& row) {
        const ImVec2 label = place_of("/experiment_", row);
        const ImGuiWindow* panel = find_window("/experiment_");
        const Pixels shown = without_alpha(picture());
        return panel ? pixel(shown, static_cast<int>(panel->Pos.x) + 1, static_cast<int>(label.y)) : Rgb8{};
    };
    const auto is_marked = [&](const std::vector<std::string>& row) {
        return mark_of(row) != mark_of({"Temperature", "label"});
    };
    const std::vector<std::string> init = {"projection", "Init", "label"};
    ASSERT_TRUE(workspace->controls().folded_sections->contains("Projections"));
    const ImGuiID focus = workspace->controls().focus.id;
    click_at(place_of("attnscope", {"Help"}));
    click_at(place_of("##Popup", {std::string(question.text)}));
    settle();
    EXPECT_FALSE(workspace->controls().folded_sections->contains("Projections"));
    EXPECT_TRUE(is_marked(init));
    EXPECT_FALSE(is_marked({"Factor", "label"}));
    EXPECT_EQ(workspace->controls().focus.id, focus) << "Space and the arrow keys stay the view's";
    click_at(place_of("attnscope", {"close note"}));
    settle();
    EXPECT_FALSE(is_marked(init));
}

}  // namespace
}  // namespace attnscope
