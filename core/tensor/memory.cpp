#include "core/tensor/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <new>

namespace attnscope {
namespace {

constexpr std::size_t k_huge_page = std::size_t{2} << 20, k_page = std::size_t{4} << 10;
/// Smaller blocks are left to the system, which keeps some itself.
constexpr std::size_t k_least_kept = std::size_t{64} << 10;

// Under the address sanitizer nothing is kept, so that it detects uses of freed memory.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t k_most_kept = 0;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr std::size_t k_most_kept = 0;
#else
constexpr std::size_t k_most_kept = std::size_t{256} << 20;
#endif
#else
constexpr std::size_t k_most_kept = std::size_t{256} << 20;
#endif

std::size_t bytes_of(std::size_t count) { return count * sizeof(float) + 1; }
bool is_kept(std::size_t bytes) { return bytes >= k_least_kept; }
bool is_huge(std::size_t bytes) { return bytes >= k_huge_page; }
std::size_t whole_pages(std::size_t bytes) {
    const std::size_t page = is_huge(bytes) ? k_huge_page : k_page;
    return (bytes + page - 1) / page * page;
}
std::align_val_t alignment(std::size_t bytes) { return std::align_val_t{is_huge(bytes) ? k_huge_page : 64}; }

struct Block {
    void* memory;
    std::size_t bytes;
};

/// Blocks that were freed, the oldest first.
class KeptBlocks {
public:
    /// nullptr if there is none of this size.
    void* take(std::size_t bytes) {
        const std::lock_guard lock(mutex_);
        const auto newest = std::find_if(blocks_.rbegin(), blocks_.rend(),
                                         [&](const Block& block) { return block.bytes == bytes; });
        if (newest == blocks_.rend()) return nullptr;
        void* const memory = newest->memory;
        bytes_ -= bytes;
        blocks_.erase(std::next(newest).base());
        return memory;
    }
    void keep(Block block) {
        const std::lock_guard lock(mutex_);
        blocks_.push_back(block);
        bytes_ += block.bytes;
        while (bytes_ > k_most_kept) {
            bytes_ -= blocks_.front().bytes;
            ::operator delete(blocks_.front().memory, alignment(blocks_.front().bytes));
            blocks_.pop_front();
        }
    }

private:
    std::mutex mutex_;
    std::deque<Block> blocks_;
    std::size_t bytes_ = 0;
};

/// Never destroyed: tensors may be freed while the process ends.
KeptBlocks& kept() {
    static KeptBlocks& blocks = *new KeptBlocks;
    return blocks;
}

}  // namespace

float* allocate_floats(std::size_t count) {
    std::size_t bytes = bytes_of(count);
    if (is_kept(bytes)) {
        bytes = whole_pages(bytes);
        if (void* const again = kept().take(bytes)) return static_cast<float*>(again);
    }
    void* const memory = ::operator new(bytes, alignment(bytes));
#ifdef MADV_HUGEPAGE
    if (is_huge(bytes)) madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: nothing depends on it
#endif
    return static_cast<float*>(memory);
}

void free_floats(float* floats, std::size_t count) noexcept {
    const std::size_t bytes = bytes_of(count);
    if (is_kept(bytes))
        kept().keep({floats, whole_pages(bytes)});
    else
        ::operator delete(floats, alignment(bytes));
}

}  // namespace attnscope
