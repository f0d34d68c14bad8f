// Lines of any script with the places of a caret.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "core/picture/text.h"
#include "core/text/tokenizer.h"

namespace attnscope {
namespace {

const TextStyle k_line_style{.size = 20};

TextLine caret_line(const TextFace& face, std::string_view text) {
    std::optional<TextLine> line = face.line(text, k_line_style);
    if (!line) throw std::length_error("too long for a line");
    return std::move(*line);
}

/// The places of a caret in the order of the text.
std::vector<std::size_t> caret_places(std::string_view text) {
    std::vector<std::size_t> all{0};
    for (const std::string_view cluster : graphemes(text)) all.push_back(all.back() + cluster.size());
    return all;
}

struct LineCase {
    const char* text;
    bool leftward;
};
const LineCase k_lines[] = {
    {"Grüße an Åsa, e\u0301te\u0301", false},
    {"שלום עולם", true},
    {"مرحبا بالعالم", true},
    {"नमस्ते दुनिया", false},
    {"สวัสดีชาวโลก ผู้", false},
    {"你好世界", false},
    {"こんにちは世界", false},
    {"a😀b👩‍🏫c👍🏽", false},
    {"x\U0001FA00y\u200D\U0001FA01", false},
};

TEST(TextLineTest, ACaretGoesThroughEveryClusterFromOneEndToTheOther) {
    const TextFace face;
    for (const auto& [text, leftward] : k_lines) {
        const TextLine line = caret_line(face, text);
        std::vector<std::size_t> expected = caret_places(text);
        EXPECT_EQ(line.before(0), 0U);
        for (std::size_t i = 0; i + 1 < expected.size(); ++i) {
            EXPECT_EQ(line.after(expected[i]), expected[i + 1]) << text;
            EXPECT_EQ(line.before(expected[i + 1]), expected[i]) << text;
        }
        if (leftward) std::ranges::reverse(expected);
        EXPECT_EQ(line.left_of(expected.front()), expected.front()) << text;
        EXPECT_EQ(line.right_of(expected.back()), expected.back()) << text;
        for (std::size_t i = 0; i + 1 < expected.size(); ++i) {
            EXPECT_EQ(line.right_of(expected[i]), expected[i + 1]) << text << " at " << expected[i];
            EXPECT_EQ(line.left_of(expected[i + 1]), expected[i]) << text << " at " << expected[i + 1];
            EXPECT_LT(line.caret(expected[i]).strong, line.caret(expected[i + 1]).strong) << text;
        }
        EXPECT_NEAR(line.caret(expected.front()).strong, 0, 0.01) << text;
        EXPECT_NEAR(line.caret(expected.back()).strong, line.extent().width, 0.01) << text;
        EXPECT_EQ(line.runs_leftward(0), leftward) << text;
        EXPECT_EQ(line.runs_leftward(std::string_view(text).size()), leftward) << text;
    }
}

TEST(TextLineTest, APlaceIsFoundAgainBySight) {
    const TextFace face;
    for (const auto& [text, leftward] : k_lines) {
        const TextLine line = caret_line(face, text);
        for (const std::size_t place : caret_places(text)) {
            const double x = line.caret(place).strong;
            EXPECT_EQ(line.byte_at(x + 0.3), place) << text;
            EXPECT_EQ(line.byte_at(x - 0.3), place) << text;
        }
        const std::size_t size = std::string_view(text).size();
        EXPECT_EQ(line.byte_at(-1000), leftward ? size : 0) << text;
        EXPECT_EQ(line.byte_at(1e5), leftward ? 0 : size) << text;
    }
}

TEST(TextLineTest, ASelectionCoversItsLettersWhereverTheyStand) {
    const TextFace face;
    for (const auto& [text, leftward] : k_lines) {
        const TextLine line = caret_line(face, text);
        double sum = 0;
        const std::vector<std::size_t> all = caret_places(text);
        for (std::size_t i = 0; i + 1 < all.size(); ++i) {
            const auto ranges = line.ranges(all[i], all[i + 1]);
            ASSERT_EQ(ranges.size(), 1U) << text;
            const double first = line.caret(all[i]).strong, second = line.caret(all[i + 1]).strong;
            EXPECT_NEAR(ranges[0].first, std::min(first, second), 0.01) << text;
            EXPECT_NEAR(ranges[0].second, std::max(first, second), 0.01) << text;
            sum += ranges[0].second - ranges[0].first;
        }
        EXPECT_NEAR(sum, line.extent().width, 0.1) << text;
    }
    // From the last Latin letter to the first Hebrew one, which stands at the right: two pieces.
    const std::string mixed = "ab שלום";
    EXPECT_EQ(caret_line(face, mixed).ranges(1, 5).size(), 2U);
    EXPECT_EQ(caret_line(face, mixed).ranges(0, mixed.size()).size(), 1U);
    EXPECT_TRUE(caret_line(face, mixed).ranges(2, 2).empty());
}

TEST(TextLineTest, WhereDirectionsMeetThereAreTwoCarets) {
    const TextFace face;
    const TextLine line = caret_line(face, "ab שלום");
    const TextLine::Caret meeting = line.caret(3), inside = line.caret(1);
    EXPECT_NEAR(inside.strong, inside.weak, 0.01);
    EXPECT_NEAR(meeting.weak, line.extent().width, 0.01) << "a Hebrew letter begins at the right";
    EXPECT_LT(meeting.strong, meeting.weak - 20);
}

TEST(TextLineTest, BackspaceTakesAMarkAloneOnlyInScriptsThatTypeItAlone) {
    const TextFace face;
    const struct {
        const char* text;
        std::size_t begin;
    } cases[] = {
        {"xe\u0301", 1}, {"x👩‍🏫", 1}, {"x👍🏽", 1}, {"xé", 1},    {"नि", 3}, {"ผู้", 6}, {"مَ", 2},
        {"שָ", 2},        {"x\U0001FA00", 1},  {"x", 0},         {"x\xFF", 1},
    };
    for (const auto& [text, begin] : cases)
        EXPECT_EQ(caret_line(face, text).backspace_begin(std::string_view(text).size()), begin) << text;
    EXPECT_EQ(caret_line(face, "x").backspace_begin(0), 0U);
    EXPECT_EQ(caret_line(face, "").backspace_begin(0), 0U);
}

TEST(TextLineTest, APartOfTheLineIsThatPartOfItsPicture) {
    const TextFace face;
    const std::string text = "नमस्ते مرحبا 你好 😀";
    const TextShades whole = face.shades(face.displayable(text, Spaces::kept), k_line_style);
    const TextShades part = caret_line(face, text).shades(30, 50);
    EXPECT_EQ(part.width, 50 + 2 * TextShades::k_margin);
    ASSERT_EQ(part.height, whole.height);
    EXPECT_EQ(part.baseline, whole.baseline);
    int ink = 0;
    for (int y = 0; y < part.height; ++y)
        for (int x = 0; x < part.width; ++x) {
            const auto at = [&](const TextShades& shades, int column) {
                return shades.alpha[static_cast<std::size_t>(y * shades.width + column)];
            };
            ASSERT_EQ(at(part, x), at(whole, x + 30)) << x << ", " << y;
            ink += at(part, x) > 128 ? 1 : 0;
        }
    EXPECT_GT(ink, 100);
}

TEST(TextLineTest, AnyBytesMakeALineUnlessItIsTooLong) {
    const TextFace face;
    EXPECT_EQ(caret_line(face, "").right_of(0), 0U);
    EXPECT_EQ(caret_line(face, "").byte_at(5), 0U);
    const TextLine broken = caret_line(face, "\xFF\xD7");
    EXPECT_EQ(broken.right_of(0), 1U);
    EXPECT_EQ(broken.right_of(1), 2U);
    EXPECT_TRUE(face.line(std::string(4096, 'x'), k_line_style));
    EXPECT_FALSE(face.line(std::string(4097, 'x'), k_line_style));
}

}  // namespace
}  // namespace attnscope
