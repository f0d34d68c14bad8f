#include "core/tensor/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <new>

namespace attnscope {
namespace {

constexpr std::size_t k_huge_page = std::size_t{2} << 20;
constexpr std::align_val_t k_aligned{64}, k_page_aligned{k_huge_page};

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
bool is_large(std::size_t bytes) { return bytes >= k_huge_page; }
std::size_t whole_pages(std::size_t bytes) { return (bytes + k_huge_page - 1) / k_huge_page * k_huge_page; }

struct Block {
    void* memory;
    std::size_t bytes;
};

/// Large blocks that were freed, the oldest first.
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
            ::operator delete(blocks_.front().memory, k_page_aligned);
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
    if (!is_large(bytes_of(count))) return static_cast<float*>(::operator new(bytes_of(count), k_aligned));
    const std::size_t bytes = whole_pages(bytes_of(count));
    if (void* const again = kept().take(bytes)) return static_cast<float*>(again);
    void* const memory = ::operator new(bytes, k_page_aligned);
#ifdef MADV_HUGEPAGE
    madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: nothing depends on it
#endif
    return static_cast<float*>(memory);
}

void free_floats(float* floats, std::size_t count) noexcept {
    if (!is_large(bytes_of(count)))
        ::operator delete(floats, k_aligned);
    else
        kept().keep({floats, whole_pages(bytes_of(count))});
}

}  // namespace attnscope
