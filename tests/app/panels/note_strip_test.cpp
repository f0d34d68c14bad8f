// The note of an example, in the window.
#include <cstdlib>
#include <filesystem>

#include "app/actions/files.h"
#include "app/panels/panels.h"
#include "core/files/file.h"
#include "core/files/png.h"
#include "tests/interface.h"
#include "tests/sanitized.h"

namespace attnscope {
namespace {

class NoteTest : public InterfaceTest {
protected:
    void SetUp() override { start_noted(load_example("bahdanau-alignment"), 1024, 700); }

    /// Height of the strip; 0 where it is not drawn.
    float strip_height() {
        step();
        ImGuiWindow* root = ImGui::FindWindowByName("attnscope");
        const ImGuiID button = id_of(*root, {"close note"});
        const auto& drawn = drawn_controls();
        if (std::ranges::find(drawn, button) == drawn.end()) return 0;
        const ImRect place = area_of(root, id_of(*root, {"note"}));
        return place.GetHeight();
    }
    bool is_shown() { return strip_height() > 0; }

    /// Writes a picture to look at, if ATTNSCOPE_LOOK names a folder.
    void look(const std::string& name) {
        const char* folder = std::getenv("ATTNSCOPE_LOOK");
        if (!folder) return;
        const gl::Pixels pixels = picture();
        Pixels rgb{pixels.width, pixels.height, 3, {}};
        for (std::size_t i = 0; i < pixels.rgba.size(); i += 4)
            rgb.bytes.insert(rgb.bytes.end(), {pixels.rgba[i], pixels.rgba[i + 1], pixels.rgba[i + 2]});
        write_file((std::filesystem::path(folder) / (name + ".png")).string(), encode_png(rgb, {}));
    }
};

TEST_F(NoteTest, CloseWithTheCrossAndStaysClosed) {
    if (!window) GTEST_SKIP();
    ASSERT_TRUE(is_shown());
    click(place_of("attnscope", {"close note"}));
    EXPECT_FALSE(is_shown());
    document().change([](Session& session) { session.experiment.weights.seed = 7; });
    settle();
    EXPECT_FALSE(is_shown());
    EXPECT_EQ(workspace->state().closed_note, load_example("bahdanau-alignment").note);
    ASSERT_FALSE(document().session().note.empty()) << "closing it loses nothing";
}

TEST_F(NoteTest, EscapeUnlocksFirst) {
    if (!window) GTEST_SKIP();
    document().change([](Session& session) { session.presentation.locked = Cell{1, 1}; });
    press(Key::escape);
    EXPECT_FALSE(document().presentation().locked);
    EXPECT_TRUE(is_shown());
    press(Key::escape);
    EXPECT_FALSE(is_shown());
}

TEST_F(NoteTest, TabReachesTheCross) {
    if (!window) GTEST_SKIP();
    ImGuiWindow* root = ImGui::FindWindowByName("attnscope");
    const ImGuiID cross = id_of(*root, {"close note"});
    for (int i = 0; i < 60 && workspace->controls().focus.id != cross; ++i) press(Key::tab);
    ASSERT_EQ(workspace->controls().focus.id, cross);
    press(Key::enter);
    EXPECT_FALSE(is_shown());
}

TEST_F(NoteTest, AnExampleChosenAnewShowsItAndUndoTakesItBack) {
    if (!window) GTEST_SKIP();
    press(Key::escape);
    ASSERT_FALSE(is_shown());
    SavedState saved;
    ActionContext c{document(), interaction(), saved, [](const std::string&) {}};
    open_example(c, "masked-softmax");
    settle();
    EXPECT_TRUE(is_shown());
    document().undo();
    settle();
    EXPECT_EQ(document().session().note, load_example("bahdanau-alignment").note);
    document().redo();
    EXPECT_EQ(document().session().note, load_example("masked-softmax").note);
}

TEST_F(NoteTest, SaysWhenItMayNoLongerHold) {
    if (!window) GTEST_SKIP();
    EXPECT_EQ(note_title(document()), "bahdanau-alignment");
    press(Key::r, {.ctrl = true});
    EXPECT_EQ(note_title(document()), "bahdanau-alignment (before your changes)");
    document().undo();
    EXPECT_EQ(note_title(document()), "bahdanau-alignment");
}

TEST_F(NoteTest, ANewSessionLeavesNoWordOfTheOneBefore) {
    if (!window) GTEST_SKIP();
    SavedState saved;
    ActionContext c{document(), interaction(), saved, [](const std::string&) {}};
    open_example(c, "masked-softmax");
    ASSERT_NE(interaction().notice.text, "");
    new_session(c);
    EXPECT_EQ(interaction().notice.text, "");
}

TEST_F(NoteTest, IsHeadedByTheQuestionThatItAnswers) {
    for (const Question& question : questions()) {
        start_noted(answer(question));
        if (!window) GTEST_SKIP();
        EXPECT_EQ(question_with_note(document().session().note), &question);
        EXPECT_EQ(note_title(document()), question.text);
    }
    press(Key::r, {.ctrl = true});
    EXPECT_EQ(note_title(document()), std::string(questions().back().text) + " (before your changes)");
    EXPECT_EQ(question_with_note(questions().front().text), nullptr);
}

TEST_F(NoteTest, ASessionWithoutOneHasNoStrip) {
    start_noted(Session{});
    if (!window) GTEST_SKIP();
    EXPECT_FALSE(is_shown());
}

TEST_F(NoteTest, KnowsTheExampleByItsNote) {
    for (const std::string& name : example_names())
        EXPECT_EQ(example_with_note(load_example(name).note)->name, name);
    EXPECT_EQ(example_with_note("of my own"), nullptr);
}

/// The note takes no more than three lines, and the strip of stages and the focus stay, down to the lowest
/// window that has both.
TEST_F(NoteTest, LeavesTheFiguresInSight) {
    struct Size {
        int width, height;
        float scale;
    };
    for (const char* name : {"bahdanau-alignment", "masked-softmax"})
        for (const ThemeKind theme : {ThemeKind::dark, ThemeKind::light})
            for (const auto& [width, height, scale] :
                 {Size{1024, 700, 1}, Size{1024, 700, 1.25F}, Size{1600, 1000, 1}, Size{3840, 2160, 1},
                  Size{3840, 2160, 3.94F}, Size{800, 548, 1}, Size{1024, 700, 0.75F}}) {
                // Drawing takes a sanitizer long, and more pixels show it nothing new.
                if (test::k_sanitized && (width > 1100 || theme == ThemeKind::light)) continue;
                Session session = load_example(name);
                session.presentation.theme = theme;
                start_noted(session, width, height, scale);
                if (!window) GTEST_SKIP();
                const float strip = strip_height() / scale;
                EXPECT_GE(strip, 14 + 18) << width << " × " << scale;
                EXPECT_LE(strip, 14 + 3 * 18 + 1) << width << " × " << scale;
                look(std::string(name) + "-" + std::string(name_of(theme)) + "-" + std::to_string(width) +
                     "-" + std::to_string(scale));
                session.presentation.view = ViewKind::pipeline;
                start_noted(session, width, height, scale);
                const std::size_t noted = seen_matrices().size();
                start(session, width, height, scale);
                EXPECT_EQ(noted, seen_matrices().size()) << "matrices at " << width << " × " << height;
            }
}

}  // namespace
}  // namespace attnscope
