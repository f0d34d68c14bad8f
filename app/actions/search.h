// What the search finds: actions, settings and their values, stages, heads, examples, comparisons, questions.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/actions/actions.h"

namespace attnscope {

struct SearchEntry {
    std::string title;  ///< "Mask: causal"
    std::string kind;   ///< "setting", "stage", "example"; of an action its shortcut
    std::string help;   ///< one line; may be empty
    std::function<void(ActionContext&)> run;
};

/// Everything that can be reached now, in the order of the menus, the settings, the stages …
std::vector<SearchEntry> search_entries(const ActionContext& context);

/// The entries that match a text, the best first: every word of the text begins a word of the title or of a
/// synonym ("padding" for valid lengths), or stands in the help; then tokens of the text (find_text). An
/// empty text matches the actions.
std::vector<SearchEntry> search(const ActionContext& context, std::string_view text);

}  // namespace attnscope
