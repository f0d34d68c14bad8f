#include "core/utf8.h"

#include <gtest/gtest.h>

#include <string_view>

namespace attnscope {
namespace {

TEST(Utf8Test, DecodesWhatItEncodes) {
    for (const char32_t code : {U'\0', U'a', U'é', U'→', U'咖', U'😀', char32_t{0x10FFFF}}) {
        const std::string text = encode_utf8(code) + "rest";
        EXPECT_EQ(decode_utf8(text).code, code);
        EXPECT_EQ(text.substr(decode_utf8(text).bytes), "rest");
    }
}

TEST(Utf8Test, RefusesWhatIsNotWellFormed) {
    for (const char* text :
         {"\x80", "\xC3", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF"})
        EXPECT_EQ(decode_utf8(text).bytes, 0U) << text;
    EXPECT_EQ(decode_utf8("").bytes, 0U);
}

TEST(Utf8Test, TellsAWellFormedTextFromOneThatIsCutOff) {
    EXPECT_TRUE(is_utf8(""));
    EXPECT_TRUE(is_utf8("a → 😀"));
    EXPECT_FALSE(is_utf8("a \xE2\x86"));
    EXPECT_FALSE(is_utf8("\x80 a"));
}

TEST(Utf8Test, CapitalizesALetterOfAsciiAlone) {
    EXPECT_EQ(capitalized("the scores"), "The scores");
    EXPECT_EQ(capitalized("W_o is"), "W_o is");
    EXPECT_EQ(capitalized("é"), "é");
    EXPECT_EQ(capitalized("{z"), "{z");
    EXPECT_EQ(capitalized(""), "");
}

TEST(Utf8Test, ChangesTheCaseOfLettersOfAnyScriptAndKeepsTheRest) {
    EXPECT_EQ(lower("W_q ÄÖ Жук √D_K ᵀ"), "w_q äö жук √d_k ᵀ");
    EXPECT_EQ(upper("W_q äö жук √d_k ℓ"), "W_Q ÄÖ ЖУК √D_K ℓ");
    EXPECT_EQ(lower("A\x80Z\xC3"), "a\x80z\xC3");
    EXPECT_EQ(lower(""), "");
}

TEST(Utf8Test, TellsLettersAndDigitsOfAnyScript) {
    for (const char32_t letter : std::u32string_view(U"azZéжあ\u0627ᵀ"))
        EXPECT_TRUE(is_letter(letter)) << static_cast<unsigned>(letter);
    for (const char32_t other : std::u32string_view(U"7 _√→\u0301😀")) {
        EXPECT_FALSE(is_letter(other)) << static_cast<unsigned>(other);
        EXPECT_EQ(is_digit(other), other == U'7') << static_cast<unsigned>(other);
    }
}

TEST(Utf8Test, CountsCodePointsAndStrayBytes) {
    EXPECT_EQ(count_code_points(""), 0U);
    EXPECT_EQ(count_code_points("d_k → 😀"), 7U);
    EXPECT_EQ(count_code_points("a\x80\xC3"), 3U);
}

TEST(Utf8Test, FindsWhereACodePointBegins) {
    const std::string text = "a😀b";
    const std::size_t begins[] = {0, 1, 1, 1, 1, 5};
    for (std::size_t byte = 0; byte < text.size(); ++byte)
        EXPECT_EQ(code_point_begin(text, byte), begins[byte]) << byte;
    EXPECT_EQ(code_point_begin(text, 6), 6U);
    EXPECT_EQ(code_point_begin(text, 99), 6U);
}

}  // namespace
}  // namespace attnscope
