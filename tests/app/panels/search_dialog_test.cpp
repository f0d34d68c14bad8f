// Every setting is reached by the keyboard alone.
#include <gtest/gtest.h>

#include "core/session/applies.h"
#include "core/session/options.h"
#include "tests/interface.h"
#include "tests/keys.h"
#include "tests/sanitized.h"

namespace attnscope {
namespace {

using namespace test;

class SearchDialogTest : public InterfaceTest {
protected:
    void look_for(const std::string& text) {
        press(Key::p, k_ctrl);
        push(typing(text));
        settle();
        press(Key::enter);
        settle();
    }
};

TEST_F(SearchDialogTest, EverySettingIsShownOrSaysWhereItIs) {
    workspace->controls().folded_sections = SavedState{}.folded_sections;  // as at the first start
    workspace->controls().whole_sections.clear();
    int rows = 0, elsewhere = 0;
    std::size_t visited = 0;
    for (const Option& option : options()) {
        if (option.name == "view") continue;  // the views are actions
        if (!test::is_visited(visited++, 4)) continue;
        SCOPED_TRACE(option.name);
        std::string name(option.name);
        std::ranges::replace(name, '-', ' ');
        interaction().notice = {};
        look_for(name);
        EXPECT_TRUE(interaction().reveal.option.empty());
        if (interaction().dialog == Dialog::exporting) {
            press(Key::escape);
            ++elsewhere;
        } else if (interaction().notice.text.empty()) {
            EXPECT_NE(workspace->controls().focus.id, 0u) << "its control has the keyboard";
            ++rows;
        } else {
            ++elsewhere;
        }
        EXPECT_EQ(interaction().dialog, Dialog::none);
    }
    EXPECT_GT(rows, test::k_sanitized ? 3 : 20);
    EXPECT_GT(elsewhere, test::k_sanitized ? 1 : 8);
}

TEST_F(SearchDialogTest, AFoldedSectionOpensAndTheRowIsBroughtIntoSight) {
    start(load_example("scaled-dot-product"), 1024, 700);
    workspace->controls().folded_sections.insert(std::string(name_of(OptionSection::softmax)));
    look_for("temperature");
    settle();
    EXPECT_FALSE(
        workspace->controls().folded_sections.contains(std::string(name_of(OptionSection::softmax))));
    const ImGuiWindow* panel = find_window("/experiment_");
    ASSERT_TRUE(panel);
    EXPECT_GT(panel->Scroll.y, 0);
    EXPECT_NE(workspace->controls().focus.id, 0u);
}

TEST_F(SearchDialogTest, WhatIsNotFoundIsSaid) {
    press(Key::p, k_ctrl);
    push(typing("qwertyuiop"));
    settle();
    press(Key::enter);
    EXPECT_EQ(interaction().dialog, Dialog::palette) << "nothing happens";
}

}  // namespace
}  // namespace attnscope
