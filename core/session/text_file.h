// A text file as a sentence.
#pragma once

#include <string>

namespace attnscope {

/// The text of a file in one line, its line breaks as spaces and without a byte order mark; "-" is standard
/// input. Throws Error(bad_input) naming the file unless it is UTF-8, and as read_file() for more than
/// k_max_text_bytes.
std::string read_text_file(const std::string& path);

}  // namespace attnscope
