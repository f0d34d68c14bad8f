// Room in the card's memory, used again.
#include "core/gpu/rooms.h"

#include <utility>
#include <vector>

#include "core/mechanism/evaluate.h"
#include "tests/gpu_fixture.h"

namespace attnscope {
namespace {

constexpr std::size_t k_mebi = std::size_t{1} << 20;  ///< numbers, 4 MiB

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
    for (std::size_t i = 0; i < 10; ++i) trace.push_back(rooms.take(k_mebi + i));
    for (std::size_t i = 0; i < 10; ++i) next.push_back(rooms.take(k_mebi + i));
    for (GpuRoom& room : trace) rooms.give_back(room);
    EXPECT_EQ(rooms.kept_bytes(), 4 * (10 * k_mebi + 45)) << "the next trace needs all of them";
    for (std::size_t i = 0; i < 9; ++i) rooms.give_back(next[i]);
    EXPECT_LE(rooms.kept_bytes(), 16 * k_mebi) << "a trace of one small tensor";
    EXPECT_GT(rooms.kept_bytes(), 0U);
    EXPECT_TRUE(rooms.has(k_mebi + 8)) << "the newest stay";
    EXPECT_FALSE(rooms.has(k_mebi + 1));
}

TEST(GpuRoomsTest, WhatIsKeptIsFreedBeforeMemoryRunsOut) {
    std::size_t free = 10 * k_mebi;
    GpuRooms rooms([&](std::size_t numbers) {
        if (numbers > free) throw Error(ErrorKind::too_large, "no room");
        free -= numbers;
        // Its storage is what tells when the room is freed.
        return GpuRoom{.storage = std::shared_ptr<gl::Storage>(
                           nullptr, [&free, numbers](gl::Storage*) { free += numbers; }),
                       .numbers = numbers};
    });
    const GpuRoom used = rooms.take(6 * k_mebi);
    rooms.give_back(rooms.take(3 * k_mebi));
    ASSERT_EQ(rooms.kept_bytes(), 12 * k_mebi);
    EXPECT_EQ(rooms.take(4 * k_mebi).numbers, 4 * k_mebi);
    EXPECT_EQ(rooms.kept_bytes(), 0U);
    EXPECT_THROW(rooms.take(5 * k_mebi), Error) << "nothing is kept";
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
