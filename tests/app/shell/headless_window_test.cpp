#include "app/shell/headless_window.h"

#include <cstdlib>
#include <memory>

#include "app/platform/imgui_compat.h"
#include "app/ui/fonts.h"
#include "app/ui/text_field.h"
#include "tests/headless.h"
#include "tests/keys.h"

namespace attnscope {
namespace {

using namespace test;

/// A window with two fields; the first gets the focus.
class TypingTest : public HeadlessTest {
protected:
    void SetUp() override {
        HeadlessTest::SetUp();
        if (!window) return;
        callbacks.on_key = [this](const KeyPress& press) {
            seen.push_back(press);
            return taken && press == *taken;
        };
        callbacks.draw = [this](FrameInput& frame) { draw(frame); };
        window->settle(callbacks);
    }
    void draw(const FrameInput& frame) {
        ImGui::SetNextWindowPos(ImVec2(0, 0));
        ImGui::SetNextWindowSize(ImVec2(static_cast<float>(frame.width), static_cast<float>(frame.height)));
        ImGui::Begin("fields", nullptr, ImGuiWindowFlags_NoDecoration);
        if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
        if (first_field.draw("first", "a sentence", first)) ++changes;
        second_field.draw("second", "", second);
        ImGui::End();
    }
    void play(const std::vector<InputEvent>& events) {
        push(events);
        window->settle(callbacks);
    }

    FrameCallbacks callbacks;
    TextField first_field;
    TextField second_field;
    std::string first;
    std::string second;
    int changes = 0;
    std::vector<KeyPress> seen;
    std::optional<KeyPress> taken;
};

TEST_F(TypingTest, SixtyCharactersAtOnceArriveExactly) {
    const std::string text = "The quick brown fox jumps over the lazy dog, 1234567890 times";
    ASSERT_GE(text.size(), 60U);
    play(typing(text));
    EXPECT_EQ(first, text);
}

TEST_F(TypingTest, BackspacesBetweenCharactersTakeTheRightOnes) {
    push(typing("abcX"));
    push(pressing(Key::backspace));
    push(typing("defYZ"));
    push(pressing(Key::backspace));
    push(pressing(Key::backspace));
    play(typing("ghi"));
    EXPECT_EQ(first, "abcdefghi");
}

TEST_F(TypingTest, SelectsCopiesAndPastesByKeys) {
    push(typing("one"));
    push(pressing(Key::a, k_ctrl));
    push(pressing(Key::c, k_ctrl));
    push(pressing(Key::end));
    push(typing(" "));
    push(pressing(Key::v, k_ctrl));
    play(typing("!"));
    EXPECT_EQ(first, "one one!");
}

TEST_F(TypingTest, MovesByWordsAndDeletes) {
    push(typing("alpha beta gamma"));
    push(pressing(Key::left, k_ctrl));
    push(pressing(Key::left, k_ctrl));
    push(typing("new "));
    push(pressing(Key::home));
    play(pressing(Key::del));
    EXPECT_EQ(first, "lpha new beta gamma");
}

TEST_F(TypingTest, TabbingOnAndTypingAtOnceLosesNoCharacter) {
    push(typing("left"));
    push(pressing(Key::tab));
    play(typing("right"));
    EXPECT_EQ(first, "left");
    EXPECT_EQ(second, "right");
}

TEST_F(TypingTest, ClickingAFieldAndTypingAtOnceLosesNoCharacter) {
    push({MouseMove{.x = 100, .y = 60}, MouseButton{.button = 0, .down = true},
          MouseButton{.button = 0, .down = false}});
    play(typing("clicked"));
    EXPECT_EQ(first + second, "clicked");
    EXPECT_EQ(second, "clicked");
}

TEST_F(TypingTest, EmojiAreTypedPastedAndDeletedWhole) {
    push(typing("a😀b"));
    play(pressing(Key::left));
    EXPECT_EQ(first, "a😀b");
    play(pressing(Key::backspace));
    EXPECT_EQ(first, "ab");
    push(typing("👍"));
    push(pressing(Key::a, k_ctrl));
    push(pressing(Key::c, k_ctrl));
    push(pressing(Key::end));
    play(pressing(Key::v, k_ctrl));
    EXPECT_EQ(first, "a👍ba👍b");
}

TEST_F(TypingTest, TypingAnEmojiReplacesTheSelection) {
    push(typing("old text"));
    push(pressing(Key::a, k_ctrl));
    play(typing("😀"));
    EXPECT_EQ(first, "😀");
}

TEST_F(TypingTest, EditingATextOfAnyBytesKeepsTheOthers) {
    first = "x\xFFy 😀 \xEE\x80\x80";
    window->settle(callbacks);
    push(pressing(Key::end));
    play(typing("!"));
    EXPECT_EQ(first, "x\xFFy 😀 \xEE\x80\x80!");
}

TEST_F(TypingTest, PastedLinesStayApartAsWords) {
    compat::text_bridge().clipboard.set("one\r\ntwo\tthree");
    play(pressing(Key::v, k_ctrl));
    EXPECT_EQ(first, "one two three");
}

TEST_F(TypingTest, ATextChangedFromOutsideIsShownWhileItIsEdited) {
    play(typing("hello world"));
    first = "hello";  // as undo does
    const int before = changes;
    window->settle(callbacks);
    EXPECT_EQ(changes, before);
    play(typing("!"));
    EXPECT_EQ(first, "hello!");
}

TEST_F(TypingTest, EscapeKeepsWhatWasTyped) {
    push(typing("kept"));
    play(pressing(Key::escape));
    EXPECT_EQ(first, "kept");
    play(typing("lost"));
    EXPECT_EQ(first, "kept");
}

TEST_F(TypingTest, AShortcutThatIsTakenNeverReachesTheField) {
    taken = KeyPress{.key = Key::a, .mods = k_ctrl};
    push(typing("abc"));
    push(pressing(Key::a, k_ctrl));
    play(typing("d"));
    EXPECT_EQ(first, "abcd");
    EXPECT_EQ(std::count(seen.begin(), seen.end(), *taken), 1);
}

TEST_F(TypingTest, ATakenKeyTypesNothing) {
    taken = KeyPress{.key = Key::space};
    play(typing("a b c"));
    EXPECT_EQ(first, "abc");
}

TEST_F(TypingTest, AHeldKeyActsOnceForEachRepeatOfTheSystem) {
    push(typing("abcdef"));
    push({KeyDown{.key = Key::backspace}});
    for (int i = 0; i < 3; ++i) push({KeyDown{.key = Key::backspace, .repeat = true}});
    for (int i = 0; i < 200; ++i) window->step(callbacks);
    play({KeyUp{.key = Key::backspace}});
    EXPECT_EQ(first, "ab");
}

TEST_F(TypingTest, FontsThatWereDrawnBeforeTheWindowOpenedAreUsed) {
    if (!window) return;
    window.reset();
    FrameCallbacks words;
    words.draw = [](FrameInput& frame) {
        ImDrawList* list = ImGui::GetForegroundDrawList();
        list->AddText(frame.fonts.body, compat::font_size(*frame.fonts.body), {10, 10}, IM_COL32_WHITE,
                      "Words, √d");
        list->AddText(frame.fonts.mono_large, compat::font_size(*frame.fonts.mono_large), {10, 60},
                      IM_COL32_WHITE, "0.125");
    };
    const auto picture = [&](const std::shared_ptr<FontLibrary>& library) {
        HeadlessWindow other(k_width, k_height, 1, ThemeKind::dark, {}, library);
        other.settle(words);
        return other.pixels();
    };
    const gl::Pixels expected = picture(nullptr);
    const auto library_for = [](float scale) {
        auto library = std::make_shared<FontLibrary>();
        library->prepare(scale);
        return library;
    };
    const auto fitting = library_for(1), other_scale = library_for(2);
    const ImFont* const drawn = fitting->atlas().Fonts[0];
    EXPECT_TRUE(picture(fitting) == expected);
    EXPECT_EQ(fitting->atlas().Fonts[0], drawn) << "not drawn again";
    EXPECT_TRUE(picture(other_scale) == expected) << "drawn again";
    library_for(1);  // that nothing uses ends in peace
}

TEST_F(TypingTest, TheSameScriptGivesTheSamePixels) {
    const auto picture = [&] {
        HeadlessWindow other(k_width, k_height);
        TextField field;
        std::string text;
        FrameCallbacks same;
        same.draw = [&](FrameInput&) {
            ImGui::SetNextWindowPos(ImVec2(0, 0));
            ImGui::Begin("one");
            if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
            field.draw("text", "", text);
            ImGui::End();
        };
        for (const InputEvent& event : typing("same bytes")) other.push(event);
        other.settle(same);
        EXPECT_EQ(text, "same bytes");
        return other.pixels();
    };
    window.reset();
    const gl::Pixels once = picture();
    EXPECT_EQ(once, picture());
    const std::uint32_t first_pixel = once.at(0, 0);
    bool all_alike = true;
    for (int y = 0; y < once.height; ++y) {
        for (int x = 0; x < once.width; ++x) all_alike = all_alike && once.at(x, y) == first_pixel;
    }
    EXPECT_FALSE(all_alike);
}

class HeadlessWindowTest : public HeadlessTest {};

TEST_F(HeadlessWindowTest, DropsAndClosingReachTheirCallbacks) {
    std::vector<std::string> dropped;
    bool may_close = false;
    FrameCallbacks callbacks;
    callbacks.draw = [](FrameInput&) {};
    callbacks.on_drop = [&](const std::vector<std::string>& paths) { dropped = paths; };
    callbacks.on_close_request = [&] { return may_close; };
    window->push(Drop{{"a.json", "b.png"}});
    EXPECT_FALSE(window->step(callbacks));
    EXPECT_EQ(dropped, (std::vector<std::string>{"a.json", "b.png"}));
    window->push(CloseRequest{});
    EXPECT_FALSE(window->step(callbacks));
    may_close = true;
    window->push(CloseRequest{});
    EXPECT_TRUE(window->step(callbacks));
}

TEST_F(HeadlessWindowTest, TheBackgroundIsTheThemes) {
    FrameCallbacks callbacks;
    callbacks.draw = [](FrameInput&) {};
    window->step(callbacks);
    EXPECT_EQ(window->pixels().at(5, 5), 0x101318FFU);
    window->set_theme(ThemeKind::light);
    window->step(callbacks);
    EXPECT_EQ(window->pixels().at(5, 5), 0xF4F5F8FFU);
}

TEST_F(HeadlessWindowTest, ControlsAre26PixelsHighTimesTheScale) {
    for (const float scale : {0.5F, 0.75F, 1.0F, 1.5F, 2.0F, 3.0F, 4.0F}) {
        window->set_scale(scale);
        float height = 0;
        FrameCallbacks callbacks;
        callbacks.draw = [&](FrameInput& frame) {
            height = ImGui::GetFrameHeight();
            EXPECT_EQ(frame.scale, scale);
        };
        window->step(callbacks);
        EXPECT_FLOAT_EQ(height, 26 * scale);
    }
}

TEST_F(HeadlessWindowTest, TheFontsHaveEverySignOfTheInterface) {
    FrameCallbacks callbacks;
    callbacks.draw = [](FrameInput&) {};
    window->step(callbacks);
    if (!window->host().layer().font_warning().empty()) GTEST_SKIP() << window->host().layer().font_warning();
    const Fonts& fonts = window->host().layer().fonts();
    for (ImFont* font : {fonts.body, fonts.caption, fonts.strong, fonts.sentence}) {
        for (const char32_t sign : U"aÄßŁğĠΩΣα√ᵀₖⁿ·×÷→▾⟳⚄∞␣∂∇∈⟨⟩ℝ▁−≤…“”") {
            if (sign != 0) {
                EXPECT_TRUE(compat::has_glyph(*font, sign)) << std::hex << static_cast<unsigned>(sign);
            }
        }
    }
    for (ImFont* font : {fonts.section, fonts.title, fonts.mono, fonts.mono_small, fonts.mono_large}) {
        for (const char32_t sign : U"aÄßΩ√ᵀₖ·×÷→▾⟳⚄∞␣−…") {
            if (sign != 0) {
                EXPECT_TRUE(compat::has_glyph(*font, sign)) << std::hex << static_cast<unsigned>(sign);
            }
        }
    }
}

TEST_F(HeadlessWindowTest, WithoutFontsItSaysSoAndStillDraws) {
    setenv("ATTNSCOPE_FONTS", "/nonexistent", 1);
    FrameCallbacks callbacks;
    callbacks.draw = [](FrameInput&) { ImGui::TextUnformatted("text"); };
    window->step(callbacks);
    unsetenv("ATTNSCOPE_FONTS");
    EXPECT_NE(window->host().layer().font_warning().find("Inter-Regular.otf"), std::string::npos);
    EXPECT_NE(window->host().layer().font_warning().find("install"), std::string::npos);
}

TEST_F(HeadlessWindowTest, ATextReadsAsInPictures) {
    const TextFace pictures;
    FrameCallbacks callbacks;
    callbacks.draw = [&](FrameInput&) {
        for (const char* text :
             {"aé→", "x😀", "\xFF", "a b", "Ж", "咖啡", "مرحبا", "👩‍🏫", "\U0001FA00"})
            EXPECT_EQ(legible(text), pictures.displayable(text)) << text;
    };
    window->step(callbacks);
    if (!window->host().layer().font_warning().empty()) GTEST_SKIP() << window->host().layer().font_warning();
}

TEST(ContextTest, AnOldOpenGlIsRefusedWithAWayOut) {
    require_gl_33({.number = 33, .renderer = "new enough"});
    try {
        require_gl_33({.number = 21, .renderer = "an old one"});
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::backend);
        EXPECT_EQ(
            std::string(error.what()),
            "OpenGL 3.3 is required, but this driver (an old one) has 2.1: update the graphics driver, or "
            "use `attnscope render`, which needs no OpenGL");
    }
}

TEST_F(TypingTest, AFrameIsDrawnUnlessTheNextOneIsToBeDrawnInstead) {
    bool superseded = true;
    callbacks.is_superseded = [&] { return superseded; };
    using Drawing = FrameHost::Drawing;
    const auto is_drawn = [&](Drawing drawing) {
        window->context().bind();
        return window->host().step(callbacks, {320, 240, 1}, 1.0 / 60, drawing).is_drawn;
    };
    EXPECT_FALSE(is_drawn(Drawing::unless_superseded));
    EXPECT_TRUE(is_drawn(Drawing::always));
    EXPECT_FALSE(is_drawn(Drawing::never));
    superseded = false;
    EXPECT_TRUE(is_drawn(Drawing::unless_superseded));
    callbacks.is_superseded = {};
    EXPECT_TRUE(is_drawn(Drawing::unless_superseded));
}

}  // namespace
}  // namespace attnscope
