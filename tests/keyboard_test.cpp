// Everything without the mouse.
#include <set>

#include "tests/interface.h"

namespace attnscope {
namespace {

class KeyboardTest : public InterfaceTest {
protected:
    /// Presses Tab until what it is on changes the experiment by an arrow as `wanted` says; false if none
    /// does.
    bool tab_until(const std::function<bool()>& wanted) {
        const std::size_t controls = interaction().control.drawn.size();
        for (std::size_t i = 0; i < controls; ++i) {
            press(Key::tab);
            const Experiment before = document().experiment();
            press(Key::right);
            if (wanted()) return true;
            if (!(document().experiment() == before)) press(Key::z, {.ctrl = true});
        }
        return false;
    }
};

TEST_F(KeyboardTest, TabGoesThroughEveryControlAndBack) {
    step();
    const auto controls = interaction().control.drawn;
    ASSERT_GT(controls.size(), 20U);
    ASSERT_EQ(std::set<unsigned>(controls.begin(), controls.end()).size(), controls.size());
    for (const unsigned id : controls) {
        press(Key::tab);
        EXPECT_EQ(interaction().control.id, id);
    }
    press(Key::tab);
    EXPECT_EQ(interaction().control.id, controls.front()) << "it goes around";
    press(Key::tab, {.shift = true});
    EXPECT_EQ(interaction().control.id, controls.back());
    EXPECT_FALSE(document().can_undo());
}

TEST_F(KeyboardTest, ArrowsStepTheControlAndElseTheStrip) {
    const std::string stage = document().presentation().stage;
    ASSERT_TRUE(tab_until([&] { return document().experiment().dim == 17; }));
    press(Key::left, {.shift = true});
    EXPECT_EQ(document().experiment().dim, 7);
    EXPECT_EQ(document().presentation().stage, stage);
    press(Key::escape);
    EXPECT_EQ(interaction().control.id, 0U);
    press(Key::left);
    EXPECT_NE(document().presentation().stage, stage);
    EXPECT_EQ(document().experiment().dim, 7);
}

TEST_F(KeyboardTest, EnterTypesANumber) {
    ASSERT_TRUE(tab_until([&] { return document().experiment().seed == Seed(124); }));
    press(Key::enter);
    push(pressing(Key::a, {.ctrl = true}));
    push(typing("55"));
    play(pressing(Key::enter));
    EXPECT_EQ(document().experiment().seed, Seed(55));
    press(Key::right);
    EXPECT_EQ(document().experiment().seed, Seed(56)) << "the keyboard is on the field still";
}

TEST_F(KeyboardTest, ArrowsTakeTheNextChoice) {
    EXPECT_TRUE(tab_until([&] { return document().experiment().tokenizer == "whitespace"; }));
    press(Key::left);
    EXPECT_EQ(document().experiment().tokenizer, "words");
}

TEST_F(KeyboardTest, SpaceSwitches) {
    interaction().control.id = id_of(*find_window("/experiment_"), {"Projection", "on"});
    press(Key::space);
    EXPECT_TRUE(document().experiment().output_projection);
    press(Key::enter);
    EXPECT_FALSE(document().experiment().output_projection);
}

TEST_F(KeyboardTest, AMenuIsOpenedAndWalked) {
    press(Key::tab);
    press(Key::enter);
    ASSERT_TRUE(compat::popup_is_open());
    press(Key::down);
    EXPECT_EQ(document().presentation().head, HeadChoice{});
    press(Key::enter);
    EXPECT_EQ(interaction().dialog, Dialog::open);
}

TEST_F(KeyboardTest, TabLeavesTheSentence) {
    press(Key::l, {.ctrl = true});
    ASSERT_TRUE(ImGui::GetIO().WantTextInput);
    const std::string before = text();
    press(Key::tab);
    EXPECT_FALSE(ImGui::GetIO().WantTextInput);
    EXPECT_NE(interaction().control.id, 0U);
    EXPECT_EQ(text(), before);
}

TEST_F(KeyboardTest, TheControlIsOutlinedAndTheMouseTakesOver) {
    const gl::Pixels before = picture();
    press(Key::tab);
    EXPECT_NE(picture(), before);
    click(cell_place(1, 1));
    EXPECT_EQ(interaction().control.id, 0U);
}

TEST_F(KeyboardTest, TheControlIsBroughtIntoSight) {
    start(load_example("scaled-dot-product"), 1024, 700);
    press(Key::tab, {.shift = true});
    const ImGuiWindow* panel = find_window("/experiment_");
    ASSERT_TRUE(panel);
    EXPECT_GT(panel->Scroll.y, 0);
}

}  // namespace
}  // namespace attnscope
