// Finding words among the tokens of the text, and going to one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/document/document.h"
#include "app/document/interaction.h"

namespace attnscope {

/// The tokens where `text` stands, cut by the experiment's tokenizer: each of its words folds to the word of
/// a token, in a row, and the last may be the beginning of one. They begin after the locked token and go
/// around; at most `most`. "#12" is the 12th token. An empty text finds none.
std::vector<PointedToken> find_tokens(const Trace& trace, const Presentation& presentation,
                                      std::string_view text, std::size_t most);

/// A token with some words before and after it: "… the white whale swam …".
std::string words_around(const std::vector<std::string>& tokens, int token);

/// The query or the key of the locked cell; −1 if no cell is locked.
int locked_token(const Trace& trace, const Presentation& presentation, bool of_keys);

/// Locks the cell that a token stands for (cell_of_token) and brings it into sight; the stage in focus stays.
void go_to_token(Document& document, Interaction& state, const PointedToken& token);

}  // namespace attnscope
