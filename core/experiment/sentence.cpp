#include "core/experiment/sentence.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/limits.h"
#include "core/text/tokenizer.h"

namespace attnscope {

std::vector<std::string> sentence_tokens(const Experiment& experiment, const std::string& text,
                                         const char* which, const char* flag) {
    std::vector<std::string> tokens = tokenize(text, tokenizer_of(experiment.input.tokenizer));
    if (tokens.empty())
        throw Error(ErrorKind::bad_input,
                    std::string(which) + " has no tokens: type at least one word (" + flag + " \"…\")");
    const int most = mechanism_rule(experiment.mechanism).most_tokens;
    if (tokens.size() > static_cast<std::size_t>(most))
        throw Error(ErrorKind::too_large, fmt::format("{} has {} tokens and the limit is {}: shorten it",
                                                      which, tokens.size(), most));
    for (const std::string& token : tokens)
        if (token.size() > k_max_token_bytes)
            throw Error(
                ErrorKind::too_large,
                fmt::format("{} has a token of {} bytes and the limit is {}: shorten it ({})", which,
                            token.size(), k_max_token_bytes, message_text(token, k_longest_quotation)));
    return tokens;
}

Vocabulary sentence_vocabulary(const Experiment& experiment, const std::string& words,
                               const std::vector<std::string>& tokens) {
    const std::vector<std::string> listed = tokenize(words, list_tokenizer_of(experiment.input.tokenizer));
    if (listed.empty()) return make_vocabulary(tokens, vocabulary_rule(experiment.input.vocabulary));
    Vocabulary vocabulary = make_vocabulary(listed, vocabulary_rule(VocabularyOrder::appearance));
    vocabulary.ids.clear();
    for (const std::string& token : tokens) {
        const auto found = std::ranges::find(vocabulary.words, fold(token));
        if (found == vocabulary.words.end())
            throw Error(ErrorKind::bad_input,
                        fmt::format("\"{}\" is not one of the table's words: use {} … (words)",
                                    message_text(token, k_longest_quotation),
                                    message_text(words, k_longest_quotation)));
        vocabulary.ids.push_back(static_cast<int>(found - vocabulary.words.begin()));
    }
    return vocabulary;
}

std::vector<std::string> display_tokens(const std::vector<std::string>& tokens) {
    std::vector<std::string> labels;
    for (const std::string& token : tokens) labels.push_back(display_token(token));
    return labels;
}

void require_context_length(int tokens, int context_length) {
    if (tokens > context_length)
        throw Error(ErrorKind::bad_input,
                    fmt::format("there are {} tokens, but context-length is {}: raise it, or choose another "
                                "position",
                                tokens, context_length));
}

}  // namespace attnscope
