// Typing, moving and selecting in text of any script.
#include "app/ui/text_field.h"

#include <cmath>

#include "core/text/tokenizer.h"
#include "tests/headless.h"
#include "tests/keys.h"
#include "tests/sanitized.h"

namespace attnscope {
namespace {

using namespace test;
/// A window with one field that has the focus, in the body font.
class TextFieldTest : public HeadlessTest {
protected:
    const ImVec2 k_at{20, 30};
    static constexpr float k_field_width = 300;

    void SetUp() override {
        HeadlessTest::SetUp();
        if (!window) return;
        callbacks.draw = [this](const FrameInput&) { draw(); };
        window->settle(callbacks);
        if (!window->host().layer().font_warning().empty())
            GTEST_SKIP() << window->host().layer().font_warning();
    }
    void draw() {
        ImGui::SetNextWindowPos({0, 0});
        ImGui::SetNextWindowSize({k_width, k_height});
        ImGui::Begin("field", nullptr, ImGuiWindowFlags_NoDecoration);
        ImGui::SetCursorScreenPos(k_at);
        ImGui::SetNextItemWidth(k_field_width);
        if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
        field.draw("##field", "a sentence", text);
        padding = ImGui::GetStyle().FramePadding;
        ink = ImGui::GetColorU32(ImGuiCol_Text);
        ImGui::End();
    }
    void play(const std::vector<InputEvent>& events) {
        push(events);
        window->settle(callbacks);
    }
    /// Replaces the whole text by typing another.
    void write(std::string_view utf8) {
        push(pressing(Key::a, k_ctrl));
        push(pressing(Key::del));
        play(typing(utf8));
        ASSERT_EQ(text, utf8);
    }
    void press(Key key, Mods mods = {}) { play(pressing(key, mods)); }
    TextLine line() const { return *pictures.line(text, {.size = 13}); }
    /// A point at `x` in a line that isn't scrolled.
    ImVec2 point(double x) const {
        return {k_at.x + padding.x + static_cast<float>(x), k_at.y + padding.y + 8};
    }
    void move(double x) { play({MouseMove{point(x).x, point(x).y}}); }
    void button(bool down, Mods mods = {}) { play({MouseButton{.button = 0, .down = down, .mods = mods}}); }
    void click(double x, Mods mods = {}) {
        move(x);
        button(true, mods);
        button(false, mods);
        // Not twice in a row.
        for (int i = 0; i < 30; ++i) window->step(callbacks);
    }
    std::vector<std::size_t> places() const {
        std::vector<std::size_t> all{0};
        for (const std::string_view cluster : graphemes(text)) all.push_back(all.back() + cluster.size());
        return all;
    }
    static int red(const gl::Pixels& pixels, ImVec2 at) {
        return static_cast<int>(pixels.at(static_cast<int>(at.x), static_cast<int>(at.y)) >> 24U);
    }
    /// A point of the line's picture in the window, and the red behind the text in its row.
    ImVec2 place(int x, int y) const {
        return {std::round(k_at.x + padding.x) + static_cast<float>(x),
                std::round(k_at.y + padding.y) + static_cast<float>(y)};
    }
    int ground(const gl::Pixels& pixels, int y) const {
        return red(pixels, {k_at.x + k_field_width - 20, place(0, y).y});
    }
    int full() const { return static_cast<int>(ink & 0xFFU); }
    /// How much text color the window shows at a point of the line's picture, 0 … 255, from its red.
    int shade(const gl::Pixels& pixels, int x, int y) const {
        const int behind = ground(pixels, y);
        return (red(pixels, place(x, y)) - behind) * 255 / (full() - behind);
    }
    /// The red of a pixel of the picture over `behind`: the text in its color, an emoji in its own.
    double red_of(const TextShades& shades, int x, int y, int behind) const {
        const auto i = static_cast<std::size_t>(y * shades.width + x);
        const double text_red = behind + (full() - behind) * shades.alpha[i] / 255.0;
        if (shades.rgba.empty()) return text_red;
        const double share = shades.rgba[4 * i + 3] / 255.0;
        return share * shades.rgba[4 * i] + (1 - share) * text_red;
    }

    FrameCallbacks callbacks;
    TextField field;
    std::string text;
    ImVec2 padding;
    ImU32 ink = 0;
    const TextFace pictures;
};

constexpr const char* k_typed_scripts[] = {
    "مرحبا بالعالم",          "שלום עולם", "नमस्ते दुनिया", "สวัสดีชาวโลก", "a你好😀", "カフェ👩‍🏫",
    "e\u0301te\u0301 x\u0332"};

/// Every script, but with a sanitizer few: every new script draws the letters of all fonts again.
std::vector<const char*> typed_scripts() {
    std::vector<const char*> scripts;
    std::size_t row = 0;
    for (const char* script : k_typed_scripts)
        if (test::is_visited(row++, 3)) scripts.push_back(script);
    return scripts;
}

TEST_F(TextFieldTest, WhileTypingEveryScriptLooksAsInPictures) {
    for (const char* script : typed_scripts()) {
        write(script);
        const gl::Pixels pixels = window->pixels();
        const TextShades shades = pictures.shades(script, {.size = 13});
        const double caret = line().caret(text.size()).strong;
        const int top =
            static_cast<int>(std::round(pictures.extent("x", {.size = 13}).ascent)) - shades.baseline;
        int dark = 0;
        for (int y = 0; y < shades.height; ++y)
            for (int x = 0; x < shades.width; ++x) {
                const int column = x - TextShades::k_margin;
                if (std::abs(column - std::floor(caret)) <= 1) continue;
                const double expected = red_of(shades, x, y, ground(pixels, y + top));
                // The window's blending rounds to 8 bits.
                ASSERT_NEAR(red(pixels, place(column, y + top)), expected, 2)
                    << script << " at " << x << ", " << y << ", caret " << caret;
                dark += expected > 128 ? 1 : 0;
            }
        EXPECT_GT(dark, 50) << script;
        EXPECT_GT(shade(pixels, static_cast<int>(std::floor(caret)), 7), 200) << script << " has no caret";
    }
}

TEST_F(TextFieldTest, TheArrowsMoveAsSeen) {
    for (const char* script : typed_scripts()) {
        write(script);
        const TextLine shown = line();
        const std::vector<std::size_t> all = places();
        const bool leftward = shown.runs_leftward(0);
        const Key back = leftward ? Key::right : Key::left, on = leftward ? Key::left : Key::right;
        for (std::size_t i = all.size() - 1; i-- > 0;) {
            press(back);
            EXPECT_EQ(field.selection(), (TextField::Selection{all[i], all[i]})) << script;
        }
        press(back);
        EXPECT_EQ(field.selection().caret, 0U) << script;
        press(on);
        EXPECT_EQ(field.selection().caret, all[1]) << script;
        press(Key::end);
        EXPECT_EQ(field.selection().caret, text.size()) << script;
        press(Key::home);
        EXPECT_EQ(field.selection().caret, 0U) << script;
    }
}

TEST_F(TextFieldTest, AClickPutsTheCaretBetweenTheLettersThatItIsBetween) {
    for (const char* script : typed_scripts()) {
        write(script);
        for (const std::size_t place : places()) {
            click(line().caret(place).strong);
            EXPECT_EQ(field.selection(), (TextField::Selection{place, place})) << script;
        }
    }
    write("שלום");
    click(line().caret(4).strong);
    play(typing("א"));
    EXPECT_EQ(text, "שלאום");
}

TEST_F(TextFieldTest, ADragSelectsAndTypingReplaces) {
    write("नमस्ते दुनिया");
    const std::vector<std::size_t> all = places();
    move(line().caret(all[1]).strong);
    button(true);
    move(line().caret(all[2]).strong);
    move(line().caret(all[3]).strong);
    button(false);
    EXPECT_EQ(field.selection(), (TextField::Selection{all[3], all[1]}));
    const std::string rest = text.substr(0, all[1]) + "ก" + text.substr(all[3]);
    play(typing("ก"));
    EXPECT_EQ(text, rest);
}

TEST_F(TextFieldTest, ShiftSelectsByClickAndByKey) {
    write("مرحبا بالعالم");
    click(line().caret(2).strong);
    click(line().caret(6).strong, {.shift = true});
    EXPECT_EQ(field.selection(), (TextField::Selection{6, 2}));
    press(Key::left, {.shift = true});
    EXPECT_EQ(field.selection(), (TextField::Selection{8, 2}));
    press(Key::c, k_ctrl);
    EXPECT_EQ(compat::text_bridge().clipboard.get(), text.substr(2, 6));
    press(Key::right);
    EXPECT_EQ(field.selection(), (TextField::Selection{2, 2})) << "the right end of the selection";
    press(Key::x, k_ctrl);
    press(Key::a, k_ctrl);
    press(Key::left);
    EXPECT_EQ(field.selection().caret, text.size()) << "the left end of all";
}

TEST_F(TextFieldTest, CtrlGoesByWordsAsSeen) {
    write("שלום עולם טוב");
    press(Key::right, k_ctrl);
    EXPECT_EQ(text.substr(field.selection().caret), "טוב");
    press(Key::right, k_ctrl);
    EXPECT_EQ(text.substr(field.selection().caret), "עולם טוב");
    press(Key::left, k_ctrl);
    EXPECT_EQ(text.substr(field.selection().caret), "טוב");
    write("नमस्ते दुनिया");
    press(Key::left, k_ctrl);
    EXPECT_EQ(text.substr(field.selection().caret), "दुनिया");
}

TEST_F(TextFieldTest, ADoubleClickSelectsEverything) {
    write("สวัสดี ชาวโลก");
    move(20);
    for (const bool down : {true, false, true, false}) push({MouseButton{.button = 0, .down = down}});
    window->settle(callbacks);
    EXPECT_EQ(field.selection(), (TextField::Selection{text.size(), 0}));
}

TEST_F(TextFieldTest, DeletingTakesClustersWhole) {
    write("a👩‍🏫b");
    press(Key::left);
    press(Key::backspace);
    EXPECT_EQ(text, "ab");
    write("a👩‍🏫b");
    press(Key::home);
    press(Key::right);
    press(Key::del);
    EXPECT_EQ(text, "ab");
    write("xe\u0301");
    press(Key::backspace);
    EXPECT_EQ(text, "x");
    write("कि");  // the vowel sign alone, as it was typed alone
    press(Key::backspace);
    EXPECT_EQ(text, "क");
    write("किम");
    press(Key::home);
    press(Key::del);
    EXPECT_EQ(text, "म");
}

TEST_F(TextFieldTest, ALongLineScrollsToItsCaret) {
    std::string sentence;
    for (int i = 0; i < 20; ++i) sentence += "नमस्ते ";
    write(sentence);
    ASSERT_GT(line().extent().width, 2 * k_field_width);
    const auto visible = [&] {
        const gl::Pixels pixels = window->pixels();
        int columns = 0;
        for (int x = 0; x < static_cast<int>(k_field_width - 2 * padding.x); ++x)
            columns += shade(pixels, x, 3) > 200 && shade(pixels, x, 12) > 200 && shade(pixels, x, 0) > 200;
        return columns;
    };
    EXPECT_GE(visible(), 1) << "no caret at the end";
    // The caret is a quarter of the view from the right at most: a click there is near the end.
    const double view = k_field_width - 2 * padding.x;
    click(view - 1);
    EXPECT_EQ(field.selection().caret, text.size());
    click(1);
    const std::size_t first = field.selection().caret;
    EXPECT_GT(first, text.size() / 3);
    EXPECT_LT(first, text.size());
    press(Key::home);
    EXPECT_GE(visible(), 1) << "no caret at the start";
    click(line().caret(places()[2]).strong);
    EXPECT_EQ(field.selection().caret, places()[2]);
}

TEST_F(TextFieldTest, ATextTooLongForALineIsStillEdited) {
    std::string sentence;
    for (int i = 0; i < 400; ++i) sentence += "नमस्ते ";
    ASSERT_FALSE(pictures.line(sentence, {}));
    text = sentence;
    window->settle(callbacks);
    press(Key::end);
    play(typing("!"));
    EXPECT_EQ(text, sentence + "!");
}

}  // namespace
}  // namespace attnscope
