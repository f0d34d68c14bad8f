#include "core/session/text_file.h"

#include <string_view>

#include "core/error.h"
#include "core/files/file.h"
#include "core/limits.h"
#include "core/text/tokenizer.h"

namespace attnscope {
namespace {

std::string in_one_line(std::string_view text) {
    constexpr std::string_view k_byte_order_mark = "\xEF\xBB\xBF";
    if (text.starts_with(k_byte_order_mark)) text.remove_prefix(k_byte_order_mark.size());
    std::string line;
    line.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text.substr(i, 2) == "\r\n") continue;
        line += text[i] == '\n' || text[i] == '\r' ? ' ' : text[i];
    }
    return line;
}

}  // namespace

std::string read_text_file(const std::string& path) {
    const auto as_sentence = [](const std::string& text, const std::string& source) {
        try {
            require_utf8(text);
        } catch (const Error& error) {
            throw error.at(source);
        }
        return in_one_line(text);
    };
    return opened(path, as_sentence, k_max_text_bytes);
}

}  // namespace attnscope
