#include "app/cli/validators.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "core/error.h"

namespace attnscope {

std::string quoted(const std::string& word) { return "\"" + message_text(word, k_longest_quotation) + "\""; }

CLI::Validator one_of(std::vector<std::string> names) {
    const auto check = [names = std::move(names)](const std::string& text) -> std::string {
        if (std::ranges::find(names, text) != names.end()) return "";
        return fmt::format("{} is not known: use {}", quoted(text), fmt::join(names, ", "));
    };
    return CLI::Validator(check, "");
}

CLI::Validator whole_number(int least, int most) {
    const auto check = [least, most](const std::string& text) -> std::string {
        long long number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        const bool is_whole = error != std::errc::invalid_argument && end == text.data() + text.size();
        if (!is_whole) return "expected a whole number, not " + quoted(text);
        if (error == std::errc() && number >= least && number <= most) return "";
        return fmt::format("{} is out of range: use {} to {}", text, least, most);
    };
    return CLI::Validator(check, "");
}

CLI::Validator not_empty(std::string what_to_do) {
    const auto check = [what = std::move(what_to_do)](const std::string& text) {
        return text.empty() ? what : std::string();
    };
    return CLI::Validator(check, "");
}

}  // namespace attnscope
