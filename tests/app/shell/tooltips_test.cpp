// Every control says what it does when the pointer rests on it, in every view.
#include <algorithm>
#include <set>

#include "app/actions/actions.h"
#include "core/session/comparisons.h"
#include "tests/interface.h"
#include "tests/sanitized.h"

namespace attnscope {
namespace {

constexpr std::pair<ViewKind, const char*> k_views_with_controls[] = {
    {ViewKind::pipeline, "designed-heads"},      {ViewKind::pipeline, "image-attention"},
    {ViewKind::pipeline, "learned-induction"},   {ViewKind::heads, "transformer-heads"},
    {ViewKind::lines, "designed-heads"},         {ViewKind::compare, "causal"},
    {ViewKind::alignment, "bahdanau-alignment"}, {ViewKind::sweep, "causal"},
    {ViewKind::step, "scaled-dot-product"},      {ViewKind::image, "image-attention"},
    {ViewKind::training, "learned-induction"}};

class TooltipsTest : public InterfaceTest {
protected:
    static bool has_tooltip() {
        for (const ImGuiWindow* each : ImGui::GetCurrentContext()->Windows)
            if (each->WasActive && !each->Hidden && (each->Flags & ImGuiWindowFlags_Tooltip)) return true;
        return false;
    }

    /// What stands nearest to a control, to name it in a message.
    std::string place(const DrawnControl& control) {
        const auto& [left, top, right, bottom] = control.area;
        std::string name = std::to_string(control.id) + " at " + std::to_string(static_cast<int>(left)) +
                           ", " + std::to_string(static_cast<int>(top)) + " … " +
                           std::to_string(static_cast<int>(right)) + ", " +
                           std::to_string(static_cast<int>(bottom));
        return name;
    }

    /// The controls in sight that explain nothing.
    void expect_tooltips(const std::string& where) {
        push({MouseMove{-10, -10}});
        step();
        step();
        const std::vector<DrawnControl> drawn = workspace->controls().focus.drawn;
        int explained = 0;
        for (const DrawnControl& control : drawn) {
            const auto& [left, top, right, bottom] = control.area;
            if (bottom < 32) continue;         // the menu bar's titles, whose menus say it
            if (bottom - top > 200) continue;  // a list or a grid, whose entries say it
            if (explained > 0 && !test::is_visited(visited_++, 5)) continue;
            const ImVec2 middle{(left + right) / 2, (top + bottom) / 2};
            push({MouseMove{-10, -10}});
            for (int frame = 0; frame < 3; ++frame) step();
            ASSERT_FALSE(has_tooltip());
            push({MouseMove{middle.x, middle.y}});
            step();
            for (int frame = 0; frame < 8 && !has_tooltip(); ++frame) step(false, 0.08);
            const ImGuiContext& imgui = *ImGui::GetCurrentContext();
            if (!imgui.HoveredWindow || imgui.HoveredId == 0) continue;  // scrolled out of sight
            ++explained;
            EXPECT_TRUE(has_tooltip()) << where << ": " << place(control);
        }
        EXPECT_GT(explained, 0) << where;
    }

private:
    std::size_t visited_ = 0;
};

TEST_F(TooltipsTest, EveryControlOfAViewHasOne) {
    if (!window) GTEST_SKIP();
    std::size_t row = 0;
    for (const auto& [view, example] : k_views_with_controls) {
        if (!test::is_visited(row++, 3)) continue;
        Session session = load_example(example);
        session.presentation.view = view;
        start(std::move(session), 1600, 2400);
        expect_tooltips(std::string(name_of(view)));
    }
}

TEST_F(TooltipsTest, EveryStageHasOneAtItsPictureAndAtItsTitle) {
    if (!window) GTEST_SKIP();
    const auto rests_at = [&](ImVec2 at) {
        push({MouseMove{-10, -10}});
        for (int frame = 0; frame < 3; ++frame) step();
        push({MouseMove{at.x, at.y}});
        step();
        for (int frame = 0; frame < 8 && !has_tooltip(); ++frame) step(false, 0.08);
        return has_tooltip();
    };
    for (const char* example : {"multi-head", "bahdanau-alignment", "learned-induction", "image-attention"}) {
        Session session = load_example(example);
        session.presentation.view = ViewKind::pipeline;
        session.presentation.gradients = true;
        start(std::move(session), 1600, 1000);
        const ImVec2 title = place_of("attnscope", {"stage title"});
        EXPECT_TRUE(rests_at(title)) << example;
        int pictures = 0;
        for (const SeenMatrix& matrix : seen_matrices()) {
            const ImVec2 corner = matrix.at(0.5f, 0.5f);
            if (corner.y > title.y || !matrix.sees(corner)) continue;  // below the title: the focus
            EXPECT_TRUE(rests_at(corner)) << example << ": " << matrix.stage->name();
            ++pictures;
        }
        EXPECT_GT(pictures, 5) << example;
    }
}

TEST_F(TooltipsTest, EveryItemOfAMenuHasOne) {
    if (!window) GTEST_SKIP();
    std::size_t row = 0;
    for (const auto& [value, menu] : choices<Menu>()) {
        if (!test::is_visited(row++, 3)) continue;
        start(load_example("multi-head"), 1600, 2400);
        const ImVec2 title = place_of("attnscope", {std::string(menu)});
        click(title);
        const ImGuiContext& imgui = *ImGui::GetCurrentContext();
        ASSERT_FALSE(imgui.OpenPopupStack.empty()) << menu;
        const ImGuiWindow* popup = imgui.OpenPopupStack.back().Window;
        ASSERT_NE(popup, nullptr) << menu;
        const float left = popup->Pos.x + 20, top = popup->Pos.y, bottom = top + popup->Size.y;
        std::set<ImGuiID> items;
        for (float y = top; y < bottom; y += 4) {
            push({MouseMove{left, y}});
            for (int frame = 0; frame < 3; ++frame) step();
            if (imgui.HoveredId == 0 || !items.insert(imgui.HoveredId).second) continue;
            for (int frame = 0; frame < 8 && !has_tooltip(); ++frame) step(false, 0.08);
            EXPECT_TRUE(has_tooltip()) << menu << ": item " << items.size();
        }
        const auto listed = std::ranges::count(actions(), std::optional(value), &Action::menu);
        EXPECT_GE(std::ssize(items), listed) << menu;
    }
}

TEST_F(TooltipsTest, EveryControlOfADialogHasOne) {
    if (!window) GTEST_SKIP();
    constexpr std::pair<Dialog, const char*> k_dialogs[] = {
        {Dialog::open, "open"},       {Dialog::save, "save"},         {Dialog::exporting, "export"},
        {Dialog::giving, "set"},      {Dialog::history, "history"},   {Dialog::palette, "search"},
        {Dialog::gallery, "gallery"}, {Dialog::parity, "CPU and GPU"}};
    for (const auto& [dialog, name] : k_dialogs) {
        start(load_example("multi-head"));
        press(Key::r, {.ctrl = true});
        interaction().open(dialog);
        settle();
        workspace->parity().wait();  // what comes later would move the controls
        workspace->gallery().wait();
        settle();
        expect_tooltips(std::string("dialog ") + name);
    }
}

}  // namespace
}  // namespace attnscope
