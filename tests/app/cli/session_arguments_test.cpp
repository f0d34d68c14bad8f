#include <gtest/gtest.h>

#include <filesystem>

#include "app/cli/command_line.h"
#include "core/export/export.h"
#include "core/files/file.h"
#include "core/mechanism/evaluate.h"
#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

/// The file that the window is told to save to.
std::string file_to_save(std::vector<std::string> words) {
    words.insert(words.begin(), "attnscope");
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    std::string told = "not opened";
    const auto open = [&](std::optional<Session>, const std::string& file, const EvaluateOptions&,
                          const std::string&) {
        told = file;
        return 0;
    };
    EXPECT_EQ(run_command_line(static_cast<int>(arguments.size()), arguments.data(), open), 0);
    return told;
}

TEST(FileToSaveTest, IsTheSessionThatWasNamed) {
    const test::TemporaryFolder folder;
    write_file(folder.file("a.json"), to_json(Session{}));
    EXPECT_EQ(file_to_save({folder.file("a.json")}), folder.file("a.json"));
    EXPECT_EQ(file_to_save({folder.file("a.json"), "--seed", "7"}), folder.file("a.json"));
}

TEST(FileToSaveTest, IsWholeWhereTheNameIsRelative) {
    const test::TemporaryFolder folder;
    write_file(folder.file("a.json"), to_json(Session{}));
    const std::string relative = std::filesystem::relative(folder.file("a.json")).string();
    EXPECT_TRUE(std::filesystem::path(file_to_save({relative})).is_absolute());
}

TEST(FileToSaveTest, IsNoneForAPictureAnExampleOrFlags) {
    const test::TemporaryFolder folder;
    const Session session;
    export_files(evaluate(session.experiment), session, {{"weights"}, {}, {"png"}}, folder.path());
    EXPECT_EQ(file_to_save({folder.file("weights.png")}), "");
    EXPECT_EQ(file_to_save({"--example", "causal"}), "");
    EXPECT_EQ(file_to_save({"--seed", "7"}), "");
    EXPECT_EQ(file_to_save({}), "");
}

}  // namespace
}  // namespace attnscope
