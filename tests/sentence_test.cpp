// Typing into the sentence, as a person does.
#include "tests/interface.h"

namespace attnscope {
namespace {

constexpr Mods k_ctrl{.ctrl = true};
constexpr Mods k_ctrl_shift{.ctrl = true, .shift = true};

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

TEST_F(SentenceTest, LettersAreNoShortcutsWhileTyping) {
    document().change([](Session& s) { s.presentation.stage = "query"; });
    click(sentence_field());
    interaction().zoom = {2, 0.5, 0.5};
    push(pressing(Key::end));
    push(typing("0"));
    play(pressing(Key::left));
    EXPECT_TRUE(text().ends_with("0"));
    EXPECT_EQ(interaction().zoom.factor, 2);
    EXPECT_EQ(document().presentation().stage, "query");
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

}  // namespace
}  // namespace attnscope
