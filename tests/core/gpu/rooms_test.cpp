// Room in the card's memory, used again.
#include "core/gpu/rooms.h"

#include <utility>
#include <vector>

#include "core/mechanism/evaluate.h"
#include "tests/gpu_fixture.h"

namespace attnscope {
namespace {

constexpr std::size_t k_million = std::size_t{1} << 20;  ///< numbers: 4 MiB

TEST(GpuRoomsTest, WhatIsGivenBackIsTakenAgainByATensorOfThatSize) {
    int allocated = 0;
    GpuRooms rooms([&](std::size_t numbers) {
        return GpuRoom{.storage = {}, .first = static_cast<std::size_t>(++allocated), .numbers = numbers};
    });
    const GpuRoom a = rooms.take(7);
    EXPECT_FALSE(rooms.has(7));
    rooms.give_back(a);
    EXPECT_TRUE(rooms.has(7));
    EXPECT_EQ(rooms.kept_bytes(), 28U);
    EXPECT_EQ(rooms.take(8).first, 2U) << "another size";
    EXPECT_EQ(rooms.take(7).first, a.first);
    EXPECT_EQ(rooms.take(7).first, 3U) << "in use";
    EXPECT_EQ(rooms.kept_bytes(), 0U);
    EXPECT_EQ(allocated, 3);
}

TEST(GpuRoomsTest, NoMoreIsKeptThanIsInUse) {
    GpuRooms rooms([](std::size_t numbers) { return GpuRoom{.storage = {}, .numbers = numbers}; });
    std::vector<GpuRoom> trace, next;
    for (std::size_t i = 0; i < 10; ++i) trace.push_back(rooms.take(k_million + i));
    for (std::size_t i = 0; i < 10; ++i) next.push_back(rooms.take(k_million + i));
    for (GpuRoom& room : trace) rooms.give_back(room);
    EXPECT_EQ(rooms.kept_bytes(), 4 * (10 * k_million + 45)) << "the next trace needs all of them";
    for (std::size_t i = 0; i < 9; ++i) rooms.give_back(next[i]);
    EXPECT_LE(rooms.kept_bytes(), 16 * k_million) << "a trace of one small tensor";
    EXPECT_GT(rooms.kept_bytes(), 0U);
    EXPECT_TRUE(rooms.has(k_million + 8)) << "the newest stay";
    EXPECT_FALSE(rooms.has(k_million + 1));
}

TEST(GpuRoomsTest, NoMoreIsAllocatedThanWasInUseOnce) {
    std::size_t allocated = 0;
    GpuRooms rooms([&](std::size_t numbers) {
        allocated += numbers;
        return GpuRoom{.storage = std::shared_ptr<gl::Storage>(
                           nullptr, [&allocated, numbers](gl::Storage*) { allocated -= numbers; }),
                       .numbers = numbers};
    });
    const auto trace_of = [&](std::size_t size) {
        std::vector<GpuRoom> trace;
        for (int i = 0; i < 10; ++i) trace.push_back(rooms.take(size));
        return trace;
    };
    const auto give_back = [&](std::vector<GpuRoom> trace) {
        while (!trace.empty()) {
            rooms.give_back(std::move(trace.back()));
            trace.pop_back();
        }
    };
    std::vector<GpuRoom> shown = trace_of(k_million), next = trace_of(k_million);
    give_back(std::exchange(shown, std::move(next)));
    // Each trace has other sizes than the one before.
    for (std::size_t size = k_million - 1; size > k_million - 5; --size) {
        next = trace_of(size);
        EXPECT_LE(allocated, 20 * k_million);
        give_back(std::exchange(shown, std::move(next)));
    }
    EXPECT_GT(rooms.kept_bytes(), 0U);
}

TEST(GpuRoomsTest, WhatIsKeptIsFreedBeforeMemoryRunsOut) {
    std::size_t free = 10 * k_million;
    GpuRooms rooms([&](std::size_t numbers) {
        if (numbers > free) throw Error(ErrorKind::too_large, "no room");
        free -= numbers;
        // Its storage is what tells when the room is freed.
        return GpuRoom{.storage = std::shared_ptr<gl::Storage>(
                           nullptr, [&free, numbers](gl::Storage*) { free += numbers; }),
                       .numbers = numbers};
    });
    const GpuRoom used = rooms.take(6 * k_million);
    rooms.give_back(rooms.take(3 * k_million));
    ASSERT_EQ(rooms.kept_bytes(), 12 * k_million);
    EXPECT_EQ(rooms.take(4 * k_million).numbers, 4 * k_million);
    EXPECT_EQ(rooms.kept_bytes(), 0U);
    EXPECT_THROW(rooms.take(5 * k_million), Error) << "nothing is kept";
}

TEST(GpuRoomsTest, WhatACardCannotAllocateBesideWhatIsKeptIsTriedAlone) {
    GpuRooms* used_by = nullptr;
    int asked = 0;
    GpuRooms rooms([&](std::size_t numbers) {
        ++asked;
        if (used_by && used_by->kept_bytes() > 0) throw Error(ErrorKind::too_large, "no room in one piece");
        return GpuRoom{.storage = {}, .numbers = numbers};
    });
    const GpuRoom used = rooms.take(k_million);
    for (const std::size_t size : {3, 2}) rooms.give_back(rooms.take(size));
    used_by = &rooms;
    EXPECT_EQ(rooms.take(1).numbers, 1U);
    EXPECT_EQ(rooms.kept_bytes(), 0U);
    EXPECT_EQ(asked, 5) << "the last one twice";
}

TEST(GpuRoomsTest, ANewSeedAllocatesNothingOnTheCard) {
    std::string why;
    if (!test::shared_gpu(&why)) GTEST_SKIP() << why;
    int allocated = 0;
    GpuBackend gpu(make_egl_context(true), {.allocate = [&](std::size_t numbers) {
                       ++allocated;
                       return test::guarded_room(numbers);
                   }});
    Experiment e;
    e.input.text = "the cat sat on the mat because it was tired";
    e.input.dim = 32;
    e.attention.heads = 4;
    Trace shown;
    int seed = 0;
    const auto change_seed = [&] {
        e.weights.seed = ++seed;
        Trace next = evaluate(e, shown, {.backend = &gpu});
        shown = std::move(next);
    };
    change_seed();
    EXPECT_GT(allocated, 10);
    for (int i = 0; i < 3; ++i) change_seed();
    for (int i = 0; i < 3; ++i) {
        const int before = allocated;
        change_seed();
        EXPECT_EQ(allocated, before);
    }
}

}  // namespace
}  // namespace attnscope
