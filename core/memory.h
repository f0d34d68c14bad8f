// How much memory this process may still allocate, and what it keeps of what it freed.
#pragma once

#include <cstddef>
#include <filesystem>

namespace attnscope {

/// Bytes that this process may still allocate: what the machine has available, within the limits of the
/// control group and of the process (ulimit -v).
std::size_t available_memory();
/// Below this the machine is not asked how much is free, which takes longer than a small computation.
inline constexpr std::size_t k_worth_asking = std::size_t{16} << 20;

/// What the process's control group (version 1 or 2) and its ancestors, any of which may have a limit, leave;
/// the largest number if none has a limit. `root` stands for "/".
std::size_t control_group_memory(const std::filesystem::path& root = "/");

/// Keeps up to 64 MiB of what is freed, in blocks of up to 32 MiB, instead of handing it back: every
/// evaluation and every step of training frees what the next one allocates, and a page that is handed out
/// anew is filled with zeros first. Where the C library is not glibc, nothing changes.
void keep_freed_memory();

}  // namespace attnscope
