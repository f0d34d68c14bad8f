// What the graphics card reports: its name, its memory and its working time.
#include <chrono>

#include "core/mechanism/evaluate.h"
#include "tests/gpu_fixture.h"

namespace attnscope {
namespace {

std::unique_ptr<GpuBackend> backend(bool timed) {
    return std::make_unique<GpuBackend>(make_egl_context(), GpuOptions{.timed = timed});
}

class GpuTimingTest : public testing::Test {
protected:
    void SetUp() override {
        std::string why;
        if (!test::shared_gpu(&why)) GTEST_SKIP() << why;
    }
};

TEST_F(GpuTimingTest, TheCardWorksNoLongerThanTheEvaluationTakesAndOnlyWhereItIsAsked) {
    using Clock = std::chrono::steady_clock;
    const auto timed = backend(true), untimed = backend(false);
    const Clock::time_point start = Clock::now();
    evaluate({}, {}, {.backend = timed.get()});
    const std::chrono::nanoseconds wall = Clock::now() - start;
    const std::uint64_t nanoseconds = timed->take_nanoseconds();
    EXPECT_GT(nanoseconds, 0U);
    EXPECT_LE(nanoseconds, static_cast<std::uint64_t>(wall.count()));
    EXPECT_EQ(timed->take_nanoseconds(), 0U) << "taken once";
    evaluate({}, {}, {.backend = untimed.get()});
    EXPECT_EQ(untimed->take_nanoseconds(), 0U);
}

TEST_F(GpuTimingTest, ASoftwareRendererIsCalledOneAndHasNoMemoryOfItsOwn) {
    const GpuBackend& gpu = *test::shared_gpu();
    EXPECT_TRUE(gpu.card().starts_with(gpu.info().renderer)) << gpu.card();
    EXPECT_EQ(gpu.card().find("software renderer") != std::string::npos, gpu.info().is_software);
    EXPECT_EQ(gpu.info().is_software && gpu.memory() > 0, false);
}

}  // namespace
}  // namespace attnscope
