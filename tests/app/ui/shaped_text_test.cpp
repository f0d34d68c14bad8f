// Text of any script in the window: shaped as in pictures.
#include "app/ui/shaped_text.h"

#include "tests/interface.h"

namespace attnscope {
namespace {

using ShapedTextTest = InterfaceTest;

constexpr const char* k_arabic = "مرحبا";
constexpr const char* k_scripts =
    "咖啡 😀 مرحبا नमस्ते שלום "
    "สวัสดี こんにちは 👩‍🏫 \U0001FA00 Ж";

TEST(SimpleCharacterTest, StandsForItselfWhereverItIs) {
    for (const char32_t code : U"aéßΩЖ√→咖あ한▾ᵀ") {
        if (code != 0) {
            EXPECT_TRUE(is_simple(code)) << std::hex << static_cast<unsigned>(code);
        }
    }
    for (const char32_t code : U"\u0301\u05D0\u0645\u0928\u0E01\u200D\u202E\uFE0F\u20E3\U000E0041\u2B50😀") {
        if (code != 0) {
            EXPECT_FALSE(is_simple(code)) << std::hex << static_cast<unsigned>(code);
        }
    }
}

TEST_F(ShapedTextTest, LettersThatJoinAreDrawnAsInPictures) {
    const Fonts& fonts = window->host().layer().fonts();
    const TextFace pictures;
    const double joined = pictures.extent(k_arabic, {.font = Font::sans, .size = 13}).width;
    EXPECT_NEAR(text_width(fonts.body, k_arabic), joined, 1);
    EXPECT_GT(text_width(fonts.title, k_arabic), joined);
    // ImGui's letters stand on whole pixels.
    EXPECT_NEAR(text_width(fonts.body, "\U0001FA00"), text_width(fonts.body, "U+1FA00"), 7);
    const float cut = text_width(fonts.body, fitted(fonts.body, k_scripts, 100));
    EXPECT_LE(cut, 100);
    EXPECT_GT(cut, 60);
}

TEST_F(ShapedTextTest, ASentenceOfManyScriptsIsEditedAndShownEverywhere) {
    click(sentence_field());
    push(pressing(Key::a, {.ctrl = true}));
    play(typing(k_scripts));
    EXPECT_EQ(text(), k_scripts);
    ASSERT_FALSE(document().stale()) << document().problem();
    ImFont& font = *window->host().layer().fonts().sentence;
    const WideText& wide = compat::text_bridge().wide;
    ASSERT_GT(wide.originals().size(), 5U);
    for (std::size_t i = 0; i < wide.originals().size(); ++i)
        EXPECT_TRUE(compat::has_glyph(font, WideText::code_of(i))) << wide.originals()[i];
    press(Key::escape);
    for (const StageInfo* stage : {"weights"_stage, "scores"_stage, "context"_stage, "tokens"_stage}) {
        document().change([&](Session& s) { s.presentation.focus(stage); });
        settle();
        picture();
    }
    move(cell_place(1, 1));
    picture();
}

TEST_F(ShapedTextTest, ALongUprightLabelStaysBelowTheOperand) {
    Session session = load_example("scaled-dot-product");
    // No font has these emoji, which a joiner makes one token.
    const std::string named = "\U0001FA00\u200D\U0001FA01";
    session.experiment.input.text = "Can you help me to translate this " + named;
    start(std::move(session));
    step();
    float operand_bottom = 0;
    const SeenMatrix matrix = focused();
    for (const SeenMatrix& seen : seen_matrices())
        if (seen.drawn.transposed) operand_bottom = seen.drawn.bottom_right.y;
    ASSERT_GT(operand_bottom, 0);
    const Fonts& fonts = window->host().layer().fonts();
    const float label = text_width(fonts.body, legible(named));
    ASSERT_GT(label, 60);
    EXPECT_GE(matrix.drawn.top_left.y - operand_bottom, std::min(label, 88.0f) + 5);
}

}  // namespace
}  // namespace attnscope
