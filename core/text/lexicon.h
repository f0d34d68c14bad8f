// English words and their features, such as noun, plural, animal: an embedding whose columns can be read. The
// words are in assets/lexicon.txt, whose first lines describe the format. The table has a column for each
// feature and for the spelling, so a new feature changes the size of the designed examples' matrices:
// scripts/make-designed-examples writes them anew.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

/// The features of one word.
struct LexiconEntry {
    enum class Source {
        listed,     ///< in the lexicon
        inflected,  ///< by its base form in the lexicon: "cats", "chased"
        guessed,    ///< by its ending, or none of these
    };
    std::vector<int> features;  ///< columns, ascending
    Source source = Source::listed;
    std::string base;  ///< of an inflected word, its base form; of a guessed one, the ending
};

class Lexicon {
public:
    /// Reads the format that assets/lexicon.txt describes. Throws Error(bad_input) naming the line of a word
    /// that is listed twice, a feature that is not declared, or a rule that is incomplete.
    explicit Lexicon(std::string_view text);

    /// The names of the features, in the order of the columns.
    std::span<const std::string> features() const { return features_; }
    /// The features of a folded word; any word has some.
    LexiconEntry find(std::string_view word) const;
    std::size_t size() const { return words_.size(); }
    const std::map<std::string, std::vector<int>, std::less<>>& words() const { return words_; }

private:
    /// An ending, and what it says of a word that has it.
    struct Ending {
        std::string ending;
        std::string replaced_by;    ///< of an inflection: the end of the base form
        int base_feature = -1;      ///< of an inflection: what the base form must be
        std::vector<int> features;  ///< beside those of the base form
    };
    int column_of(std::string_view feature, int line) const;
    std::vector<int> columns_of(std::span<const std::string> features, int line) const;
    LexiconEntry inflected(std::string_view word) const;

    std::vector<std::string> features_;
    std::map<std::string, std::vector<int>, std::less<>> words_;
    std::vector<Ending> inflections_, endings_;
};

/// The lexicon of assets/lexicon.txt.
const Lexicon& lexicon();

/// Columns behind the features: a vector of length 1 that a hash of the word determines, so that equal words
/// have product 1 and different words, most likely, much less.
inline constexpr int k_spelling_columns = 8;

/// The names of the columns of lexicon_table(): the features, then "spelling-1" … "spelling-8"; "–" beyond
/// them.
std::vector<std::string> lexicon_columns(int d);
/// One row per folded word: 1 for each feature that it has, 0 for others, then its spelling, rounded to
/// hundredths. With a smaller d the last columns are missing, with a larger one the rest is 0; words × d.
Matrix lexicon_table(std::span<const std::string> words, int d);
/// Where a word's features come from: "“cats” is a form of “cat” in the lexicon".
std::string lexicon_source(std::string_view word);

}  // namespace attnscope
