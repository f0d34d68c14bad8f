// Every input of tests/fuzz/corpus through its target: what fuzzing has found stays mended.
#include <gtest/gtest.h>

#include <filesystem>

#include "core/files/file.h"
#include "tests/fuzz/targets.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

TEST(CorpusTest, EveryTargetTakesItsCorpus) {
    for (const fuzz::Target& target : fuzz::targets()) {
        const fs::path folder = fs::path(ATTNSCOPE_SOURCE_DIR) / "tests/fuzz/corpus" / target.name;
        ASSERT_TRUE(fs::is_directory(folder)) << folder;
        ASSERT_FALSE(fs::is_empty(folder)) << folder;
        for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
            SCOPED_TRACE(entry.path());
            EXPECT_NO_THROW(target.run(read_file(entry.path().string())));
        }
    }
}

TEST(CorpusTest, EveryFolderOfTheCorpusHasItsTarget) {
    for (const fs::directory_entry& entry :
         fs::directory_iterator(fs::path(ATTNSCOPE_SOURCE_DIR) / "tests/fuzz/corpus"))
        EXPECT_TRUE(fuzz::find_target(entry.path().filename().string())) << entry.path();
}

}  // namespace
}  // namespace attnscope
