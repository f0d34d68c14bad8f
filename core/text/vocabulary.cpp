#include "core/text/vocabulary.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <unordered_map>
#include <unordered_set>

#include "core/text/tokenizer.h"

namespace attnscope {
namespace {

std::vector<std::string> by_appearance(std::span<const std::string> folded) {
    std::unordered_set<std::string_view> seen;
    std::vector<std::string> words;
    std::ranges::copy_if(folded, std::back_inserter(words),
                         [&](const std::string& word) { return seen.insert(word).second; });
    return words;
}

/// Comparing bytes of UTF-8 as unsigned, as std::string does, orders by code point.
std::vector<std::string> by_code_point(std::span<const std::string> folded) {
    std::vector<std::string> words = by_appearance(folded);
    std::ranges::sort(words);
    return words;
}

std::uint64_t fnv1a64(std::string_view text) {
    std::uint64_t hash = 0xCBF29CE484222325u;
    for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3u;
    return hash;
}

std::uint64_t splitmix64_mixed(std::uint64_t bits) {
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EBu;
    return bits ^ bits >> 31;
}

constexpr std::array<VocabularyRule, 4> k_rules{{
    {VocabularyOrder::alphabetical, "words in alphabetical order, as in Python's sorted()",
     "alphabetical order", false, by_code_point},
    {VocabularyOrder::appearance, "words in order of appearance", "order of appearance", false,
     by_appearance},
    {VocabularyOrder::stable, "a word keeps its vector whatever else is typed", "order of appearance", true,
     by_appearance},
    {VocabularyOrder::lexicon, "a word's vector is its features: noun, plural, animal …",
     "order of appearance", true, by_appearance},
}};
static_assert(is_table_of<VocabularyOrder>(k_rules));

}  // namespace

std::span<const VocabularyRule> vocabulary_rules() { return k_rules; }

const VocabularyRule& vocabulary_rule(VocabularyOrder choice) {
    return k_rules[static_cast<std::size_t>(choice)];
}

Vocabulary make_vocabulary(std::span<const std::string> tokens, const VocabularyRule& rule) {
    std::vector<std::string> folded;
    std::ranges::transform(tokens, std::back_inserter(folded), fold);

    Vocabulary vocabulary{.words = rule.order(folded), .ids = {}};
    std::unordered_map<std::string_view, int> row_of;
    for (const std::string& word : vocabulary.words) row_of.emplace(word, static_cast<int>(row_of.size()));
    for (const std::string& word : folded) vocabulary.ids.push_back(row_of.at(word));
    return vocabulary;
}

Matrix draw_stable_table(Seed seed, std::span<const std::string> words, int d,
                         const Initializer& initializer) {
    Matrix table(static_cast<Eigen::Index>(words.size()), d);
    for (std::size_t row = 0; row < words.size(); ++row) {
        Generator generator(word_seed(seed, words[row]));
        initializer.fill(generator, MatrixView(table.row(static_cast<Eigen::Index>(row)).data(), 1, d));
    }
    return table;
}

Seed word_seed(Seed seed, std::string_view folded_word) {
    return Seed::from_unsigned(splitmix64_mixed(seed.bits() ^ fnv1a64(folded_word)));
}

}  // namespace attnscope
