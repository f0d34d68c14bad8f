#include "app/document/patience.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace attnscope {
namespace {

/// What a row of changes does: w, a wait in vain; W, a wait that pays; -, none.
std::string changes(Patience& patience, int count, bool pays) {
    std::string text;
    for (int i = 0; i < count; ++i) {
        const bool waits = patience.waits();
        if (waits) patience.waited(pays);
        text += waits ? (pays ? 'W' : 'w') : '-';
    }
    return text;
}

TEST(PatienceTest, WaitsAsLongAsItPays) {
    Patience patience;
    EXPECT_EQ(changes(patience, 4, true), "WWWW");
}

TEST(PatienceTest, AfterWaitsInVainFewerAndFewerChangesWait) {
    Patience patience;
    EXPECT_EQ(changes(patience, 16, false), "w-w---w-------w-");
    changes(patience, 1000, false);
    const std::string later = changes(patience, 320, false);
    EXPECT_EQ(std::ranges::count(later, 'w'), 10) << "one in 32";
}

TEST(PatienceTest, AWaitThatPaysRestoresIt) {
    Patience patience;
    EXPECT_EQ(changes(patience, 3, false), "w-w");
    EXPECT_EQ(changes(patience, 6, true), "---WWW");
    EXPECT_EQ(changes(patience, 3, false), "w-w") << "as at first";
}

}  // namespace
}  // namespace attnscope
