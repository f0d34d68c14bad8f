// How many cores compute. A file of its own, as oneTBB counts them once in a process.
#include "core/cpu/row_blocks.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <condition_variable>
#include <latch>
#include <mutex>
#include <thread>

namespace attnscope {
namespace {

/// Drivers bind the main thread to one core after the other to find out how these share caches: what another
/// thread begins to compute meanwhile would have a single core from then on.
TEST(CoresTest, AMainThreadThatIsBoundToACoreDoesNotLimitOthers) {
    cpu_set_t all;
    ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "there is one core";
    std::latch bound(1);
    int met = 0;
    std::jthread other([&] {
        bound.wait();
        std::mutex mutex;
        std::condition_variable came;
        int here = 0;
        run_parallel(2, [&](Eigen::Index) {
            std::unique_lock lock(mutex);
            ++here;
            came.notify_all();
            if (came.wait_for(lock, std::chrono::seconds(20), [&] { return here == 2; })) ++met;
        });
    });
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int core = 0; CPU_COUNT(&one) == 0; ++core)
        if (CPU_ISSET(core, &all)) CPU_SET(core, &one);
    EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    bound.count_down();
    other.join();
    EXPECT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
    EXPECT_EQ(met, 2) << "both blocks ran at the same time";
}

}  // namespace
}  // namespace attnscope
