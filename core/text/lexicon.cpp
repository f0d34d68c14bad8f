#include "core/text/lexicon.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "core/error.h"
#include "core/random/generator.h"
#include "core/text/lexicon_file.h"
#include "core/text/tokenizer.h"
#include "core/text/vocabulary.h"

namespace attnscope {
namespace {

constexpr std::size_t k_shortest_base = 2;  ///< letters

std::vector<std::string> fields_of(const std::string& line) {
    std::istringstream stream(line);
    std::vector<std::string> fields;
    for (std::string field; stream >> field;) fields.push_back(field);
    return fields;
}

[[noreturn]] void refuse(int line, const std::string& what) {
    throw Error(ErrorKind::bad_input, fmt::format("lexicon, line {}: {}", line, what));
}

/// "-" stands for no letters.
std::string letters(const std::string& field) { return field == "-" ? "" : field; }

/// A typographic apostrophe as the one on the keyboard.
std::string with_plain_apostrophe(std::string_view word) {
    constexpr std::string_view k_typographic = "\u2019";
    std::string plain(word);
    for (std::size_t at = plain.find(k_typographic); at != plain.npos; at = plain.find(k_typographic))
        plain.replace(at, k_typographic.size(), "'");
    return plain;
}

/// "stopp" as "stop"; empty if the last letter is not doubled.
std::string undoubled(const std::string& stem) {
    const std::size_t n = stem.size();
    return n > k_shortest_base && stem[n - 1] == stem[n - 2] ? stem.substr(0, n - 1) : "";
}

void insert(std::vector<int>& columns, int column) {
    const auto at = std::ranges::lower_bound(columns, column);
    if (at == columns.end() || *at != column) columns.insert(at, column);
}

std::array<float, k_spelling_columns> spelling(std::string_view word) {
    std::array<float, k_spelling_columns> code{};
    Generator(word_seed(0, word)).normal(std::span<float>(code));
    float squares = 0;
    for (const float number : code) squares += number * number;
    for (float& number : code) number = std::round(number / std::sqrt(squares) * 100) / 100;
    return code;
}

}  // namespace

Lexicon::Lexicon(std::string_view text) {
    std::istringstream stream{std::string(text)};
    int number = 0;
    for (std::string line; std::getline(stream, line);) {
        ++number;
        const std::vector<std::string> fields = fields_of(line);
        if (fields.empty() || fields[0] == "#") continue;
        const std::span<const std::string> rest(fields.begin() + 1, fields.end());
        if (fields[0] == "=") {
            features_.insert(features_.end(), rest.begin(), rest.end());
        } else if (fields[0] == ">") {
            if (rest.size() < 3) refuse(number, "an inflection has an ending, its replacement and a feature");
            inflections_.push_back({letters(rest[0]), letters(rest[1]), column_of(rest[2], number),
                                    columns_of(rest.subspan(3), number)});
        } else if (fields[0] == "~") {
            if (rest.size() < 2) refuse(number, "an ending has features");
            endings_.push_back({letters(rest[0]), "", -1, columns_of(rest.subspan(1), number)});
        } else if (rest.empty()) {
            refuse(number, fmt::format("\"{}\" has no features", fields[0]));
        } else if (!words_.emplace(fields[0], columns_of(rest, number)).second) {
            refuse(number, fmt::format("\"{}\" is listed twice", fields[0]));
        }
    }
    if (endings_.empty() || !endings_.back().ending.empty())
        refuse(number, "no features for words without a known ending (~ -)");
}

int Lexicon::column_of(std::string_view feature, int line) const {
    const auto found = std::ranges::find(features_, feature);
    if (found == features_.end()) refuse(line, fmt::format("\"{}\" is not a feature", feature));
    return static_cast<int>(found - features_.begin());
}

std::vector<int> Lexicon::columns_of(std::span<const std::string> features, int line) const {
    std::vector<int> columns;
    for (const std::string& feature : features) insert(columns, column_of(feature, line));
    return columns;
}

LexiconEntry Lexicon::inflected(std::string_view word) const {
    for (const Ending& rule : inflections_) {
        if (!word.ends_with(rule.ending)) continue;
        const std::string stem(word.substr(0, word.size() - rule.ending.size()));
        for (const std::string& base : {stem + rule.replaced_by, undoubled(stem)}) {
            const auto found = words_.find(base);
            if (base.size() < k_shortest_base || found == words_.end()) continue;
            if (!std::ranges::binary_search(found->second, rule.base_feature)) continue;
            LexiconEntry entry{found->second, LexiconEntry::Source::inflected, base};
            for (const int column : rule.features) {
                insert(entry.features, column);
                if (features_[static_cast<std::size_t>(column)] == "plural")
                    std::erase_if(entry.features, [&](int c) {
                        return features_[static_cast<std::size_t>(c)] == "singular";
                    });
            }
            return entry;
        }
    }
    return {};
}

LexiconEntry Lexicon::find(std::string_view typed) const {
    const std::string word = with_plain_apostrophe(typed);
    LexiconEntry entry;
    if (const auto listed = words_.find(word); listed != words_.end())
        entry.features = listed->second;
    else if (entry = inflected(word); entry.features.empty()) {
        const auto rule =
            std::ranges::find_if(endings_, [&](const Ending& each) { return word.ends_with(each.ending); });
        entry = {rule->features, LexiconEntry::Source::guessed, rule->ending};
    }
    const auto is = [&](std::string_view feature) {
        return std::ranges::any_of(entry.features, [&](int column) {
            return features_[static_cast<std::size_t>(column)] == feature;
        });
    };
    if (!is("punctuation")) insert(entry.features, column_of("word", 0));
    return entry;
}

const Lexicon& lexicon() {
    static const Lexicon parsed(embedded_lexicon().front().text);
    return parsed;
}

std::vector<std::string> lexicon_columns(int d) {
    const std::span<const std::string> features = lexicon().features();
    std::vector<std::string> names(features.begin(), features.end());
    for (int i = 1; i <= k_spelling_columns; ++i) names.push_back(fmt::format("spelling-{}", i));
    names.resize(static_cast<std::size_t>(d), "–");
    return names;
}

Matrix lexicon_table(std::span<const std::string> words, int d) {
    const auto features = static_cast<int>(lexicon().features().size());
    Matrix table = Matrix::Zero(static_cast<Eigen::Index>(words.size()), d);
    for (std::size_t i = 0; i < words.size(); ++i) {
        auto row = table.row(static_cast<Eigen::Index>(i));
        for (const int column : lexicon().find(words[i]).features)
            if (column < d) row(column) = 1;
        const auto code = spelling(words[i]);
        for (int k = 0; k < k_spelling_columns && features + k < d; ++k)
            row(features + k) = code[static_cast<std::size_t>(k)];
    }
    return table;
}

std::string lexicon_source(std::string_view word) {
    const LexiconEntry entry = lexicon().find(word);
    switch (entry.source) {
        case LexiconEntry::Source::listed: break;
        case LexiconEntry::Source::inflected:
            return fmt::format("“{}” is a form of “{}” in the lexicon", word, entry.base);
        case LexiconEntry::Source::guessed:
            return fmt::format("“{}” is not in the lexicon: guessed{}", word,
                               entry.base.empty() ? "" : " from its ending -" + entry.base);
    }
    return fmt::format("“{}” is in the lexicon", word);
}

}  // namespace attnscope
