// The side panels: opened and closed, dragged, kept between two runs, and reset.
#include "tests/interface.h"
#include "tests/keys.h"

namespace attnscope {
namespace {

class LayoutTest : public InterfaceTest {
protected:
    /// The side panel that is on screen: "/experiment_" or "/inspector_"; its width is 0 if it is closed.
    static float width_of(const char* panel) {
        const ImGuiWindow* found = find_window(panel);
        return found && found->WasActive ? found->Size.x : 0;
    }
    void drag_edge(const char* panel, bool right_edge, float by) {
        const ImRect area = find_window(panel)->Rect();
        // The outer half of the edge belongs to the center.
        drag({right_edge ? area.Max.x + 1 : area.Min.x - 1, area.GetCenter().y}, {by, 0});
    }
    void start_again() {
        const SavedState kept = workspace->state();
        start_with(kept, kept.session, 1600, 1000, 1);
    }
    void search_and_run(const std::string& text) {
        press(Key::p, test::k_ctrl);
        push(typing(text));
        settle();
        press(Key::enter);
    }
};

TEST_F(LayoutTest, WhichPanelsAreOpenIsKept) {
    ASSERT_GT(width_of("/experiment_"), 0);
    press(Key::f2);
    EXPECT_EQ(width_of("/experiment_"), 0);
    start_again();
    EXPECT_EQ(width_of("/experiment_"), 0);
    EXPECT_GT(width_of("/inspector_"), 0);
    press(Key::f2);
    press(Key::f3);
    start_again();
    EXPECT_GT(width_of("/experiment_"), 0);
    EXPECT_EQ(width_of("/inspector_"), 0);
}

TEST_F(LayoutTest, WidthsThatWereDraggedAreKept) {
    const float experiment = width_of("/experiment_"), inspector = width_of("/inspector_");
    drag_edge("/experiment_", true, 40);
    drag_edge("/inspector_", false, 30);
    EXPECT_FLOAT_EQ(width_of("/experiment_"), experiment + 40);
    EXPECT_FLOAT_EQ(width_of("/inspector_"), inspector - 30);
    start_again();
    EXPECT_FLOAT_EQ(width_of("/experiment_"), experiment + 40);
    EXPECT_FLOAT_EQ(width_of("/inspector_"), inspector - 30);
}

TEST_F(LayoutTest, ResetOpensBothAtTheirFirstWidth) {
    const float experiment = width_of("/experiment_"), inspector = width_of("/inspector_");
    drag_edge("/experiment_", true, 40);
    press(Key::f3);
    search_and_run("reset layout");
    EXPECT_FLOAT_EQ(width_of("/experiment_"), experiment);
    EXPECT_FLOAT_EQ(width_of("/inspector_"), inspector);
    EXPECT_EQ(workspace->state().panels, PanelLayout{});
    EXPECT_FALSE(document().can_undo()) << "a layout is none of the session's";
}

}  // namespace
}  // namespace attnscope
