// The pictures of the window in README.md and docs/learning.md are what it looks like. ATTNSCOPE_UPDATE=1
// updates them.
#include "app/actions/files.h"
#include "core/learn/variations.h"
#include "tests/interface.h"
#include "tests/sanitized.h"
#include "tests/window_picture.h"

namespace attnscope {
namespace {

using namespace test;

class DocPicturesTest : public InterfaceTest {
protected:
    void SetUp() override {}

    /// Opens an example as a person does, in a window as at the first start.
    void open(const std::string& example, int width = 1600, int height = 1000) {
        start_noted(Session{}, width, height);
        if (!window) return;
        *workspace->controls().folded_sections = PanelLayout{}.folded_sections;
        workspace->controls().whole_sections->clear();
        run([&](ActionContext& c) { open_example(c, example); });
    }
    template <typename Act>
    void run(const Act& act) {
        SavedState saved;
        ActionContext c{document(), interaction(), saved, [](const std::string&) {}};
        act(c);
        settle();
    }
    void run_named(const char* action) {
        run([&](ActionContext& c) { run_action(*find_action(action), c); });
    }
    void compare(const std::string& name) {
        if (!window->host().layer().font_warning().empty()) return;
        play({MouseMove{2, 2}});
        interaction().notice = {};
        expect_stored_picture(ATTNSCOPE_SOURCE_DIR "/docs/" + name + ".png", without_alpha(picture()), {});
    }
};

TEST_F(DocPicturesTest, TheFirstWindow) {
    open("scaled-dot-product");
    if (!window) GTEST_SKIP();
    compare("window");
}

TEST_F(DocPicturesTest, DesignedHeads) {
    open("designed-heads");
    if (!window) GTEST_SKIP();
    compare("designed");
}

TEST_F(DocPicturesTest, ATranslatorThatHasLearned) {
    open("bahdanau-alignment", 1440, 900);
    if (!window) GTEST_SKIP();
    compare("learning-2-learned");
}

TEST_F(DocPicturesTest, ATranslatorAsItLearns) {
    if (test::k_sanitized) GTEST_SKIP() << "its 400 steps take long";
    open("bahdanau-alignment", 1440, 900);
    if (!window) GTEST_SKIP();
    run_named("training.watch");
    EXPECT_EQ(document().experiment().training.step, 400);
    compare("learning-3-training");
    press(Key::home);
    compare("learning-4-step-0");
}

TEST_F(DocPicturesTest, ARunWithoutAttentionBesideIt) {
    if (test::k_sanitized) GTEST_SKIP() << "its 400 steps take long";
    open("bahdanau-alignment");
    if (!window) GTEST_SKIP();
    run_named("training.watch");
    compare("training");
    document().train_beside(find_variation("no attention"));
    settle();
    compare("learning-5-beside");
}

}  // namespace
}  // namespace attnscope
