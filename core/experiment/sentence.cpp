#include "core/experiment/sentence.h"

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
    if (tokens.size() > static_cast<std::size_t>(k_max_tokens))
        throw Error(ErrorKind::too_large, std::string(which) + " has " + std::to_string(tokens.size()) +
                                              " tokens and the limit is " + std::to_string(k_max_tokens) +
                                              ": shorten it");
    for (const std::string& token : tokens)
        if (token.size() > k_max_token_bytes)
            throw Error(ErrorKind::too_large, std::string(which) + " has a token of " +
                                                  std::to_string(token.size()) + " bytes and the limit is " +
                                                  std::to_string(k_max_token_bytes) + ": shorten it (" +
                                                  message_text(token, k_longest_quotation) + ")");
    return tokens;
}

std::vector<std::string> display_tokens(const std::vector<std::string>& tokens) {
    std::vector<std::string> labels;
    for (const std::string& token : tokens) labels.push_back(display_token(token));
    return labels;
}

}  // namespace attnscope
