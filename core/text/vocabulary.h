// Which row of the embedding table each token uses, and the table itself.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/choice.h"
#include "core/random/generator.h"
#include "core/random/initializers.h"
#include "core/tensor/tensor.h"

namespace attnscope {

enum class VocabularyOrder { alphabetical, appearance, stable, lexicon };
constexpr auto choice_names(VocabularyOrder) {
    using enum VocabularyOrder;
    return std::to_array<ChoiceName<VocabularyOrder>>({{alphabetical, "alphabetical"},
                                                       {appearance, "appearance"},
                                                       {stable, "stable"},
                                                       {lexicon, "lexicon"}});
}

/// An order of the distinct folded tokens.
struct VocabularyRule {
    VocabularyOrder choice;
    std::string_view summary;
    std::string_view sorted;  ///< how the words lie in the table: "order of appearance"
    bool stable;  ///< a word keeps its vector whatever else is typed: the table has one row per word
    /// The distinct folded tokens, by table row.
    std::vector<std::string> (*order)(std::span<const std::string> folded);
};

/// In the order of the menus:
/// `alphabetical`  by code point of the folded word, as sorted() in the notebooks
/// `appearance`    by first appearance
/// `stable`        by first appearance; each row is drawn by its own generator
/// `lexicon`       by first appearance; each row holds the word's features (core/text/lexicon.h)
std::span<const VocabularyRule> vocabulary_rules();
const VocabularyRule& vocabulary_rule(VocabularyOrder choice);

/// The table's words and each token's row in it.
struct Vocabulary {
    std::vector<std::string> words;  ///< folded, by row
    std::vector<int> ids;            ///< one per token
};

/// One vocabulary over all tokens of all sentences.
Vocabulary make_vocabulary(std::span<const std::string> tokens, const VocabularyRule& rule);

/// One row per word, each drawn as a 1 × d tensor from a generator seeded with word_seed(seed, word).
Matrix draw_stable_table(Seed seed, std::span<const std::string> words, int d,
                         const Initializer& initializer);

/// seed ⊕ FNV-1a-64 of the folded word's UTF-8 bytes, finished by the splitmix64 mixer (without its
/// increment), so that its low 32 bits (all that MT19937 takes) depend on every bit of both. (Vigna,
/// splitmix64; FNV: Fowler, Noll, Vo.)
Seed word_seed(Seed seed, std::string_view folded_word);

}  // namespace attnscope
