#include "core/picture/head_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/utf8.h"

namespace attnscope {
namespace {

constexpr std::size_t k_longest_name = 60;  ///< bytes

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
    return first == text.npos ? std::string_view() : text.substr(first, last + 1 - first);
}

}  // namespace

std::string head_name(const Presentation& presentation, int heads, int layer, int head) {
    std::string_view rest = presentation.head_names;
    for (int before = std::max(0, layer - 1) * heads + head; before > 0; --before) {
        const std::size_t end = rest.find(';');
        if (end == rest.npos) return "";
        rest.remove_prefix(end + 1);
    }
    const std::string_view name = trimmed(rest.substr(0, rest.find(';')));
    return std::string(name.substr(0, code_point_begin(name, k_longest_name)));
}

std::string head_title(const Presentation& presentation, int heads, int layer, int head) {
    const std::string name = head_name(presentation, heads, layer, head);
    return fmt::format("head {}{}{}", head + 1, name.empty() ? "" : ": ", name);
}

}  // namespace attnscope
