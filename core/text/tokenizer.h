// Cuts a sentence into tokens.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/choice.h"

namespace attnscope {

enum class TokenizerKind { words, whitespace, characters };
constexpr auto choice_names(TokenizerKind) {
    using enum TokenizerKind;
    return std::to_array<ChoiceName<TokenizerKind>>(
        {{words, "words"}, {whitespace, "whitespace"}, {characters, "characters"}});
}

/// A rule that cuts NFC text into tokens.
struct Tokenizer {
    TokenizerKind choice;
    std::string_view summary;  ///< one line
    std::vector<std::string> (*split)(std::string_view nfc);
    std::string_view cut;       ///< how it cuts a text, in words: "at spaces"
    bool keeps_spaces = false;  ///< a space is a token, so that nothing parts the tokens of a list
};

/// In the order of the menus:
/// `words`       runs of letters, marks and digits are words; an apostrophe or hyphen between letters belongs
///               to the run; every other non-space grapheme cluster is a token of its own
/// `whitespace`  runs of anything but Unicode white space
/// `characters`  grapheme clusters (UAX #29), including spaces
std::span<const Tokenizer> tokenizers();
const Tokenizer& tokenizer_of(TokenizerKind choice);
/// Cuts a list of tokens that `choice` has found: itself if it keeps spaces, otherwise `whitespace`.
const Tokenizer& list_tokenizer_of(TokenizerKind choice);

/// The tokens of NFC(`text`), cut by `tokenizer`. Empty text gives no tokens.
/// Throws Error(bad_input) with the byte offset if `text` is not UTF-8.
std::vector<std::string> tokenize(std::string_view text, const Tokenizer& tokenizer);
/// Whether there are any: a long text is read up to its first one. Throws as tokenize, as far as it reads.
bool has_tokens(std::string_view text, const Tokenizer& tokenizer);

/// Throws Error(bad_input) "…not valid UTF-8 at byte N…" unless `text` is well-formed UTF-8.
void require_utf8(std::string_view text);
/// Unicode normalization form C. Throws as require_utf8, and Error(too_large) if the result does not fit.
std::string to_nfc(std::string_view text);
/// Full Unicode case folding, then NFC: "CAN" and "can" become one word.
std::string fold(std::string_view token);
/// Grapheme clusters of valid UTF-8, in order, covering all of it.
std::vector<std::string_view> graphemes(std::string_view text);
/// A token as shown on screen: as it is, except a space as "␣", and a control character, or a token that is a
/// single format character such as a change of writing direction, as its code point "U+000A".
std::string display_token(std::string_view token);
/// "U+000A".
std::string code_point_name(char32_t code_point);

}  // namespace attnscope
