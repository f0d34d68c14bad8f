// Memory for the numbers of tensors.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace attnscope {

/// `count` uninitialized floats, the first aligned to 64 bytes. Blocks from 2 MiB on lie on huge pages where
/// the system has them. Those from 64 KiB on are blocks that free_floats() kept, if one has that size: a
/// trace is mostly computed into the memory of the one before the previous. Throws std::bad_alloc. Both may
/// be called from any thread.
float* allocate_floats(std::size_t count);
/// Frees what allocate_floats(count) returned, or keeps it: at most 256 MiB, the oldest go first.
void free_floats(float* floats, std::size_t count) noexcept;

/// The allocator of vectors as large as tensors: their memory is that of allocate_floats(), and elements that
/// are not given a value are not initialized.
template <typename T>
struct TensorAllocator {
    using value_type = T;
    static_assert(alignof(T) <= 64);

    TensorAllocator() = default;
    template <typename U>
    TensorAllocator(const TensorAllocator<U>&) {}

    T* allocate(std::size_t count) {
        return static_cast<T*>(static_cast<void*>(allocate_floats(floats(count))));
    }
    void deallocate(T* memory, std::size_t count) noexcept {
        free_floats(static_cast<float*>(static_cast<void*>(memory)), floats(count));
    }
    template <typename U>
    void construct(U* place) noexcept {
        ::new (static_cast<void*>(place)) U;
    }
    bool operator==(const TensorAllocator&) const = default;

private:
    static std::size_t floats(std::size_t count) { return (count * sizeof(T) - 1) / sizeof(float) + 1; }
};
template <typename T>
using LargeVector = std::vector<T, TensorAllocator<T>>;

}  // namespace attnscope
