#include "core/learn/unknown_words.h"

#include <algorithm>

#include "core/learn/training_run.h"
#include "core/mechanism/mechanisms.h"
#include "core/text/tokenizer.h"

namespace attnscope {

std::vector<TextPart> unknown_words(const Experiment& e, bool in_second) {
    const bool has_own_table = in_second && mechanism_of(e).second.has_own_table;
    const std::string& words = has_own_table ? e.input.words2 : e.input.words;
    std::vector<TextPart> unknown;
    if (!can_be_trained(e) || words.empty()) return unknown;
    std::vector<std::string> known = tokenize(words, list_tokenizer_of(e.input.tokenizer));
    for (std::string& word : known) word = fold(word);
    const std::string& text = in_second ? e.input.text2 : e.input.text;
    std::size_t at = 0;
    for (const std::string& token : tokenize(text, tokenizer_of(e.input.tokenizer))) {
        const std::size_t found = text.find(token, at);
        if (found == text.npos) continue;  // normalized by the tokenizer
        at = found + token.size();
        if (std::ranges::find(known, fold(token)) == known.end()) unknown.push_back({found, at});
    }
    return unknown;
}

}  // namespace attnscope
