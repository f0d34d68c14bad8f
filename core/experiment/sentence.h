// Cuts a sentence of the experiment into tokens.
#pragma once

#include <string>
#include <vector>

#include "core/experiment/experiment.h"

namespace attnscope {

/// The tokens of `text`, cut by the experiment's tokenizer. Throws Error(bad_input) "`which` has no tokens: …
/// (`flag` "…")", and Error(too_large) for more tokens than MechanismRule::most_tokens or a token of more
/// than k_max_token_bytes.
std::vector<std::string> sentence_tokens(const Experiment& experiment, const std::string& text,
                                         const char* which, const char* flag);
/// Throws Error(bad_input) if a sentence of so many tokens is longer than the learned positions.
void require_context_length(int tokens, int context_length);
/// The vocabulary of these tokens: the words that are set (Input::words), or where there are none those of
/// the tokens by the experiment's order. Throws Error(bad_input) for a token that is not one of the words.
Vocabulary sentence_vocabulary(const Experiment& experiment, const std::string& words,
                               const std::vector<std::string>& tokens);
/// The tokens as shown on screen.
std::vector<std::string> display_tokens(const std::vector<std::string>& tokens);

}  // namespace attnscope
