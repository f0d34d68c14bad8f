// Seeds, tokens, vocabularies and embedding tables.
#include <gtest/gtest.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/experiment/sentence.h"
#include "core/limits.h"
#include "core/random/seed.h"
#include "core/text/tokenizer.h"
#include "core/text/vocabulary.h"
#include "core/utf8.h"
#include "tests/drawn.h"

namespace attnscope {
namespace {

using Strings = std::vector<std::string>;

constexpr std::string_view k_notebook_sentence = "Can you help me to translate this sentence";

Strings split(TokenizerKind tokenizer, std::string_view text) {
    return tokenize(text, tokenizer_of(tokenizer));
}
Strings words(std::string_view text) { return split(TokenizerKind::words, text); }

Vocabulary vocabulary(VocabularyOrder rule, std::string_view text) {
    return make_vocabulary(words(text), vocabulary_rule(rule));
}

/// The message of the Error(bad_input) that `action` throws.
template <typename Action>
std::string refusal(Action action) {
    try {
        action();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::bad_input);
        return error.what();
    }
    ADD_FAILURE() << "not refused";
    return {};
}

// Seeds

TEST(SeedTest, TakesEveryNumberThatTorchTakes) {
    EXPECT_EQ(Seed::parse("-9223372036854775808").bits(), 0x8000000000000000u);
    EXPECT_EQ(Seed::parse("18446744073709551615").bits(), 0xFFFFFFFFFFFFFFFFu);
    EXPECT_EQ(Seed::parse("-1").bits(), 0xFFFFFFFFFFFFFFFFu);
    EXPECT_EQ(Seed::parse(" 123\n"), Seed(123));
}

TEST(SeedTest, RefusesAnythingButAWholeNumberInRange) {
    for (const std::string text : {"-9223372036854775809", "18446744073709551616", "1.5", "", "  ", "abc",
                                   "12x", "1 2", "-", "--1", "0x10", "1e3", "99999999999999999999999999"}) {
        EXPECT_NE(refusal([&] { Seed::parse(text); }).find('"' + text + '"'), std::string::npos) << text;
    }
}

TEST(SeedTest, WritesBackTheNumberItWasReadFrom) {
    for (const std::string text : {"-9223372036854775808", "-1", "0", "123", "9223372036854775807",
                                   "9223372036854775808", "18446744073709551615"}) {
        EXPECT_EQ(Seed::parse(text).text(), text);
        EXPECT_EQ(Seed::parse(Seed::parse(text).text()), Seed::parse(text));
    }
}

TEST(SeedTest, MinusOneIsNotTheLargestSeedAlthoughTheGeneratorSeesTheSame) {
    EXPECT_NE(Seed::parse("-1"), Seed::parse("18446744073709551615"));
    EXPECT_EQ(Seed::parse("5"), Seed::from_unsigned(5));
}

// Unicode

/// Sentences of characters that compose, fold, join or end a cluster, in any order, among ASCII.
std::vector<std::string> mixed_texts() {
    static constexpr std::array<std::string_view, 26> k_parts{
        "a",          "E",          "K",      ";",          "\r",
        "\n",         " ",          "'",      "\u0301",     "\u0308",
        "\u0344",     "\u00e9",     "\u00c5", "\u212a",     "\u037e",
        "\u0130",     "\u00df",     "\u1100", "\u1161",     "\u11a8",
        "\U0001f1e9", "\U0001f1ea", "\u200d", "\U0001f469", "\u0915\u094d",
        "\u00a0"};
    std::mt19937 random(5);
    std::vector<std::string> texts;
    for (int i = 0; i < 4000; ++i) {
        std::string& text = texts.emplace_back();
        for (auto length = random() % 12; length > 0; --length) text += k_parts[random() % k_parts.size()];
    }
    return texts;
}

/// What utf8proc makes of a text as a whole.
std::string mapped_as_a_whole(const std::string& text, int options) {
    utf8proc_uint8_t* mapped = nullptr;
    const auto length = utf8proc_map(
        reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
        &mapped, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | options));
    const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(mapped, &std::free);
    return {reinterpret_cast<const char*>(mapped),
            static_cast<std::size_t>(std::max<utf8proc_ssize_t>(length, 0))};
}

TEST(UnicodeTest, ATextWithAsciiIsNormalizedAndFoldedAsAWhole) {
    for (const std::string& text : mixed_texts()) {
        EXPECT_EQ(to_nfc(text), mapped_as_a_whole(text, 0)) << text;
        EXPECT_EQ(fold(text), mapped_as_a_whole(text, UTF8PROC_CASEFOLD)) << text;
    }
}

TEST(UnicodeTest, ATextWithAsciiIsCutIntoTheClustersOfAllItsCharacters) {
    for (const std::string& text : mixed_texts()) {
        Strings clusters;
        char32_t previous = 0;
        utf8proc_int32_t state = 0;
        for (std::string_view rest = text; !rest.empty();) {
            const DecodedCharacter next = decode_utf8(rest);
            if (clusters.empty() ||
                utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(previous),
                                                 static_cast<utf8proc_int32_t>(next.code), &state))
                clusters.emplace_back();
            clusters.back() += rest.substr(0, next.bytes);
            previous = next.code;
            rest.remove_prefix(next.bytes);
        }
        const std::vector<std::string_view> found = graphemes(text);
        EXPECT_EQ(Strings(found.begin(), found.end()), clusters) << text;
    }
}

TEST(UnicodeTest, ATextHasTokensIfItIsCutIntoSome) {
    std::vector<std::string> texts = mixed_texts();
    for (const char* blank : {"", " ", "\n\t ", "\u00a0\u3000", "\r\n"}) texts.emplace_back(blank);
    for (const Tokenizer& tokenizer : tokenizers())
        for (const std::string& text : texts)
            EXPECT_EQ(has_tokens(text, tokenizer), !tokenize(text, tokenizer).empty())
                << text << " " << tokenizer.summary;
}

// Words

TEST(WordTokenizerTest, AreRunsOfLettersAndDigits) {
    EXPECT_EQ(words("GPT4 has 96 layers"), (Strings{"GPT4", "has", "96", "layers"}));
    EXPECT_EQ(words("٣ cats"), (Strings{"٣", "cats"}));
}

TEST(WordTokenizerTest, KeepAnApostropheBetweenLetters) {
    EXPECT_EQ(words("don't"), (Strings{"don't"}));
    EXPECT_EQ(words("don’t"), (Strings{"don’t"}));
    EXPECT_EQ(words("rock'n'roll"), (Strings{"rock'n'roll"}));
    EXPECT_EQ(words("'tis dogs' 90's"), (Strings{"'", "tis", "dogs", "'", "90", "'", "s"}));
}

TEST(WordTokenizerTest, KeepAHyphenBetweenLetters) {
    EXPECT_EQ(words("state-of-the-art"), (Strings{"state-of-the-art"}));
    EXPECT_EQ(words("well‐known"), (Strings{"well‐known"}));
    EXPECT_EQ(words("-a b- a--b"), (Strings{"-", "a", "b", "-", "a", "-", "-", "b"}));
    EXPECT_EQ(words("1-2 covid-19 4-bit"), (Strings{"1", "-", "2", "covid", "-", "19", "4", "-", "bit"}));
}

TEST(WordTokenizerTest, KeepAnApostropheAfterALetterWithMarksOfItsOwn) {
    EXPECT_EQ(words("x\u0323'y"), (Strings{"x\u0323'y"}));
}

TEST(WordTokenizerTest, LeavePunctuationApart) {
    EXPECT_EQ(words("Well, yes!?"), (Strings{"Well", ",", "yes", "!", "?"}));
    EXPECT_EQ(words("a_b (c)"), (Strings{"a", "_", "b", "(", "c", ")"}));
}

TEST(WordTokenizerTest, AreComposed) {
    EXPECT_EQ(words("cafe\u0301"), (Strings{"caf\u00E9"}));
    EXPECT_EQ(words("x\u0301\u0323"), (Strings{"x\u0323\u0301"}));
    EXPECT_EQ(words("\u212B"), (Strings{"\u00C5"}));
}

TEST(WordTokenizerTest, IncludeMarksThatDoNotCompose) {
    EXPECT_EQ(words("हिन्दी भाषा"), (Strings{"हिन्दी", "भाषा"}));
    EXPECT_EQ(words("\u0323a"), (Strings{"\u0323a"}));
}

TEST(WordTokenizerTest, TakeAnEmojiSequenceAsOneToken) {
    EXPECT_EQ(words("a👩‍👩‍👧‍👦b"), (Strings{"a", "👩‍👩‍👧‍👦", "b"}));
    EXPECT_EQ(words("👍🏽🇫🇷🇩🇪❤️"), (Strings{"👍🏽", "🇫🇷", "🇩🇪", "❤️"}));
}

TEST(WordTokenizerTest, OfChineseAreRunsOfCharactersWithThePunctuationApart) {
    EXPECT_EQ(words("注意力，机制。"), (Strings{"注意力", "，", "机制", "。"}));
}

TEST(WordTokenizerTest, HaveNoSpaces) {
    EXPECT_EQ(words(" a\t\tb\r\nc\u00A0d\u3000e\u2028f "), (Strings{"a", "b", "c", "d", "e", "f"}));
    EXPECT_TRUE(words(" \t\r\n\u0085").empty());
}

TEST(WordTokenizerTest, OfTheNotebookAreItsEight) {
    EXPECT_EQ(words(k_notebook_sentence),
              (Strings{"Can", "you", "help", "me", "to", "translate", "this", "sentence"}));
}

// The other tokenizers

TEST(WhitespaceTest, SeparatesTokensAndNothingElseDoes) {
    EXPECT_EQ(split(TokenizerKind::whitespace, " don't  stop,now\u2003😀!\n"),
              (Strings{"don't", "stop,now", "😀!"}));
    EXPECT_EQ(split(TokenizerKind::whitespace, "zero\u200Bwidth"), (Strings{"zero\u200Bwidth"}));
}

TEST(CharactersTest, AreGraphemeClustersWithSpaces) {
    EXPECT_EQ(split(TokenizerKind::characters, "e\u0301 👩‍👧\r\nः"),
              (Strings{"\u00E9", " ", "👩‍👧", "\r\n", "ः"}));
    EXPECT_EQ(split(TokenizerKind::characters, "각각"), (Strings{"각", "각"}));
}

TEST(TokenizerTest, GivesNoTokensForEmptyText) {
    for (const Tokenizer& tokenizer : tokenizers())
        EXPECT_TRUE(tokenize("", tokenizer).empty()) << name_of(tokenizer.choice);
}

TEST(TokenizerTest, KeepsEveryByteOfUnusualText) {
    const std::string text("a\0b\u202E\u0301", 8);
    std::string joined;
    for (const std::string& token : split(TokenizerKind::characters, text)) joined += token;
    EXPECT_EQ(joined, to_nfc(text));
}

TEST(Utf8Test, IsRefusedWithTheOffsetOfTheFirstWrongByte) {
    const std::array<std::pair<std::string, int>, 9> wrong{{
        {"\xFF", 0},
        {"ab\x80", 2},
        {"é\xC3", 2},
        {"a\xE2\x82", 1},
        {"\xC0\xAF", 0},
        {"ok \xED\xA0\x80", 3},
        {"\xF4\x90\x80\x80", 0},
        {"\xE0\x80\x80", 0},
        {"a\xF0\x9F\x98 b", 1},
    }};
    for (const auto& [text, offset] : wrong) {
        const std::string expected = "not valid UTF-8 at byte " + std::to_string(offset) + ":";
        for (const Tokenizer& tokenizer : tokenizers()) {
            const std::string message = refusal([&, &text = text] { tokenize(text, tokenizer); });
            EXPECT_NE(message.find(expected), std::string::npos) << message;
        }
        EXPECT_NE(refusal([&, &text = text] { require_utf8(text); }).find(expected), std::string::npos);
    }
}

TEST(Utf8Test, IsAcceptedToItsLastCodePoint) {
    EXPECT_NO_THROW(require_utf8("a\u00E9\u20AC\U0001F600\U0010FFFF\uD7FF\uE000\uFFFE"));
    EXPECT_NO_THROW(require_utf8(""));
}

TEST(FoldingTest, MakesWordsOfAnyCaseEqual) {
    EXPECT_EQ(fold("CAN"), "can");
    EXPECT_EQ(fold("can"), "can");
    EXPECT_EQ(fold("Straße"), "strasse");
    EXPECT_EQ(fold("ΣΊΣΥΦΟΣ"), fold("σίσυφος"));
    EXPECT_EQ(fold("E\u0301"), "\u00E9");
    EXPECT_EQ(fold("注意力"), "注意力");
    EXPECT_EQ(fold(""), "");
}

TEST(FoldingTest, OfAFoldedWordChangesNothing) {
    for (const std::string word : {"İstanbul", "ﬁ", "ᾳ\u0301", "ŉ", "ǰ\u0323", "ΐ"}) {
        EXPECT_EQ(fold(fold(word)), fold(word)) << word;
    }
}

TEST(DisplayTokenTest, MakesSpacesAndControlCharactersVisible) {
    EXPECT_EQ(display_token(" "), "␣");
    EXPECT_EQ(display_token("\u3000"), "␣");
    EXPECT_EQ(display_token("\r\n"), "U+000DU+000A");
    EXPECT_EQ(display_token(std::string_view("\0", 1)), "U+0000");
    EXPECT_EQ(display_token("\u202E"), "U+202E");
    EXPECT_EQ(display_token("👩‍👧"), "👩‍👧");
    EXPECT_EQ(display_token("don’t"), "don’t");
}

// Vocabularies

TEST(VocabularyTest, AlphabeticalGivesTheRowsOfTheNotebook) {
    const Vocabulary result = vocabulary(VocabularyOrder::alphabetical, k_notebook_sentence);
    EXPECT_EQ(result.ids, (std::vector{0, 7, 1, 2, 5, 6, 4, 3}));
    EXPECT_EQ(result.words, (Strings{"can", "help", "me", "sentence", "this", "to", "translate", "you"}));
}

TEST(VocabularyTest, AlphabeticalIsByCodePoint) {
    EXPECT_EQ(vocabulary(VocabularyOrder::alphabetical, "zoo école Ωmega 😀 ！ apple 10 9").words,
              (Strings{"10", "9", "apple", "zoo", "école", "ωmega", "！", "😀"}));
}

TEST(VocabularyTest, AppearanceGivesRowsInTheOrderOfFirstUse) {
    const Vocabulary result = vocabulary(VocabularyOrder::appearance, "the Cat saw THE dog, the cat");
    EXPECT_EQ(result.words, (Strings{"the", "cat", "saw", "dog", ","}));
    EXPECT_EQ(result.ids, (std::vector{0, 1, 2, 0, 3, 4, 0, 1}));
}

TEST(VocabularyTest, GivesEqualFoldedWordsOneRow) {
    for (const VocabularyRule& rule : vocabulary_rules()) {
        EXPECT_EQ(make_vocabulary(Strings{"CAN", "can", "Can"}, rule).ids, (std::vector{0, 0, 0}))
            << name_of(rule.choice);
        EXPECT_EQ(make_vocabulary(Strings{"STRASSE", "straße"}, rule).words, (Strings{"strasse"}))
            << name_of(rule.choice);
    }
}

TEST(VocabularyTest, OfNoTokensIsEmpty) {
    for (const VocabularyRule& rule : vocabulary_rules()) {
        EXPECT_TRUE(make_vocabulary(Strings{}, rule).words.empty()) << name_of(rule.choice);
    }
}

TEST(VocabularyTest, AStableWordAndAWordOfTheLexiconKeepTheirVectors) {
    for (const VocabularyRule& rule : vocabulary_rules())
        EXPECT_EQ(rule.stable,
                  rule.choice == VocabularyOrder::stable || rule.choice == VocabularyOrder::lexicon);
}

// Tables of embeddings

TEST(TableTest, OfTheNotebookStartsWithItsPrintedDigits) {
    Generator generator(Seed(123));
    const Matrix table = test::drawn(generator, Initialization::normal, 10, 16);
    ASSERT_EQ(table.rows(), 10);
    ASSERT_EQ(table.cols(), 16);
    const std::array printed{0.3374, -0.1778, -0.3035, -0.5880};
    for (Eigen::Index i = 0; i < 4; ++i) {
        EXPECT_EQ(std::round(table(0, i) * 1e4) / 1e4, printed[static_cast<std::size_t>(i)]) << i;
    }
}

TEST(TableTest, LeavesTheGeneratorWhereTheDrawEnded) {
    Generator by_table(Seed(5));
    Generator by_hand(Seed(5));
    test::drawn(by_table, Initialization::uniform, 3, 4);
    std::array<float, 12> skipped{};
    by_hand.rand(skipped);
    std::array<float, 1> next{};
    std::array<float, 1> expected{};
    by_table.rand(next);
    by_hand.rand(expected);
    EXPECT_EQ(next, expected);
}

TEST(StableTableTest, GivesAWordTheSameRowInEverySentence) {
    for (const Initializer& initializer : initializers()) {
        const Vocabulary first = vocabulary(VocabularyOrder::stable, "the cat sat on the mat");
        const Vocabulary second = vocabulary(VocabularyOrder::stable, "A dog and a CAT");
        const Matrix table = draw_stable_table(Seed(123), first.words, 16, initializer);
        const Matrix other = draw_stable_table(Seed(123), second.words, 16, initializer);
        EXPECT_EQ(table.row(first.ids[1]), other.row(second.ids[4])) << name_of(initializer.choice);
        EXPECT_NE(table.row(first.ids[0]), table.row(first.ids[1])) << name_of(initializer.choice);
    }
}

TEST(StableTableTest, ChangesWithTheSeed) {
    const Strings word{"cat"};
    const Initializer& normal = initializer_of(Initialization::normal);
    EXPECT_NE(draw_stable_table(Seed(1), word, 8, normal), draw_stable_table(Seed(2), word, 8, normal));
    EXPECT_NE(draw_stable_table(Seed(1), word, 8, normal),
              draw_stable_table(Seed::from_unsigned(1 + (std::uint64_t{1} << 32)), word, 8, normal));
}

TEST(StableTableTest, SeedsAWordByAFixedHash) {
    EXPECT_EQ(word_seed(Seed(123), "cat").bits(), 0x384EDE3D28248FD5u);
    EXPECT_EQ(word_seed(Seed(-5), "é").bits(), 0xEDAC6ADFAA2C06B1u);
}

TEST(StableTableTest, DrawsEachRowFromTheGeneratorOfItsWord) {
    const Strings two{"cat", "dog"};
    const Matrix table = draw_stable_table(Seed(123), two, 5, initializer_of(Initialization::normal));
    Generator generator(word_seed(Seed(123), "dog"));
    std::array<float, 5> row{};
    generator.normal(row);
    for (Eigen::Index i = 0; i < 5; ++i) EXPECT_EQ(table(1, i), row[static_cast<std::size_t>(i)]);
}

TEST(SentenceTokensTest, ATokenAndATextHaveALongestLength) {
    const auto refusal = [](const std::string& text) {
        Experiment experiment;
        experiment.input.text = text;
        try {
            check(experiment);
            sentence_tokens(experiment, text, "the sentence", "--text");
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::too_large);
            return std::string(error.what());
        }
        return std::string();
    };
    const std::string longest(k_max_token_bytes, 'a');
    EXPECT_EQ(refusal("the " + longest), "");
    EXPECT_EQ(refusal("the " + longest + "b"),
              "the sentence has a token of 4097 bytes and the limit is 4096: shorten it (" +
                  std::string(45, 'a') + "…" + std::string(14, 'a') + "b)");
    EXPECT_EQ(refusal(std::string(k_max_text_bytes + 1, ' ')),
              "text has 8388609 bytes and the limit is 8388608: shorten it");
}

}  // namespace
}  // namespace attnscope
