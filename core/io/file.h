// Whole files, read and written.
#pragma once

#include <string>
#include <string_view>

namespace attnscope {

/// All bytes of a file; "-" is standard input. Throws Error(io) naming the path, what failed and what to do.
std::string read_file(const std::string& path);

/// Writes `bytes` as the whole content of `path`; "-" is standard output. The file is complete or absent, and
/// an existing one is replaced, keeping its permissions, only when the new one is whole and on the disk; a
/// link stays one. What is no regular file (/dev/null, a pipe) is written to directly. Throws Error(io)
/// naming the path, what failed and what to do; no other file is left behind.
void write_file(const std::string& path, std::string_view bytes);

}  // namespace attnscope
