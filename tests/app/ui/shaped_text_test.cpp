// Text of any script in the window: shaped as in pictures.
#include "app/ui/shaped_text.h"

#include <algorithm>
#include <cmath>
#include <vector>

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

/// How much ink, from 0 to 1, the pixels have of an area that is `width` × `height` pixels.
struct Ink {
    int width, height;
    std::vector<double> dark;

    double at(int x, int y) const {
        return x < 0 || y < 0 || x >= width || y >= height ? 0
                                                           : dark[static_cast<std::size_t>(y * width + x)];
    }
};

Ink ink_of(const TextShades& shades) {
    Ink ink{shades.width, shades.height, {}};
    for (std::size_t i = 0; i < shades.alpha.size(); ++i) {
        double dark = shades.alpha[i] / 255.0;
        if (!shades.rgba.empty())  // over what has one color
            dark = std::max(
                dark, shades.rgba[4 * i + 3] / 255.0 *
                          std::max({shades.rgba[4 * i], shades.rgba[4 * i + 1], shades.rgba[4 * i + 2]}) /
                          255.0);
        ink.dark.push_back(dark);
    }
    return ink;
}

/// The ink of white and colored text on black.
Ink ink_of(const gl::Pixels& pixels, int left, int top, int width, int height) {
    Ink ink{width, height, {}};
    for (int y = top; y < top + height; ++y)
        for (int x = left; x < left + width; ++x) {
            const std::uint32_t c = pixels.at(x, y);
            ink.dark.push_back(std::max({c >> 24, c >> 16 & 255, c >> 8 & 255}) / 255.0);
        }
    return ink;
}

/// The cosine of both, where they are most alike within some pixels: 1 if they are the same.
double likeness(const Ink& a, const Ink& b) {
    constexpr int k_apart = 3, k_above = 12;  // marks above and below make a line higher
    double best = 0;
    for (int dy = -k_above; dy <= k_above; ++dy)
        for (int dx = -k_apart; dx <= k_apart; ++dx) {
            double ab = 0, aa = 0, bb = 0;
            for (int y = 0; y < a.height; ++y)
                for (int x = 0; x < a.width; ++x) {
                    const double of_a = a.at(x, y), of_b = b.at(x + dx, y + dy);
                    ab += of_a * of_b;
                    aa += of_a * of_a;
                    bb += of_b * of_b;
                }
            if (aa > 0 && bb > 0) best = std::max(best, ab / std::sqrt(aa * bb));
        }
    return best;
}

/// Labels, chips, the inspector and the dialogs draw their texts with draw_text in these fonts.
TEST_F(ShapedTextTest, InEveryFontOfTheWindowAWordIsThePictureThatExportsDraw) {
    const std::vector<std::string> words = {"مرحبا", "שלום", "नमस्ते", "สวัสดี", "x̂ȳ", "👩‍🏫"};
    const TextFace face;
    for (const FontRole& role : font_roles()) {
        if (role.face == Font::mono) continue;  // of numbers
        ImFont* const font = window->host().layer().fonts().*role.font;
        const FrameCallbacks own = callbacks;
        callbacks.draw = [&](FrameInput& frame) {
            own.draw(frame);
            ImDrawList* list = ImGui::GetForegroundDrawList();
            list->AddRectFilled({0, 0}, {1600, 1000}, IM_COL32_BLACK);
            for (std::size_t i = 0; i < words.size(); ++i)
                draw_text(list, font, {100, 100 + 100 * static_cast<float>(i)}, IM_COL32_WHITE, words[i]);
        };
        const gl::Pixels pixels = picture();
        callbacks = own;
        std::vector<Ink> exported;
        for (const std::string& word : words)
            exported.push_back(ink_of(face.shades(word, {.font = role.face, .size = role.em})));
        for (std::size_t i = 0; i < words.size(); ++i) {
            const Ink drawn = ink_of(pixels, 90, 90 + 100 * static_cast<int>(i), 200, 60);
            std::vector<double> likenesses;
            for (const Ink& each : exported) {
                Ink placed{200, 60, std::vector<double>(200 * 60)};  // where the word was drawn
                for (int y = 0; y < each.height; ++y)
                    for (int x = 0; x < each.width && x + 8 < 200; ++x)
                        placed.dark[static_cast<std::size_t>((y + 8) * 200 + x + 8)] = each.at(x, y);
                likenesses.push_back(likeness(drawn, placed));
            }
            EXPECT_GT(likenesses[i], 0.98) << words[i];
            EXPECT_EQ(std::ranges::max_element(likenesses) - likenesses.begin(), static_cast<long>(i))
                << words[i] << " looks more like another word";
        }
    }
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
