// What this process may still take of the machine's memory.
#pragma once

#include <cstddef>
#include <filesystem>

namespace attnscope {

/// Bytes that this process may still take: what the machine has available, and the limits of the control
/// group and of the process (ulimit -v).
std::size_t available_memory();

/// What is left to the process's control group (version 1 or 2) and to each group around it, of which any may
/// have a limit; the largest number if none has. `root` stands for "/".
std::size_t control_group_memory(const std::filesystem::path& root = "/");

}  // namespace attnscope
