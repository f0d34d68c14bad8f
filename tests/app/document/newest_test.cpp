#include "app/document/newest.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>

namespace attnscope {
namespace {

using Clock = std::chrono::steady_clock;

TEST(NewestTest, AWaitEndsAtItsDeadlineWithTheResultAndWhenTheRequestIsForgotten) {
    std::promise<void> may_end;
    const std::shared_future<void> end = may_end.get_future().share();
    Newest<int, int> newest(
        [end](int request, const int*, const std::stop_token&) {
            if (request == 1) end.wait();
            return request;
        },
        {});
    const auto soon = [] { return Clock::now() + std::chrono::milliseconds(5); };
    const auto late = [] { return Clock::now() + std::chrono::minutes(1); };
    EXPECT_TRUE(newest.wait_until(soon())) << "nothing was requested";
    newest.request(1);
    EXPECT_FALSE(newest.wait_until(soon()));
    newest.forget();
    EXPECT_TRUE(newest.wait_until(late())) << "though it still runs";
    may_end.set_value();
    newest.request(2);
    EXPECT_TRUE(newest.wait_until(late()));
    ASSERT_TRUE(newest.update());
    EXPECT_EQ(*newest.known(), 2);
}

}  // namespace
}  // namespace attnscope
