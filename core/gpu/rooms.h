// Room for tensors in the card's memory: allocated once and used again by the next trace.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "core/gpu/gl.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Room for a tensor in the card's memory, uninitialized.
struct GpuRoom {
    std::shared_ptr<gl::Storage> storage;
    std::size_t first = 0;    ///< where in the storage the tensor starts
    std::size_t numbers = 0;  ///< of the tensor
    std::size_t reach = 0;    ///< numbers of the storage after its part of the tensor that a shader may see
};

/// heads × rows × columns in a storage buffer, row-major, one head after the other, starting at `first`.
struct GpuMatrices {
    gl::Storage* storage = nullptr;
    std::size_t first = 0;
    Shape shape;
    std::size_t reach = 0;  ///< see GpuRoom
};

inline GpuMatrices matrices_in(const GpuRoom& room, const Shape& shape) {
    return {room.storage.get(), room.first, shape, room.reach};
}

/// Allocates room for a tensor of so many numbers. Called on the device's thread. Throws Error(too_large) if
/// the card's memory does not suffice.
using GpuAllocator = std::function<GpuRoom(std::size_t numbers)>;

/// A storage of exactly that size, in which a shader sees nothing after its part of the tensor.
GpuRoom exact_room(std::size_t numbers);

/// Keeps what is given back for the next tensor of the same size, never more bytes than are in use (or 16 MiB
/// if that is more), and not so many that more is allocated than was once in use, which is two traces. For
/// the device's thread only.
class GpuRooms {
public:
    explicit GpuRooms(GpuAllocator allocate) : allocate_(std::move(allocate)) {}

    /// Whether take() allocates nothing.
    bool has(std::size_t numbers) const;
    /// Throws Error(too_large) if the card's memory does not suffice, even without what is kept.
    GpuRoom take(std::size_t numbers);
    void give_back(GpuRoom room);
    /// Bytes that are allocated and not in use.
    std::size_t kept_bytes() const { return kept_bytes_; }

private:
    std::deque<GpuRoom>::const_iterator find(std::size_t numbers) const;
    void free_oldest();

    GpuAllocator allocate_;
    std::deque<GpuRoom> kept_;  ///< the oldest first
    std::size_t kept_bytes_ = 0, used_bytes_ = 0;
    std::size_t most_used_bytes_ = 0;  ///< until now
};

/// A tensor that an operation on the device's thread needs for a while.
class GpuScratch {
public:
    GpuScratch(GpuRooms& rooms, const Shape& shape)
        : rooms_(rooms), shape_(shape), room_(rooms.take(shape.size())) {}
    ~GpuScratch() { rooms_.give_back(std::move(room_)); }
    GpuScratch(const GpuScratch&) = delete;
    GpuScratch& operator=(const GpuScratch&) = delete;

    GpuMatrices matrices() const { return matrices_in(room_, shape_); }
    /// The whole tensor; waits for the commands that compute it.
    void read(std::span<float> numbers) const { room_.storage->read(room_.first, numbers); }

private:
    GpuRooms& rooms_;
    Shape shape_;
    GpuRoom room_;
};

}  // namespace attnscope
