// What this process may still take of the machine's memory.
#pragma once

#include <cstddef>

namespace attnscope {

/// Bytes that this process may still take: what the machine has available, and the limits of the control
/// group and of the process (ulimit -v).
std::size_t available_memory();

}  // namespace attnscope
