// The folder of an export, picked from a list.
#include <filesystem>

#include "core/files/file.h"
#include "tests/interface.h"
#include "tests/keys.h"
#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

using namespace test;

class FolderPickerTest : public InterfaceTest {
protected:
    static constexpr const char* k_dialog = "Export##dialog";

    void SetUp() override {
        InterfaceTest::SetUp();
        if (!window) return;
        std::filesystem::create_directories(folder.file("figures/old"));
        write_file(folder.file("a.json"), "{}");
        press(Key::e, k_ctrl);
        push(pressing(Key::a, k_ctrl));
        play(typing(folder.path()));
        click(place_of(k_dialog, {"Folder", "Browse…"}));
        ASSERT_TRUE(interaction().export_form.picker);
    }
    const std::string& picked() { return interaction().export_form.folder; }

    const test::TemporaryFolder folder;
};

TEST_F(FolderPickerTest, AFolderIsPickedByMouseAndExportedInto) {
    click(place_of("/files_", {"figures/"}));
    EXPECT_EQ(picked(), folder.path()) << "not before it is used";
    click(place_of(k_dialog, {"Use this folder"}));
    EXPECT_FALSE(interaction().export_form.picker);
    EXPECT_EQ(picked(), folder.file("figures"));
    click(place_of(k_dialog, {"Export"}));
    workspace->exporter().wait();
    settle();
    EXPECT_TRUE(std::filesystem::exists(folder.file("figures/weights.png"))) << interaction().notice.text;
}

TEST_F(FolderPickerTest, OnlyFoldersAreListed) {
    ImGuiWindow* list = find_window("/files_");
    ASSERT_TRUE(list);
    EXPECT_GT(area_of(list, id_of(*list, {"figures/"})).GetWidth(), 0);
    EXPECT_LE(area_of(list, id_of(*list, {"a.json"})).GetWidth(), 0);
}

TEST_F(FolderPickerTest, AFolderIsPickedByKeysAlone) {
    press(Key::tab);
    press(Key::tab);
    press(Key::down);
    press(Key::enter);
    press(Key::down);
    press(Key::enter);
    EXPECT_EQ(interaction().export_form.picker->folder, folder.file("figures/old"));
    press(Key::tab);
    press(Key::enter);
    EXPECT_EQ(picked(), folder.file("figures/old"));
}

TEST_F(FolderPickerTest, EscapeAndBackLeaveTheFolderAsItWas) {
    click(place_of("/files_", {"figures/"}));
    press(Key::escape);
    EXPECT_FALSE(interaction().export_form.picker);
    EXPECT_EQ(interaction().dialog, Dialog::exporting) << "the dialog stays";
    EXPECT_EQ(picked(), folder.path());
    click(place_of(k_dialog, {"Folder", "Browse…"}));
    click(place_of("/files_", {"figures/"}));
    click(place_of(k_dialog, {"Back"}));
    EXPECT_EQ(picked(), folder.path());
}

TEST_F(FolderPickerTest, OnlyFoldersAreUsed) {
    interaction().export_form.picker->folder = folder.file("nowhere");
    click(place_of(k_dialog, {"Use this folder"}));
    ASSERT_TRUE(interaction().export_form.picker);
    EXPECT_NE(interaction().export_form.picker->problem.find("is not a folder"), std::string::npos);
    EXPECT_EQ(picked(), folder.path());
}

}  // namespace
}  // namespace attnscope
