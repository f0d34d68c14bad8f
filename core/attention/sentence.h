// A sentence of the experiment as tokens.
#pragma once

#include <string>
#include <vector>

#include "core/attention/experiment.h"

namespace attnscope {

/// The tokens of `text` by the experiment's tokenizer. Throws Error(bad_input) "`which` has no tokens: …
/// (`flag` "…")", and Error(too_large) beyond k_max_tokens, and for a token beyond k_max_token_bytes.
std::vector<std::string> sentence_tokens(const Experiment& experiment, const std::string& text,
                                         const char* which, const char* flag);
/// Each as it is shown.
std::vector<std::string> display_tokens(const std::vector<std::string>& tokens);

}  // namespace attnscope
