// The picture on screen is one export: in every view it is copied as the file that the export dialog writes.
#include <chrono>
#include <filesystem>
#include <thread>

#include "app/document/picture_on_screen.h"
#include "app/platform/imgui_compat.h"
#include "core/error.h"
#include "core/files/file.h"
#include "core/graph/stage_table.h"
#include "core/session/comparisons.h"
#include "tests/drawn_sessions.h"
#include "tests/interface.h"
#include "tests/sanitized.h"
#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

class PictureOnScreenTest : public InterfaceTest {
protected:
    /// What "Copy picture" puts on the clipboard; empty if that fails.
    std::string copied() {
        compat::text_bridge().clipboard.set("");
        press(Key::c, {.ctrl = true, .alt = true});
        for (int i = 0; i < 4000 && compat::text_bridge().clipboard.get().empty(); ++i) {
            if (interaction().notice.problem) break;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            step();
        }
        return compat::text_bridge().clipboard.get();
    }
    /// The only PNG that the export dialog writes as it opens.
    std::string exported() {
        TemporaryFolder folder;
        press(Key::e, {.ctrl = true});
        push(pressing(Key::a, {.ctrl = true}));
        push(typing(folder.path()));
        play(pressing(Key::enter));
        workspace->exporter().wait();
        play({});
        std::vector<std::string> files;
        for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
            files.push_back(entry.path().string());
        EXPECT_EQ(files.size(), 1u);
        return files.size() == 1 ? read_file(files.front()) : "";
    }
};

TEST_F(PictureOnScreenTest, InEveryViewItIsThePictureThatTheExportDialogWrites) {
    Session session = test::four_heads();
    session = *with_preset(session, *find_comparison_preset("causal mask"));
    std::size_t row = 0;
    for (const auto& [view, name] : choices<ViewKind>()) {
        if (view == ViewKind::sweep || !test::is_visited(row++, 3)) continue;
        session.presentation.view = view;
        start(session);
        if (document().presentation().view != view) continue;  // the mechanism has none
        const std::string picture = copied();
        EXPECT_TRUE(picture.starts_with("\x89PNG")) << name << ": " << interaction().notice.text;
        EXPECT_TRUE(picture == exported()) << name;
    }
}

TEST_F(PictureOnScreenTest, OfASweepItIsTheStageInFocus) {
    Session session = load_example("scaled-dot-product");
    session.presentation.view = ViewKind::sweep;
    start(session);
    const ExportRequest request = picture_on_screen(document());
    EXPECT_EQ(request.stages, std::vector<std::string>{"weights"});
    EXPECT_EQ(request.compose, Compose::none);
    EXPECT_TRUE(copied().starts_with("\x89PNG")) << interaction().notice.text;
}

TEST_F(PictureOnScreenTest, AClipboardThatTakesNoPicturesSaysSo) {
    compat::text_bridge().clipboard.set_png = [](const std::string&) {
        throw Error(ErrorKind::backend, "copying a picture needs xclip");
    };
    EXPECT_EQ(copied(), "");
    EXPECT_TRUE(interaction().notice.problem);
    EXPECT_EQ(interaction().notice.text, "copying a picture needs xclip");
}

}  // namespace
}  // namespace attnscope
