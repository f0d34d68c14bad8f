#include "app/document/keeper.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/error.h"
#include "core/io/file.h"
#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

class KeeperTest : public ::testing::Test {
protected:
    SavedState typed(const std::string& text) {
        state.session.experiment.text = text;
        return state;
    }
    std::string on_disk() {
        std::string problem;
        const auto loaded = load_state(path(), problem);
        return loaded ? loaded->session.experiment.text : "";
    }
    std::string path() { return (fs::path(folder.path()) / "state").string(); }

    test::TemporaryFolder folder;
    SavedState state;
};

TEST_F(KeeperTest, WritesOnceItIsQuiet) {
    Keeper keeper(path(), state);
    EXPECT_EQ(keeper.look(state, 10), 0);
    EXPECT_NEAR(keeper.look(typed("a"), 10), 0.7, 1e-9);
    EXPECT_EQ(on_disk(), "");
    EXPECT_EQ(keeper.look(state, 10.75), 0);
    EXPECT_EQ(on_disk(), "a");
}

TEST_F(KeeperTest, SteadyTypingIsWrittenEveryTwoSeconds) {
    Keeper keeper(path(), state);
    std::string text;
    for (int tenth = 0; tenth <= 21; ++tenth) keeper.look(typed(text += "a"), tenth / 10.0);
    EXPECT_GE(on_disk().size(), 20U);
    const std::size_t before = on_disk().size();
    for (int tenth = 22; tenth <= 30; ++tenth) keeper.look(typed(text += "a"), tenth / 10.0);
    EXPECT_EQ(on_disk().size(), before) << "it is not written at every letter";
    keeper.keep();
    EXPECT_EQ(on_disk(), text);
}

TEST_F(KeeperTest, AFailureIsTriedAgain) {
    write_file(path(), "in the way");
    Keeper keeper(path(), state);
    keeper.look(typed("a"), 0);
    EXPECT_EQ(keeper.look(state, 1), Keeper::k_again_after_seconds);
    EXPECT_NE(keeper.problem().find("cannot be kept"), std::string::npos);
    EXPECT_GT(keeper.look(state, 2), 0);
    EXPECT_THROW(keeper.keep(), Error) << "at quit it is tried whatever the time";
    fs::remove(path());
    EXPECT_EQ(keeper.look(state, 4.5), 0);
    EXPECT_EQ(keeper.problem(), "");
    EXPECT_EQ(on_disk(), "a");
}

}  // namespace
}  // namespace attnscope
