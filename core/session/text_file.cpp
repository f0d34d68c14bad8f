#include "core/session/text_file.h"

#include <algorithm>

#include "core/error.h"
#include "core/files/file.h"
#include "core/limits.h"
#include "core/text/tokenizer.h"

namespace attnscope {

std::string read_text_file(const std::string& path) {
    const auto in_one_line = [](std::string text, const std::string& source) {
        try {
            require_utf8(text);
        } catch (const Error& error) {
            throw error.at(source);
        }
        std::ranges::replace(text, '\n', ' ');
        std::erase(text, '\r');
        return text;
    };
    return opened(path, in_one_line, k_max_text_bytes);
}

}  // namespace attnscope
