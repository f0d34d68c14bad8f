// The lexicon: its words, and what it says of words that it does not have.
#include "core/text/lexicon.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"

namespace attnscope {
namespace {

using Strings = std::vector<std::string>;

Strings features_of(std::string_view word) {
    Strings names;
    for (const int column : lexicon().find(word).features)
        names.push_back(lexicon().features()[static_cast<std::size_t>(column)]);
    return names;
}

LexiconEntry::Source source_of(std::string_view word) { return lexicon().find(word).source; }

constexpr std::string_view k_small =
    "= word noun plural singular verb\n> s - noun plural\n~ - noun\ncat noun singular\n";

TEST(LexiconTest, HasSixHundredWordsOrMoreAndNamesEachFeatureOnce) {
    EXPECT_GE(lexicon().size(), 600u);
    const std::set<std::string> names(lexicon().features().begin(), lexicon().features().end());
    EXPECT_EQ(names.size(), lexicon().features().size());
}

TEST(LexiconTest, GivesEachWordAPartOfSpeech) {
    const std::set<std::string> parts{"noun",    "verb",     "auxiliary",    "adjective",   "adverb",
                                      "pronoun", "article",  "preposition",  "conjunction", "negation",
                                      "number",  "question", "interjection", "punctuation"};
    for (const auto& [word, columns] : lexicon().words()) {
        const Strings names = features_of(word);
        EXPECT_TRUE(std::ranges::any_of(names, [&](const std::string& name) { return parts.contains(name); }))
            << word;
    }
}

TEST(LexiconTest, GivesEachNounANumber) {
    for (const auto& [word, columns] : lexicon().words()) {
        const Strings names = features_of(word);
        const auto has = [&](const char* name) { return std::ranges::count(names, name) > 0; };
        if (has("noun")) {
            EXPECT_NE(has("singular"), has("plural")) << word;
        }
    }
}

TEST(LexiconTest, SaysOfACatThatItIsASingularAnimal) {
    EXPECT_EQ(features_of("cat"), (Strings{"word", "noun", "singular", "animal"}));
    EXPECT_EQ(source_of("cat"), LexiconEntry::Source::listed);
}

TEST(LexiconTest, KnowsAnInflectionByItsBaseForm) {
    EXPECT_EQ(features_of("cats"), (Strings{"word", "noun", "plural", "animal"}));
    EXPECT_EQ(features_of("parties"), (Strings{"word", "noun", "plural", "event"}));
    EXPECT_EQ(features_of("stopped"), (Strings{"word", "verb", "past"}));
    EXPECT_EQ(features_of("baked"), (Strings{"word", "verb", "past"}));
    EXPECT_EQ(features_of("bigger"), (Strings{"word", "adjective", "size"}));
    EXPECT_EQ(features_of("dog’s"), (Strings{"word", "noun", "singular", "possessive", "animal"}));
    for (const char* word : {"cats", "parties", "stopped", "baked", "bigger", "dog's"})
        EXPECT_EQ(source_of(word), LexiconEntry::Source::inflected) << word;
}

TEST(LexiconTest, GuessesOtherWordsByTheirEndings) {
    EXPECT_EQ(features_of("zorbs"), (Strings{"word", "noun", "plural", "thing"}));
    EXPECT_EQ(features_of("zorbed"), (Strings{"word", "verb", "past"}));
    EXPECT_EQ(features_of("zorbly"), (Strings{"word", "adverb"}));
    EXPECT_EQ(features_of("zorbation"), (Strings{"word", "noun", "singular", "idea"}));
    EXPECT_EQ(features_of("42"), (Strings{"word", "number"}));
    EXPECT_EQ(features_of("犬"), (Strings{"word", "noun", "singular", "thing"}));
    for (const char* word : {"zorbs", "zorbed", "zorbly", "42", "犬", ""})
        EXPECT_EQ(source_of(word), LexiconEntry::Source::guessed) << word;
}

TEST(LexiconTest, GivesPunctuationNoFeatureOfAWord) {
    EXPECT_EQ(features_of(","), (Strings{"punctuation", "pause"}));
}

TEST(LexiconTest, SaysWhereTheFeaturesOfAWordComeFrom) {
    EXPECT_EQ(lexicon_source("cat"), "“cat” is in the lexicon");
    EXPECT_EQ(lexicon_source("cats"), "“cats” is a form of “cat” in the lexicon");
    EXPECT_EQ(lexicon_source("zorbly"), "“zorbly” is not in the lexicon: guessed from its ending -ly");
    EXPECT_EQ(lexicon_source("zorb"), "“zorb” is not in the lexicon: guessed");
}

TEST(LexiconTest, RefusesALineThatItCannotRead) {
    EXPECT_EQ(Lexicon(k_small).size(), 1u);
    for (const auto& [line, what] : std::vector<std::pair<std::string, std::string>>{
             {"cat noun\n", "line 5: \"cat\" is listed twice"},
             {"dog animal\n", "line 5: \"animal\" is not a feature"},
             {"dog\n", "line 5: \"dog\" has no features"},
             {"> ed - \n", "line 5: an inflection"},
             {"~ ly\n", "line 5: an ending"},
             {"~ ly noun\n", "no features for words without a known ending"},
         }) {
        try {
            Lexicon(std::string(k_small) + line);
            ADD_FAILURE() << line;
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
        }
    }
}

TEST(LexiconTableTest, HasAOneForEachFeatureAndASpellingOfLengthOne) {
    const Strings columns = lexicon_columns(90);
    const Matrix table = lexicon_table(Strings{"cat", "zorb"}, 90);
    const auto features = static_cast<int>(lexicon().features().size());
    for (int j = 0; j < features; ++j) {
        const bool is_of_cat = Strings{"word", "noun", "singular", "animal"} == features_of("cat") &&
                               std::ranges::count(features_of("cat"), columns[std::size_t(j)]) > 0;
        EXPECT_EQ(table(0, j), is_of_cat ? 1 : 0) << columns[std::size_t(j)];
    }
    EXPECT_EQ(columns[std::size_t(features)], "spelling-1");
    for (int i = 0; i < 2; ++i)
        EXPECT_NEAR(table.row(i).segment(features, k_spelling_columns).norm(), 1, 0.02);
    EXPECT_EQ(table.rightCols(90 - features - k_spelling_columns).norm(), 0);
}

TEST(LexiconTableTest, GivesAWordTheSameRowInEverySentenceAndInEveryWidth) {
    const Matrix wide = lexicon_table(Strings{"dog", "cat"}, 80), narrow = lexicon_table(Strings{"cat"}, 20);
    EXPECT_EQ(Matrix(wide.row(1).head(20)), narrow);
}

TEST(LexiconTableTest, TellsEveryTwoListedWordsApartByTheirSpelling) {
    Strings words;
    for (const auto& [word, columns] : lexicon().words()) words.push_back(word);
    const auto features = static_cast<int>(lexicon().features().size());
    const Matrix table = lexicon_table(words, features + k_spelling_columns);
    const Matrix code = table.rightCols(k_spelling_columns);
    const Matrix products = code * code.transpose();
    int alike = 0;
    for (Eigen::Index i = 0; i < products.rows(); ++i)
        for (Eigen::Index j = 0; j < i; ++j) {
            EXPECT_LT(products(i, j), products(i, i))
                << words[std::size_t(i)] << " " << words[std::size_t(j)];
            alike += products(i, j) > 0.9;
        }
    EXPECT_LT(alike, products.rows() * products.rows() / 2 / 500);  // one pair in 500
}

}  // namespace
}  // namespace attnscope
