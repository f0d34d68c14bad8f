#include "app/actions/find_text.h"

#include <fmt/format.h>

#include <string>

#include "app/document/find_tokens.h"

namespace attnscope {
std::vector<SearchEntry> find_text(const ActionContext& context, std::string_view text, std::size_t most) {
    std::vector<SearchEntry> entries;
    const std::shared_ptr<const Trace> trace = context.document.trace();
    if (!trace) return entries;
    for (const PointedToken& token : find_tokens(*trace, context.document.presentation(), text, most)) {
        const std::vector<std::string>& tokens = token.of_keys ? trace->columns : trace->rows;
        entries.push_back({words_around(tokens, token.token),
                           fmt::format("{} {}", token.of_keys ? "key" : "token", token.token + 1), "",
                           [token, text = std::string(text)](ActionContext& c) {
                               c.interaction.found_text = text;
                               go_to_token(c.document, c.interaction, token);
                           }});
    }
    return entries;
}

void find_again(ActionContext& context, int direction) {
    const std::string text = context.interaction.found_text;
    if (text.empty()) return context.interaction.open(Dialog::find);
    const Trace& trace = *context.document.trace();
    // All of them: the previous one is the last before the locked one.
    const std::vector<PointedToken> found =
        find_tokens(trace, context.document.presentation(), text, direction > 0 ? 1 : k_max_long_tokens);
    if (found.empty()) {
        context.interaction.notice = {fmt::format("“{}” does not occur in the text", text), true};
        return;
    }
    // The last one found is the locked one itself, if that is one.
    const bool is_at_last =
        found.back().token == locked_token(trace, context.document.presentation(), found.back().of_keys);
    const std::size_t back = is_at_last && found.size() > 1 ? 2 : 1;
    go_to_token(context.document, context.interaction,
                direction > 0 ? found.front() : found[found.size() - back]);
}

}  // namespace attnscope
