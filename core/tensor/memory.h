// Memory for the numbers of tensors.
#pragma once

#include <cstddef>

namespace attnscope {

/// `count` uninitialized floats, the first aligned to 64 bytes. Blocks from 2 MiB on lie on huge pages where
/// the system has them. Those from 64 KiB on are blocks that free_floats() kept, if one has that size: a
/// trace is mostly computed into the memory of the one before the previous. Throws std::bad_alloc. Both may
/// be called from any thread.
float* allocate_floats(std::size_t count);
/// Frees what allocate_floats(count) returned, or keeps it: at most 256 MiB, the oldest go first.
void free_floats(float* floats, std::size_t count) noexcept;

}  // namespace attnscope
