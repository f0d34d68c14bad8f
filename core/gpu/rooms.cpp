#include "core/gpu/rooms.h"

#include <algorithm>
#include <iterator>

#include "core/error.h"

namespace attnscope {
namespace {

constexpr std::size_t k_always_kept = std::size_t{16} << 20;  ///< bytes

std::size_t bytes_of(const GpuRoom& room) { return room.numbers * sizeof(float); }

}  // namespace

GpuRoom exact_room(std::size_t numbers) {
    return {.storage = std::make_shared<gl::Storage>(numbers), .numbers = numbers};
}

/// The one given back last.
std::deque<GpuRoom>::const_iterator GpuRooms::find(std::size_t numbers) const {
    const auto found = std::find_if(kept_.rbegin(), kept_.rend(),
                                    [&](const GpuRoom& room) { return room.numbers == numbers; });
    return found == kept_.rend() ? kept_.end() : std::prev(found.base());
}

bool GpuRooms::has(std::size_t numbers) const { return find(numbers) != kept_.end(); }

GpuRoom GpuRooms::take(std::size_t numbers) {
    GpuRoom room;
    if (const auto found = find(numbers); found != kept_.end()) {
        room = *found;
        kept_.erase(found);
        kept_bytes_ -= bytes_of(room);
    } else {
        const std::size_t needed = used_bytes_ + numbers * sizeof(float);
        while (!kept_.empty() && needed + kept_bytes_ > std::max(most_used_bytes_, k_always_kept))
            free_oldest();
        try {
            room = allocate_(numbers);
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::too_large || kept_.empty()) throw;
            while (!kept_.empty()) free_oldest();
            room = allocate_(numbers);
        }
    }
    used_bytes_ += bytes_of(room);
    most_used_bytes_ = std::max(most_used_bytes_, used_bytes_);
    return room;
}

void GpuRooms::give_back(GpuRoom room) {
    used_bytes_ -= bytes_of(room);
    kept_bytes_ += bytes_of(room);
    kept_.push_back(std::move(room));
    while (kept_bytes_ > std::max(used_bytes_, k_always_kept)) free_oldest();
}

void GpuRooms::free_oldest() {
    kept_bytes_ -= bytes_of(kept_.front());
    kept_.pop_front();
}

}  // namespace attnscope
