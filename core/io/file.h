// Whole files, read and written.
#pragma once

#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/io/file_calls.h"
#include "core/limits.h"

namespace attnscope {

/// All bytes of a file, a pipe or a device; "-" is standard input. Throws Error(io) naming the path, what
/// failed and what to do; Error(too_large), before it takes the memory, for more than `most` bytes.
std::string read_file(const std::string& path, std::size_t most = k_max_file_bytes);

/// What a message calls the file: "standard input" for "-".
std::string source_name(const std::string& path);

/// What `read`, given the bytes of a file and its name for messages, makes of them. Throws Error(too_large)
/// naming the file where the memory does not suffice, and what read_file and `read` throw.
template <typename Read>
auto opened(const std::string& path, const Read& read, std::size_t most = k_max_file_bytes) {
    const std::string source = source_name(path);
    const auto no_memory = [&] {
        return Error(ErrorKind::too_large,
                     source + " does not fit into the memory: close other programs or use a smaller file");
    };
    try {
        return read(read_file(path, most), source);
    } catch (const std::bad_alloc&) {
        throw no_memory();
    } catch (const std::length_error&) {
        throw no_memory();
    }
}

/// Writes `bytes` as the whole content of `path`; "-" is standard output. The file is complete or absent, and
/// an existing one is replaced, keeping its permissions, only when the new one is whole and on the disk; a
/// link stays one. What is no regular file (/dev/null, a pipe) is written to directly, where a signal that is
/// caught without SA_RESTART ends the waiting. A link that somebody else has put into a folder that all may
/// write to is refused, as Linux does (fs.protected_symlinks). Throws Error(io) naming the path, what failed
/// and what to do; no other file is left behind.
void write_file(const std::string& path, std::string_view bytes, const FileCalls& calls = {});

/// Removes from a folder what write_file could not: temporary files of processes that were killed more than
/// an hour ago. Any other file stays. Never throws.
void clear_abandoned_files(const std::string& folder) noexcept;

}  // namespace attnscope
