// The dialog that lists the history and goes through it.
#include "tests/interface.h"
#include "tests/keys.h"

namespace attnscope {
namespace {

using namespace test;

class HistoryDialogTest : public InterfaceTest {
protected:
    static constexpr const char* k_dialog = "History##dialog";

    /// Seeds 1 … count, each a step.
    void change_seeds(int count) {
        for (int seed = 1; seed <= count; ++seed)
            document().change([&](Session& s) { s.experiment.weights.seed = seed; });
        settle();
    }
    void open_history() {
        press(Key::h, k_ctrl_shift);
        ASSERT_EQ(interaction().dialog, Dialog::history);
    }
    Seed seed() { return document().experiment().weights.seed; }
    Seed shown_seed() { return document().trace()->experiment.weights.seed; }
    /// The entry of a step in the list.
    ImVec2 entry(int step) { return place_of("/steps list_", {"##" + std::to_string(step)}); }
};

TEST_F(HistoryDialogTest, AClickGoesToAStepAndUndoAndRedoGoOnFromThere) {
    change_seeds(6);
    open_history();
    click(entry(2));
    EXPECT_EQ(seed(), Seed(2));
    EXPECT_EQ(shown_seed(), Seed(2)) << "the view shows it";
    EXPECT_EQ(document().history().index(), 2U);
    press(Key::z, k_ctrl);
    EXPECT_EQ(seed(), Seed(1));
    press(Key::z, k_ctrl_shift);
    press(Key::z, k_ctrl_shift);
    EXPECT_EQ(seed(), Seed(3));
    EXPECT_EQ(interaction().history_form.entry, 3U) << "the selection follows";
    click(entry(6));
    EXPECT_EQ(seed(), Seed(6));
    EXPECT_EQ(document().history().points().size(), 7U) << "going anywhere loses no step";
}

TEST_F(HistoryDialogTest, ArrowsSelectAndEnterGoes) {
    change_seeds(4);
    open_history();
    press(Key::up);
    press(Key::up);
    EXPECT_EQ(seed(), Seed(4)) << "not before Enter";
    press(Key::enter);
    EXPECT_EQ(seed(), Seed(2));
    press(Key::down);
    press(Key::enter);
    EXPECT_EQ(seed(), Seed(3));
    press(Key::escape);
    EXPECT_EQ(interaction().dialog, Dialog::none);
    EXPECT_EQ(seed(), Seed(3)) << "closing stays where it is";
}

TEST_F(HistoryDialogTest, TheSliderGoesThroughTheSteps) {
    change_seeds(8);
    open_history();
    const ImRect bar = area_of(k_dialog, {"steps"});
    const float left = bar.Min.x + 8, right = bar.Max.x - 8, y = bar.GetCenter().y;
    drag({right, y}, {(left - right) / 2, 0});
    EXPECT_EQ(seed(), Seed(4));
    drag({(left + right) / 2, y}, {(left - right), 0});
    EXPECT_EQ(document().history().index(), 0U);
    press(Key::tab);
    press(Key::right);
    press(Key::right);
    EXPECT_EQ(seed(), Seed(2)) << "← and → step it";
    EXPECT_EQ(document().history().points().size(), 9U);
}

TEST_F(HistoryDialogTest, SaysWhatEachStepChanged) {
    document().change([](Session& s) { s.experiment.weighting.temperature = 2; });
    press(Key::n, k_ctrl);
    settle();
    open_history();
    EXPECT_EQ(document().step_text(0).substr(0, 5), "start");
    EXPECT_NE(document().step_text(1).find("1.0 → 2.0"), std::string::npos) << document().step_text(1);
    EXPECT_EQ(document().step_text(2).substr(0, 6), "opened");
    const std::vector<std::string>& texts = interaction().history_form.texts;
    ASSERT_EQ(texts.size(), 3U);
    for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(texts[i], document().step_text(i));
}

TEST_F(HistoryDialogTest, OfAThousandStepsOnlyThoseInSightAreAskedFor) {
    change_seeds(999);
    open_history();
    const auto asked = [&] {
        const std::vector<std::string>& texts = interaction().history_form.texts;
        return std::ranges::count_if(texts, [](const std::string& text) { return !text.empty(); });
    };
    EXPECT_EQ(interaction().history_form.texts.size(), 1000U);
    EXPECT_GT(asked(), 5);
    EXPECT_LT(asked(), 60);
    EXPECT_FALSE(interaction().history_form.texts.back().empty()) << "the present is in sight";
    const auto before = asked();
    click(entry(998));
    EXPECT_EQ(seed(), Seed(998));
    EXPECT_EQ(asked(), before) << "going to a step asks for nothing again";
}

TEST_F(HistoryDialogTest, WithoutAStepThereIsOnlyTheStart) {
    open_history();
    press(Key::enter);
    press(Key::tab);
    press(Key::right);
    EXPECT_EQ(document().history().points().size(), 1U);
    click(place_of(k_dialog, {"Close"}));
    EXPECT_EQ(interaction().dialog, Dialog::none);
}

}  // namespace
}  // namespace attnscope
