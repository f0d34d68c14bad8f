// Cuts a sentence of the experiment into tokens.
#pragma once

#include <string>
#include <vector>

#include "core/experiment/experiment.h"

namespace attnscope {

/// The tokens of `text`, cut by the experiment's tokenizer. Throws Error(bad_input) "`which` has no tokens: …
/// (`flag` "…")", and Error(too_large) for more than k_max_tokens tokens or a token of more than
/// k_max_token_bytes.
std::vector<std::string> sentence_tokens(const Experiment& experiment, const std::string& text,
                                         const char* which, const char* flag);
/// The tokens as shown on screen.
std::vector<std::string> display_tokens(const std::vector<std::string>& tokens);

}  // namespace attnscope
