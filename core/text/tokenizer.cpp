#include "core/text/tokenizer.h"

#include <fmt/format.h>

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <memory>

#include "core/error.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

using CodePoint = utf8proc_int32_t;

const utf8proc_uint8_t* bytes(std::string_view text) {
    return reinterpret_cast<const utf8proc_uint8_t*>(text.data());
}

/// The code point at byte `position`, which is advanced. Throws if no well-formed one starts there.
CodePoint next_code_point(std::string_view text, std::size_t& position) {
    const DecodedCharacter next = decode_utf8(text.substr(position));
    if (next.bytes == 0) {
        throw Error(
            ErrorKind::bad_input,
            fmt::format("the text is not valid UTF-8 at byte {}: save or paste it as UTF-8", position));
    }
    position += next.bytes;
    return static_cast<CodePoint>(next.code);
}

CodePoint first_code_point(std::string_view text) {
    std::size_t position = 0;
    return next_code_point(text, position);
}

bool in_categories(CodePoint code_point, utf8proc_category_t first, utf8proc_category_t last) {
    const utf8proc_category_t category = utf8proc_category(code_point);
    return first <= category && category <= last;
}

bool is_mark(CodePoint c) { return in_categories(c, UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_ME); }
bool is_control(CodePoint c) { return utf8proc_category(c) == UTF8PROC_CATEGORY_CC; }
bool is_format(CodePoint c) { return utf8proc_category(c) == UTF8PROC_CATEGORY_CF; }

/// Unicode's White_Space property: the separators, tab to carriage return, and next line.
bool is_space(CodePoint c) {
    return in_categories(c, UTF8PROC_CATEGORY_ZS, UTF8PROC_CATEGORY_ZP) || (c >= 0x09 && c <= 0x0D) ||
           c == 0x85;
}

bool is_all_space(std::string_view text) {
    for (std::size_t position = 0; position < text.size();) {
        if (!is_space(next_code_point(text, position))) return false;
    }
    return true;
}

/// A cluster has the category of its base: marks, joiners and selectors follow it.
bool starts_with_letter(std::string_view cluster) {
    return is_letter(static_cast<char32_t>(first_code_point(cluster)));
}

bool belongs_to_word(std::string_view cluster) {
    const CodePoint base = first_code_point(cluster);
    const auto code = static_cast<char32_t>(base);
    return is_letter(code) || is_mark(base) || is_digit(code);
}

/// Apostrophe, right single quotation mark, hyphen-minus, hyphen.
bool joins_letters(std::string_view cluster) {
    static constexpr std::array<std::string_view, 4> k_joiners{"'", "\u2019", "-", "\u2010"};
    return std::ranges::find(k_joiners, cluster) != k_joiners.end();
}

/// How many clusters, starting at `first`, which belongs to a word, form the word.
std::size_t word_length(std::span<const std::string_view> clusters, std::size_t first) {
    const auto goes_on = [&](std::size_t i) {
        if (belongs_to_word(clusters[i])) return true;
        return joins_letters(clusters[i]) && i + 1 < clusters.size() && starts_with_letter(clusters[i - 1]) &&
               starts_with_letter(clusters[i + 1]);
    };
    std::size_t end = first + 1;
    while (end < clusters.size() && goes_on(end)) ++end;
    return end - first;
}

std::vector<std::string> split_words(std::string_view nfc) {
    const std::vector<std::string_view> clusters = graphemes(nfc);
    std::vector<std::string> tokens;
    for (std::size_t i = 0; i < clusters.size();) {
        const std::size_t length = belongs_to_word(clusters[i]) ? word_length(clusters, i) : 1;
        const std::string_view last = clusters[i + length - 1];
        const std::string_view token(clusters[i].data(), last.data() + last.size());
        if (!is_all_space(token)) tokens.emplace_back(token);
        i += length;
    }
    return tokens;
}

std::vector<std::string> split_whitespace(std::string_view nfc) {
    std::vector<std::string> tokens;
    bool inside = false;
    for (std::size_t position = 0; position < nfc.size();) {
        const std::size_t start = position;
        const bool space = is_space(next_code_point(nfc, position));
        if (!space && !inside) tokens.emplace_back();
        if (!space) tokens.back() += nfc.substr(start, position - start);
        inside = !space;
    }
    return tokens;
}

std::vector<std::string> split_characters(std::string_view nfc) {
    const std::vector<std::string_view> clusters = graphemes(nfc);
    return {clusters.begin(), clusters.end()};
}

bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

/// Unicode normalization form C of a part of a text of so many bytes, after the transformations in `options`,
/// by utf8proc.
std::string mapped(std::string_view text, int options, std::size_t all_bytes) {
    utf8proc_uint8_t* result = nullptr;
    const auto all_options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | options);
    const auto length =
        utf8proc_map(bytes(text), static_cast<utf8proc_ssize_t>(text.size()), &result, all_options);
    const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(result, &std::free);
    if (length < 0) {
        throw Error(ErrorKind::too_large,
                    fmt::format("a text of {} bytes cannot be normalized ({}): use a shorter one", all_bytes,
                                utf8proc_errmsg(length)));
    }
    return {reinterpret_cast<const char*>(result), static_cast<std::size_t>(length)};
}

/// Normalizes like mapped(), without looking ASCII up: its capitals change by case folding alone. None of its
/// characters composes with what precedes it; the last one before others may with what follows, and goes with
/// them.
std::string composed(std::string_view text, int options) {
    require_utf8(text);
    std::string result;
    result.reserve(text.size());
    for (auto at = text.begin(); at != text.end();) {
        const auto other = std::find_if_not(at, text.end(), is_ascii);
        const auto end = other == text.end() || other == at ? other : std::prev(other);
        std::transform(at, end, std::back_inserter(result), [options](char c) {
            const bool is_capital = c >= 'A' && c <= 'Z';
            return is_capital && (options & UTF8PROC_CASEFOLD) ? static_cast<char>(c - 'A' + 'a') : c;
        });
        at = std::find_if(other, text.end(), is_ascii);
        if (end != at) result += mapped({end, at}, options, text.size());
    }
    return result;
}

constexpr std::array<Tokenizer, 3> k_tokenizers{{
    {TokenizerKind::words, "words, and every other character on its own", split_words, "into words"},
    {TokenizerKind::whitespace, "pieces separated by white space", split_whitespace, "at spaces"},
    {TokenizerKind::characters, "every character, including spaces", split_characters, "into characters",
     true},
}};
static_assert(is_table_of<TokenizerKind>(k_tokenizers));

}  // namespace

std::span<const Tokenizer> tokenizers() { return k_tokenizers; }

const Tokenizer& tokenizer_of(TokenizerKind choice) { return k_tokenizers[static_cast<std::size_t>(choice)]; }

const Tokenizer& list_tokenizer_of(TokenizerKind choice) {
    return tokenizer_of(tokenizer_of(choice).keeps_spaces ? choice : TokenizerKind::whitespace);
}

std::vector<std::string> tokenize(std::string_view text, const Tokenizer& tokenizer) {
    return tokenizer.split(to_nfc(text));
}

bool has_tokens(std::string_view text, const Tokenizer& tokenizer) {
    return tokenizer.keeps_spaces ? !text.empty() : !is_all_space(text);
}

void require_utf8(std::string_view text) {
    for (std::size_t position = 0; position < text.size();) next_code_point(text, position);
}

std::string to_nfc(std::string_view text) { return composed(text, 0); }

std::string fold(std::string_view token) { return composed(token, UTF8PROC_CASEFOLD); }

std::vector<std::string_view> graphemes(std::string_view text) {
    std::vector<std::string_view> clusters;
    utf8proc_int32_t state = 0;
    CodePoint previous = 0;
    std::size_t start = 0;
    for (std::size_t position = 0; position < text.size();) {
        const std::size_t here = position;
        const CodePoint current = next_code_point(text, position);
        // What came before two characters of ASCII does not matter, and only \r\n stay together.
        const bool is_plain = previous < 0x80 && current < 0x80 && previous != '\r';
        if (is_plain) state = 0;
        if (here > 0 && (is_plain || utf8proc_grapheme_break_stateful(previous, current, &state))) {
            clusters.push_back(text.substr(start, here - start));
            start = here;
        }
        previous = current;
    }
    if (start < text.size()) clusters.push_back(text.substr(start));
    return clusters;
}

std::string code_point_name(char32_t code_point) {
    return fmt::format("U+{:04X}", static_cast<unsigned>(code_point));
}

std::string display_token(std::string_view token) {
    std::string shown;
    for (std::size_t position = 0; position < token.size();) {
        const std::size_t start = position;
        const CodePoint c = next_code_point(token, position);
        const std::string_view itself = token.substr(start, position - start);
        const bool lone_format = is_format(c) && itself == token;
        if (is_control(c) || lone_format) {
            shown += code_point_name(c);
        } else {
            shown += is_space(c) ? std::string_view("␣") : itself;
        }
    }
    return shown;
}

}  // namespace attnscope
