// What "Find in the text" finds, and its next and previous places.
#pragma once

#include <string_view>
#include <vector>

#include "app/actions/search.h"

namespace attnscope {

/// The tokens that find_tokens() finds, each with the words around it; one goes to its token.
std::vector<SearchEntry> find_text(const ActionContext& context, std::string_view text, std::size_t most);

/// Goes to the next (1) or previous (−1) place of what was found last. Without one, opens the dialog.
void find_again(ActionContext& context, int direction);

}  // namespace attnscope
