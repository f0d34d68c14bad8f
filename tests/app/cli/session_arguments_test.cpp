#include <gtest/gtest.h>

#include <filesystem>

#include "app/cli/command_line.h"
#include "core/export/export.h"
#include "core/files/file.h"
#include "core/gpu/shaders.h"
#include "core/mechanism/evaluate.h"
#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

int run(std::vector<std::string> words, const OpenWindow& open) {
    words.insert(words.begin(), "attnscope");
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    return run_command_line(static_cast<int>(arguments.size()), arguments.data(), open);
}

/// The file that the window is told to save to.
std::string file_to_save(const std::vector<std::string>& words) {
    std::string told = "not opened";
    const auto open = [&](const auto&, const std::string& file, const auto&...) {
        told = file;
        return 0;
    };
    EXPECT_EQ(run(words, open), 0);
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
    export_files(evaluate(session.experiment), session, {{"weights"}, {}, {FileFormat::png}}, folder.path());
    EXPECT_EQ(file_to_save({folder.file("weights.png")}), "");
    EXPECT_EQ(file_to_save({"--example", "causal"}), "");
    EXPECT_EQ(file_to_save({"--seed", "7"}), "");
    EXPECT_EQ(file_to_save({}), "");
}

class ShaderFlagTest : public testing::Test {
protected:
    ShaderFlagTest() { write_file(folder_.file("heatmap.frag"), built_in_shader_text("heatmap.frag")); }

    /// The folder that the window reads shaders from; "closed" if it does not open.
    std::string folder_of_window(const std::vector<std::string>& words) {
        std::string folder = "closed";
        const auto open = [&](const auto&, const auto&, const auto&, const auto&,
                              const ShaderSource& shaders) {
            folder = shaders.folder();
            return 0;
        };
        code_ = run(words, open);
        return folder;
    }

    test::TemporaryFolder folder_;
    int code_ = -1;
};

TEST_F(ShaderFlagTest, IsTheOneThatIsNamed) {
    EXPECT_EQ(folder_of_window({"--shaders", folder_.path()}), folder_.path());
    EXPECT_EQ(folder_of_window({"--shaders", folder_.path(), "--seed", "7"}), folder_.path());
    EXPECT_EQ(folder_of_window({}), "") << "the built-in ones";
    EXPECT_EQ(folder_of_window({"--shaders", ""}), "closed");
}

TEST_F(ShaderFlagTest, OpensNothingWithACommandLineThatIsRefused) {
    for (const std::vector<std::string>& bad :
         {std::vector<std::string>{"--no-such-flag"}, {"--threads", "x"}, {"--seed", "x"}}) {
        std::vector<std::string> words = {"--shaders", folder_.path()};
        words.insert(words.end(), bad.begin(), bad.end());
        EXPECT_EQ(folder_of_window(words), "closed") << bad[0];
        EXPECT_EQ(code_, 2) << bad[0];
    }
}

}  // namespace
}  // namespace attnscope
