#include "app/actions/find_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

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
                               c.interaction.found_token = token;
                               go_to_token(c.document, c.interaction, token);
                           }});
    }
    return entries;
}

void find_again(ActionContext& context, int direction) {
    const std::string text = context.interaction.found_text;
    if (text.empty()) return context.interaction.open(Dialog::find);
    const Trace& trace = *context.document.trace();
    const Presentation& presentation = context.document.presentation();
    Presentation unlocked = presentation;
    unlocked.unlock();
    // In order, the queries before the keys.
    const std::vector<PointedToken> all =
        find_tokens(trace, unlocked, text, std::size_t{2} * k_max_long_tokens);
    if (all.empty()) {
        context.interaction.notice = {fmt::format("“{}” does not occur in the text", text), true};
        return;
    }
    const std::optional<PointedToken>& last = context.interaction.found_token;
    const bool is_there = last && locked_token(trace, presentation, last->of_keys) == last->token;
    const PointedToken from =
        is_there ? *last : PointedToken{locked_token(trace, presentation, false), false};
    const auto after = [&](const PointedToken& each) {
        return std::pair(each.of_keys, each.token) > std::pair(from.of_keys, from.token);
    };
    const auto count = std::ssize(all);
    const auto next = std::ranges::find_if(all, after) - all.begin();
    const bool stands_on_one = next > 0 && all[static_cast<std::size_t>(next - 1)] == from;
    const std::ptrdiff_t to = direction > 0 ? next : next - (stands_on_one ? 2 : 1);
    const PointedToken token = all[static_cast<std::size_t>((to + count) % count)];
    context.interaction.found_token = token;
    go_to_token(context.document, context.interaction, token);
}

}  // namespace attnscope
