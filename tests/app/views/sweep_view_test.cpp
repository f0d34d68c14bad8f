// The view of a setting that goes through values, by mouse and keys.
#include <algorithm>

#include "core/mechanism/evaluate.h"
#include "core/picture/spread.h"
#include "core/session/questions.h"
#include "core/session/sweep.h"
#include "tests/interface.h"

namespace attnscope {
namespace {

class SweepViewTest : public InterfaceTest {
protected:
    void SetUp() override {
        start(load_example("causal"));
        if (window) press(Key::digit_9);
    }
    const SweptValues& swept() { return *document().swept(); }
    void set_sweep(const std::string& name) {
        click(place_of("attnscope", {"##sweep"}));
        choose(name);
    }
};

TEST_F(SweepViewTest, ShowsTheNumbersOfEveryValue) {
    if (!window) GTEST_SKIP();
    ASSERT_TRUE(document().swept());
    ASSERT_EQ(swept().frames.size(), std::size_t{k_swept_seeds});
    const auto steps = sweep_steps(document().session(), Sweep::seed, k_swept_seeds);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const Trace expected = evaluate(steps[i].session.experiment);
        EXPECT_EQ(swept().frames[i].value, steps[i].value);
        EXPECT_TRUE(std::ranges::equal(swept().frames[i].shown.stage->buffer.host().values(),
                                       expected.find("weights"_stage)->buffer.host().values()))
            << steps[i].value;
    }
    float sum = 0;
    for (const SweptFrame& frame : swept().frames) sum += frame.shown.stage->buffer.at(0, 4, 3);
    EXPECT_FLOAT_EQ(swept().spread->mean(4, 3), sum / k_swept_seeds);
    EXPECT_EQ(swept().spread->count(0, 3), 0) << "the future is closed at every seed";
}

TEST_F(SweepViewTest, AnotherSettingIsChosenFromTheList) {
    if (!window) GTEST_SKIP();
    for (const auto& [sweep, name] : choices<Sweep>()) {
        if (sweep == Sweep::none) continue;
        set_sweep(std::string(name));
        ASSERT_TRUE(document().swept());
        EXPECT_EQ(swept().of.sweep, sweep);
        EXPECT_EQ(swept().problem, "");
        EXPECT_GE(swept().frames.size(), 5u) << name;
    }
}

TEST_F(SweepViewTest, ANumberThatIsZeroIsToldFromOneThatRoundsToIt) {
    if (!window) GTEST_SKIP();
    start(answer(questions()[11]), 1600, 1000);
    const auto count_in = [&](std::string_view text) {
        std::ptrdiff_t count = 0;
        for (const test::ScreenText& each : test::texts_on_screen())
            for (std::size_t at = each.text.find(text); at != each.text.npos;
                 at = each.text.find(text, at + 1))
                ++count;
        return count;
    };
    ASSERT_TRUE(document().swept());
    const auto cells = [&](const auto& holds) {
        std::ptrdiff_t count = 0;
        for (const SweptFrame& frame : swept().frames) {
            const MaskedMatrix matrix =
                masked_matrix(*frame.shown.trace, *frame.shown.stage, frame.shown.head);
            for (Eigen::Index i = 0; i < matrix.values.rows(); ++i)
                for (Eigen::Index j = 0; j < matrix.values.cols(); ++j)
                    count += matrix.is_open(i, j) && holds(matrix.values(i, j));
        }
        return count;
    };
    EXPECT_GT(count_in("<.01"), 0);
    EXPECT_EQ(count_in("<.01"), cells([](float weight) { return weight != 0 && weight < 0.005f; }));
    EXPECT_EQ(count_in("0.00"), 0);
}

TEST_F(SweepViewTest, TheLockedCellIsOutlinedInEveryValue) {
    if (!window) GTEST_SKIP();
    start(answer(questions()[5]), 1920, 1200);
    // Pixels in the color of texts below the large matrices, where numbers have a fainter one.
    const auto outlines = [&] {
        move({2, 2});
        const gl::Pixels pixels = picture();
        const Rgb8 color = theme_of(workspace->theme()).text;
        const auto wanted = static_cast<std::uint32_t>(color.red) << 24 |
                            static_cast<std::uint32_t>(color.green) << 16 |
                            static_cast<std::uint32_t>(color.blue) << 8 | 0xFFU;
        int count = 0;
        for (int y = 820; y < 1160; ++y)
            for (int x = 300; x < 1560; ++x) count += pixels.at(x, y) == wanted;
        return count;
    };
    const int without = outlines();
    document().change([](Session& s) { s.presentation.lock("weights"_stage, Cell{2, 4}); });
    settle();
    EXPECT_GT(outlines() - without, 32 * 20) << "of each of 32 seeds: some nine pixels on a side";
}

TEST_F(SweepViewTest, SpacePlaysAndPauses) {
    if (!window) GTEST_SKIP();
    press(Key::space);
    EXPECT_TRUE(interaction().sweep_playback.playing);
    const int before = interaction().sweep_playback.frame;
    for (int i = 0; i < 60; ++i) step();
    EXPECT_NE(interaction().sweep_playback.frame, before);
    press(Key::space);
    const int paused = interaction().sweep_playback.frame;
    for (int i = 0; i < 60; ++i) step();
    EXPECT_EQ(interaction().sweep_playback.frame, paused);
}

TEST_F(SweepViewTest, AValueIsShownByAClickAndGivenToTheExperiment) {
    if (!window) GTEST_SKIP();
    ImGuiWindow* root = find_window("attnscope");
    const ImGuiID pushed = ImHashData("\x02\0\0\0", 4, root->ID);
    const ImRect place = area_of(root, ImHashStr("value", 0, pushed));
    ASSERT_GT(place.GetWidth(), 0);
    click(place.GetCenter());
    EXPECT_EQ(interaction().sweep_playback.frame, 2);
    const std::string value = swept().frames[2].value;
    click(place_of("attnscope", {"sweep.use", "Use " + value}));
    EXPECT_EQ(document().experiment().weights.seed, Seed::parse(value));
}

TEST_F(SweepViewTest, FunctionsHaveNoMeanAndStandBesideEachOther) {
    if (!window) GTEST_SKIP();
    ImGuiWindow* root = find_window("attnscope");
    const auto place = [&](int i) {
        const ImGuiID pushed = ImHashData(&i, sizeof i, root->ID);
        return area_of(root, ImHashStr("sweep frame", 0, pushed));
    };
    for (const char* name : {"score", "normalizer"}) {
        SCOPED_TRACE(name);
        set_sweep(name);
        EXPECT_FALSE(swept().spread);
        step();
        for (int i = 0; i < static_cast<int>(swept().frames.size()); ++i) {
            const ImRect panel = place(i);
            ASSERT_GT(panel.GetWidth(), 100) << i;
            click({panel.Min.x + panel.GetWidth() / 64, panel.Max.y - panel.GetHeight() / 64});
            EXPECT_EQ(interaction().sweep_playback.frame, i);
            ASSERT_TRUE(interaction().hovered);
            EXPECT_EQ(interaction().hovered->cell.column, 0);
            const std::string value = swept().frames[static_cast<std::size_t>(i)].value;
            EXPECT_GT(area_of(root, id_of(*root, {"sweep.use", "Use " + value})).GetWidth(), 0) << value;
        }
    }
}

/// A triangle at the lower edge of a cell marks the center: of local-m on the diagonal, of functions without
/// a window nowhere.
TEST_F(SweepViewTest, TheCentersOfLocalWindowsAreMarked) {
    if (!window) GTEST_SKIP();
    set_sweep("normalizer");
    move({2, 2});
    const gl::Pixels seen = picture();
    ImGuiWindow* root = find_window("attnscope");
    int seen_functions = 0;
    for (int i = 0; i < static_cast<int>(swept().frames.size()); ++i) {
        const std::string& function = swept().frames[static_cast<std::size_t>(i)].value;
        if (function == "local-p") continue;  // its centers are anywhere
        const ImGuiID pushed = ImHashData(&i, sizeof i, root->ID);
        const ImRect panel = area_of(root, ImHashStr("sweep frame", 0, pushed));
        const float wide = panel.GetWidth() / 8, high = panel.GetHeight() / 8;
        const auto is_marked = [&](int row, int column) {
            const auto at = [&](float share) {
                return seen.at(static_cast<int>(panel.Min.x + (static_cast<float>(column) + share) * wide),
                               static_cast<int>(panel.Min.y + static_cast<float>(row + 1) * high - 3));
            };
            return at(0.5f) != at(0.85f) && at(0.5f) != at(0.15f);
        };
        for (int row = 0; row < 7; ++row) {
            EXPECT_EQ(is_marked(row, row), function == "local-m") << function << ", row " << row;
            EXPECT_FALSE(is_marked(row, row + 1)) << function << ", row " << row;
        }
        ++seen_functions;
    }
    EXPECT_EQ(seen_functions, 4);
}

TEST_F(SweepViewTest, MatricesOfDifferentSizesHaveNoMean) {
    if (!window) GTEST_SKIP();
    document().change([](Session& s) {
        s.presentation.focus("query"_stage);
        s.presentation.sweep = Sweep::dim;
    });
    settle();
    ASSERT_TRUE(document().swept());
    EXPECT_FALSE(swept().spread);
    EXPECT_GE(swept().frames.size(), 5u);
}

}  // namespace
}  // namespace attnscope
