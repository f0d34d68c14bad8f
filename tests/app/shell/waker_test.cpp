// Requests for a frame from other threads.
#include "app/shell/waker.h"

#include <gtest/gtest.h>

#include <thread>

namespace attnscope {
namespace {

/// What computes while the window opens may be done before it is open.
TEST(WakerTest, ACallBeforeTheWindowOpensIsKeptForItsFirstFrame) {
    const auto waker = std::make_shared<Waker>();
    EXPECT_FALSE(waker->waits());
    std::thread(calling(waker)).join();
    EXPECT_TRUE(waker->waits());
    EXPECT_TRUE(waker->take());
    EXPECT_FALSE(waker->waits());
    EXPECT_FALSE(waker->take()) << "it is taken once";
}

TEST(WakerTest, ACallAfterTheWindowIsGoneReachesNobody) {
    auto waker = std::make_shared<Waker>();
    waker->begin();
    waker->end();
    const std::function<void()> call = calling(waker);
    waker.reset();
    std::thread(call).join();
}

}  // namespace
}  // namespace attnscope
