#include "core/cpu/row_blocks.h"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <optional>

// The thread sanitizer does not see into oneTBB's library and reports everything that it synchronizes as a
// race. The build therefore leaves this file unchecked, and it declares here in which order the work runs;
// the work itself is checked.
#ifdef ATTNSCOPE_THREAD_SANITIZER
extern "C" {
void __tsan_acquire(void*);
void __tsan_release(void*);
}
#endif

namespace attnscope {
namespace {

#ifdef ATTNSCOPE_THREAD_SANITIZER
void acquire(const void* at) { __tsan_acquire(const_cast<void*>(at)); }
void release(const void* at) { __tsan_release(const_cast<void*>(at)); }
#else
void acquire(const void*) {}
void release(const void*) {}
#endif

// Rows of 2,048 numbers that pass from operation to operation stay in a core's own cache; fewer make products
// slower. A block also takes no longer than some 20 ms, after which it can be canceled.
constexpr Eigen::Index k_most_rows = 64;
constexpr double k_most_work = RowLoop::k_heavy * k_most_rows;

constexpr double k_smallest_parallel_work = 1 << 20;

// oneTBB counts the cores once, as those that the main thread is bound to; here, before main(). Later a
// driver of OpenGL may bind it to one core after the other, to find out which share a cache, while others
// compute.
[[maybe_unused]] const int k_cores = tbb::info::default_concurrency();

}  // namespace

Eigen::Index RowLoop::rows_per_block() const {
    Eigen::Index count = k_most_rows;
    while (count > 1 && static_cast<double>(count) * work_per_row > k_most_work) count /= 2;
    return count;
}

RowBlock RowLoop::block(Eigen::Index index) const {
    const Eigen::Index first = index % blocks_per_head() * rows_per_block();
    return {static_cast<int>(index / blocks_per_head()), first, std::min(rows_per_block(), rows - first)};
}

bool RowLoop::is_worth_threads() const {
    return work_per_row * heads * static_cast<double>(rows) >= k_smallest_parallel_work;
}

void run_isolated(const std::function<void()>& work) { tbb::this_task_arena::isolate(work); }

void run_parallel(Eigen::Index count, const std::function<void(Eigen::Index)>& run) {
    const char started = 0, finished = 0;
    std::mutex mutex;
    std::exception_ptr thrown;  // the first; not left to oneTBB, so that the sanitizer sees who frees it
    tbb::task_group_context group;
    const auto run_block = [&](Eigen::Index index) {
        acquire(&started);
        try {
            run(index);
        } catch (...) {
            const std::lock_guard lock(mutex);
            if (!thrown) thrown = std::current_exception();
            group.cancel_group_execution();
        }
        release(&finished);
    };
    release(&started);
    tbb::parallel_for(Eigen::Index{0}, count, run_block, group);
    acquire(&finished);
    if (thrown) std::rethrow_exception(thrown);
}

void with_threads(int threads, const std::function<void()>& work) {
    if (threads <= 0) {
        work();
        return;
    }
    tbb::task_arena arena(threads);
    arena.execute(work);
}

void limit_threads(int threads) {
    static std::optional<tbb::global_control> limit;
    limit.reset();
    if (threads > 0)
        limit.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
}

}  // namespace attnscope
