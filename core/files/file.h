// Reading and writing whole files.
#pragma once

#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/files/byte_sink.h"
#include "core/files/file_calls.h"
#include "core/limits.h"

namespace attnscope {

/// Called with the first k_file_start_bytes of a larger file and its name for messages; throws if no format
/// starts so.
using CheckStart = std::function<void(std::string_view start, const std::string& source)>;

/// All bytes of a file, a pipe or a device; "-" is standard input. Throws Error(io) naming the path, what
/// failed and what to do; Error(too_large) for more than `most` bytes, never holding more than `most`;
/// and what `check_start` throws, before the rest is read.
std::string read_file(const std::string& path, std::size_t most = k_max_file_bytes,
                      const CheckStart& check_start = {});

/// What went wrong with a file or folder and what to do, for a value of errno: "no such file or folder: check
/// the path".
std::string file_advice(int error);

/// The file's name in messages: "standard input" for "-".
std::string source_name(const std::string& path);

/// The result of `read`, called with the bytes of a file and its name for messages. Throws Error(too_large)
/// naming the file if memory does not suffice, and whatever read_file and `read` throw.
template <typename Read>
auto opened(const std::string& path, const Read& read, std::size_t most = k_max_file_bytes,
            const CheckStart& check_start = {}) {
    const std::string source = source_name(path);
    const auto no_memory = [&] {
        return Error(ErrorKind::too_large,
                     source + " does not fit into memory: close other programs or use a smaller file");
    };
    try {
        return read(read_file(path, most, check_start), source);
    } catch (const std::bad_alloc&) {
        throw no_memory();
    } catch (const std::length_error&) {
        throw no_memory();
    }
}

/// Asked about every 50 ms while a pipe has no reader, or one that reads nothing; false ends the wait.
using MayWait = std::function<bool()>;

/// Writes what `bytes` makes as the whole content of `path`; "-" is standard output. The file is complete or
/// absent: an existing one is replaced, keeping its permissions, only once the new one is complete and on the
/// disk; a link remains a link. Until then the bytes are in a file beside it, and about a mebibyte of them
/// waits in memory, besides what the source passes at once. Anything but a regular file (/dev/null, a pipe)
/// is written to directly, as bytes are made, so that an error leaves a part with its reader, and a signal
/// caught without SA_RESTART ends the wait. A link of another user in a folder that all may write to is
/// refused, as by Linux's fs.protected_symlinks. Throws Error(io) naming the path, what failed and what to
/// do, before any byte is made if the place cannot be written to; no other file is left behind. Throws
/// Canceled when `may_wait` ends a wait (empty: it never does), and what `bytes` throws.
void write_file(const std::string& path, const ByteSource& bytes, const MayWait& may_wait = {},
                const FileCalls& calls = {});
/// Writes `bytes`, as above.
void write_file(const std::string& path, std::string_view bytes, const MayWait& may_wait,
                const FileCalls& calls = {});
inline void write_file(const std::string& path, std::string_view bytes, const FileCalls& calls = {}) {
    write_file(path, bytes, MayWait(), calls);
}

/// Removes from a folder the temporary files that write_file() could not remove: those of processes that no
/// longer run, not written to for an hour, as another machine may write to the folder, too. Any other file is
/// kept. Never throws.
void clear_abandoned_files(const std::string& folder) noexcept;

}  // namespace attnscope
