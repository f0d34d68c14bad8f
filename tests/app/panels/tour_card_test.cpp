// The tour, taken by mouse and keys.
#include "app/document/tour.h"
#include "tests/interface.h"
#include "tests/keys.h"

namespace attnscope {
namespace {

class TourTest : public InterfaceTest {
protected:
    void begin() {
        workspace->run(*find_action("help.tour"));
        settle();
        ASSERT_EQ(interaction().tour.step, 0);
    }
    void next() { click(place_of("tour", {"tour.next", "Next"})); }
    bool tried() {
        step();
        return interaction().tour.tried;
    }
    ImRect lit() {
        step();
        const auto& [left, top, right, bottom] = workspace->controls().lit_area;
        return {left, top, right, bottom};
    }
    ImRect card() {
        const ImGuiWindow* in = ImGui::FindWindowByName("tour");
        return {in->Pos.x, in->Pos.y, in->Pos.x + in->Size.x, in->Pos.y + in->Size.y};
    }
};

TEST_F(TourTest, EveryStepCanBeTriedAtTheControlItPointsAt) {
    if (!window) GTEST_SKIP();
    begin();
    EXPECT_FALSE(tried());
    click(lit().GetCenter());
    push({Char{U'!'}});
    settle();
    EXPECT_TRUE(tried()) << "typing";
    next();
    EXPECT_FALSE(tried());
    click(cell_place(3, 2));
    EXPECT_TRUE(tried()) << "a cell is locked";
    EXPECT_TRUE(lit().Contains(cell_place(3, 2)));
    next();
    settle();
    const ImRect row = lit();
    EXPECT_GT(row.GetWidth(), 0) << "the row is in sight";
    drag({row.Max.x - 40, row.GetCenter().y}, {40, 0});
    EXPECT_TRUE(tried()) << "the temperature";
    next();
    EXPECT_FALSE(tried());
    EXPECT_GT(lit().GetWidth(), 0);
    press(Key::p);
    EXPECT_TRUE(tried()) << "pinned";
    next();
    EXPECT_FALSE(tried());
    press(Key::e, {.ctrl = true});
    EXPECT_TRUE(tried()) << "the export dialog is open";
    press(Key::escape);
    EXPECT_EQ(interaction().dialog, Dialog::none);
    EXPECT_EQ(interaction().tour.step, 4) << "Escape closed the dialog alone";
    click(place_of("tour", {"tour.next", "Done"}));
    EXPECT_EQ(interaction().tour.step, -1);
    EXPECT_TRUE(workspace->state().toured);
}

TEST_F(TourTest, CanBeLeftAtAnyStep) {
    if (!window) GTEST_SKIP();
    for (int at = 0; at < static_cast<int>(tour_steps().size()); ++at) {
        begin();
        for (int i = 0; i < at; ++i) next();
        ASSERT_EQ(interaction().tour.step, at);
        if (at % 2)
            press(Key::escape);
        else
            click(place_of("tour", {"tour.leave", "Leave"}));
        EXPECT_EQ(interaction().tour.step, -1) << at;
    }
}

TEST_F(TourTest, GoesBack) {
    if (!window) GTEST_SKIP();
    begin();
    next();
    click(place_of("tour", {"tour.back", "Back"}));
    EXPECT_EQ(interaction().tour.step, 0);
}

TEST_F(TourTest, UndoLeadsBackToWhatWasOpen) {
    if (!window) GTEST_SKIP();
    const Session before = document().session();
    begin();
    press(Key::z, {.ctrl = true});
    EXPECT_EQ(document().session().experiment, before.experiment);
}

TEST_F(TourTest, TheCardStandsInTheWindowAndCoversNothingItPointsAt) {
    if (!window) GTEST_SKIP();
    for (const auto& [width, height, scale] : {std::tuple{1600, 1000, 1.f}, std::tuple{1024, 700, 1.f},
                                               std::tuple{2560, 1440, 1.f}, std::tuple{3840, 2160, 2.f}}) {
        start(load_example("causal"), width, height, scale);
        begin();
        for (std::size_t at = 0; at < tour_steps().size(); ++at) {
            if (at > 0) next();
            settle();
            const ImRect there = card(), of = lit();
            EXPECT_GE(there.Min.x, 0);
            EXPECT_GE(there.Min.y, 0);
            EXPECT_LE(there.Max.x, static_cast<float>(width));
            EXPECT_LE(there.Max.y, static_cast<float>(height));
            EXPECT_GT(of.GetWidth(), 0) << tour_steps()[at].title << " at " << width;
            EXPECT_FALSE(there.Overlaps(of)) << tour_steps()[at].title << " at " << width;
        }
    }
}

TEST_F(TourTest, IsOfferedUntilItWasTaken) {
    if (!window) GTEST_SKIP();
    start_noted(load_example("scaled-dot-product"));
    click(place_of("attnscope", {"help.tour", "Take the tour"}));
    EXPECT_EQ(interaction().tour.step, 0);
    press(Key::escape);
    ASSERT_TRUE(workspace->state().toured);
    workspace->run(*find_action("training.learned"));
    settle();
    ImGuiWindow* root = find_window("attnscope");
    EXPECT_EQ(area_of(root, id_of(*root, {"help.tour", "Take the tour"})).GetWidth(), 0);
}

}  // namespace
}  // namespace attnscope
