// The view of steps: playing, stepping and scrubbing, the query, the key, and what its bars show.
#include <cmath>
#include <set>

#include "app/document/inspected.h"
#include "core/graph/row_steps.h"
#include "core/graph/stage_table.h"
#include "core/number_text.h"
#include "core/picture/step_sheet.h"
#include "tests/drawn_sessions.h"
#include "tests/interface.h"
#include "tests/sanitized.h"
#include "tests/screen_texts.h"

namespace attnscope {
namespace {

class StepViewTest : public InterfaceTest {
protected:
    void open_steps(Session session = load_example("scaled-dot-product"), int width = 1600,
                    int height = 1000) {
        start(std::move(session), width, height);
        press(Key::digit_6);
    }
    StepPlayback& playback() { return interaction().step_playback; }
    void wait(double seconds) {
        constexpr double frame = 0.05;
        for (int i = 0; i < static_cast<int>(std::ceil(seconds / frame)); ++i) step(false, frame);
    }
    ImRect column(int index) { return area_of("attnscope", {"step " + std::to_string(index)}); }
    const Stage& weights() { return *document().trace()->find("weights"_stage); }
    /// A place within a column's bars of a key, which are below the middle of its line.
    ImVec2 in_bar(const ImRect& of, int key, int keys, float share) {
        const float pitch = of.GetHeight() / static_cast<float>(keys), pad = 6;
        return {of.Min.x + pad + share * (of.GetWidth() - 2 * pad),
                of.Min.y + (static_cast<float>(key) + 0.5f) * pitch + 6};
    }
    void change(const std::function<void(Session&)>& edit) {
        document().change(edit);
        settle();
    }
};

const char* const k_back = "− 1";
const char* const k_forward = "+ 1";
const char* const k_play = "Play";
constexpr int k_weights_column = 5;  ///< after scores, scaled, masked, − row max, exp
constexpr int k_products_column = 6;

TEST_F(StepViewTest, SpacePlaysFromTheStartToTheEndAndPauses) {
    open_steps();
    EXPECT_EQ(playback().steps, 8);
    EXPECT_EQ(playback().shown(), 8);
    press(Key::space);
    EXPECT_TRUE(playback().playing);
    wait(1);
    const double later = playback().shown();
    EXPECT_GT(later, 0);
    EXPECT_LT(later, 1);
    press(Key::space);
    const double paused = playback().shown();
    wait(1);
    EXPECT_EQ(playback().shown(), paused);
    press(Key::space);
    wait(10);
    EXPECT_FALSE(playback().playing);
    EXPECT_EQ(playback().shown(), 8);
    EXPECT_TRUE(workspace->document().trace());
}

TEST_F(StepViewTest, TheWindowRestsUnlessItPlays) {
    open_steps();
    EXPECT_FALSE(callbacks.wants_redraw());
    push(pressing(Key::space, {}));
    step_through_input();
    EXPECT_TRUE(callbacks.wants_redraw());
}

TEST_F(StepViewTest, ArrowsTakeStepsAndChooseTheQuery) {
    open_steps();
    press(Key::left);
    EXPECT_EQ(playback().shown(), 7);
    press(Key::left);
    EXPECT_EQ(playback().shown(), 6);
    press(Key::right);
    EXPECT_EQ(playback().shown(), 7);
    press(Key::down);
    press(Key::down);
    EXPECT_EQ(document().presentation().locked->row, 2);
    EXPECT_EQ(playback().shown(), 7) << "another query keeps the step";
    press(Key::up);
    EXPECT_EQ(document().presentation().locked->row, 1);
}

TEST_F(StepViewTest, ButtonsAndScrubBarGoToSteps) {
    open_steps();
    click(place_of("attnscope", {"step.back", k_back}));
    EXPECT_EQ(playback().shown(), 7);
    click(place_of("attnscope", {"step.forward", k_forward}));
    EXPECT_EQ(playback().shown(), 8);
    const ImRect bar = area_of("attnscope", {"scrub steps"});
    const auto at = [&](double position) {
        return ImVec2{bar.Min.x + 6 + static_cast<float>(position / 8) * (bar.GetWidth() - 12),
                      bar.GetCenter().y};
    };
    click(at(3.1));
    EXPECT_EQ(playback().shown(), 3);
    click(at(0.5));
    EXPECT_DOUBLE_EQ(playback().shown(), 0.5) << "term 8 of 16";
    click(place_of("attnscope", {"step.play", k_play}));
    EXPECT_TRUE(playback().playing);
}

TEST_F(StepViewTest, AQueryThatIsChosenLocksItsStrongestKey) {
    open_steps();
    for (const int query : {3, 6}) {
        click(place_of("attnscope", {"query " + std::to_string(query)}));
        int key = 0;
        weights().buffer.row(0, query).maxCoeff(&key);
        EXPECT_EQ(document().presentation().locked, (Cell{query, key}));
        EXPECT_EQ(document().presentation().view, ViewKind::step);
    }
}

TEST_F(StepViewTest, AColumnsKeyIsTheCellOfItsStage) {
    open_steps();
    const char* const stages[] = {"scores", "scaled", "masked", "weights", "weights", "weights"};
    for (int index = 0; index <= k_weights_column; ++index) {
        move(in_bar(column(index), 4, 8, 0.5f));
        ASSERT_TRUE(interaction().hovered) << index;
        EXPECT_EQ(stage_name(interaction().hovered->stage), stages[index]);
        EXPECT_EQ(interaction().hovered->cell, (Cell{0, 4}));
    }
    click(in_bar(column(k_weights_column), 2, 8, 0.5f));
    EXPECT_EQ(inspected_cell(document(), interaction())->cell, (Cell{0, 2}));
}

/// Whatever the temperature, a weight of 0.5 is half as long as the column is wide.
TEST_F(StepViewTest, BarsOfWeightsAreOnAFixedRange) {
    open_steps();
    for (const double temperature : {1.0, 4.0, 20.0}) {
        change([&](Session& s) {
            s.experiment.weighting.temperature = temperature;
            s.presentation.lock("weights"_stage, Cell{1, 4});
        });
        const ImRect place = column(k_weights_column);
        move({2, 2});
        const gl::Pixels seen = picture();
        const auto at = [&](float share) {
            const ImVec2 p = in_bar(place, 4, 8, share);
            return seen.at(static_cast<int>(p.x), static_cast<int>(p.y));
        };
        const float weight = weights().buffer.at(0, 1, 4);
        ASSERT_GT(weight, 0.1f);
        EXPECT_EQ(at(weight - 0.03f), at(0.02f)) << temperature << ": the bar reaches the weight, " << weight;
        EXPECT_NE(at(weight + 0.03f), at(0.02f)) << temperature << ": and ends there";
    }
}

/// “to” is 0.550 V(translate) + 0.449 V(to): in a feature each hangs below or stands above its line as far as
/// its share of the range, before the shadow of the whole value; what has no weight has a shadow alone.
TEST_F(StepViewTest, ProductsAreBarsOnTheRangeOfTheirSumWithTheLockedFeatureOutlined) {
    open_steps();
    constexpr int k_translate = 5, k_locked = 5;
    change([&](Session& s) { s.presentation.lock("context"_stage, Cell{4, k_locked}); });
    const Trace& trace = *document().trace();
    const RowSteps row = row_steps(trace, weights(), 0, 4);
    const double largest = step_ranges(row).back().max;
    const std::vector<double> products = weighted_value(row, k_translate),
                              values = value_of_key(row, k_translate);
    const ImRect place = column(k_products_column);
    move({2, 2});
    const gl::Pixels seen = picture();
    const float pitch = place.GetHeight() / 8, wide = (place.GetWidth() - 12) / 16,
                half = std::min(48.0f, pitch - 3) / 2 - 1;
    // `up` from the line of a key, in a feature, a third into its bar.
    const auto at = [&](int key, int feature, float up) {
        const float x = place.Min.x + 6 + (static_cast<float>(feature) + 0.33f) * wide,
                    y = place.Min.y + (static_cast<float>(key) + 0.5f) * pitch - up;
        return seen.at(static_cast<int>(x), static_cast<int>(y));
    };
    int bars = 0, shadows = 0;
    for (int k = 0; k < 16; ++k) {
        const auto length = static_cast<float>(products[static_cast<std::size_t>(k)] / largest) * half;
        if (k == k_locked || std::abs(length) < 5) continue;
        SCOPED_TRACE(k);
        const float outward = length > 0 ? 1 : -1;
        const std::uint32_t background = at(k_translate, k, -outward * 6);
        EXPECT_NE(at(k_translate, k, length - 2 * outward), background) << "the bar reaches its number";
        EXPECT_NE(at(k_translate, k, length + 2 * outward), at(k_translate, k, length - 2 * outward))
            << "and ends there";
        ++bars;
        const auto length_of = [&](double value) { return static_cast<float>(value / largest) * half; };
        const float whole = length_of(values[static_cast<std::size_t>(k)]);
        if (std::abs(whole - length) < 6) continue;
        const std::uint32_t shadow = at(k_translate, k, length + 2 * outward);
        EXPECT_NE(shadow, background) << "where the shadow of the value goes on";
        EXPECT_EQ(at(k_translate, k, whole - 2 * outward), shadow);
        EXPECT_EQ(at(k_translate, k, whole + 2 * outward), background) << "and ends, too";
        ++shadows;
        const float of_can = length_of(value_of_key(row, 0)[static_cast<std::size_t>(k)]);
        if (std::abs(of_can) < 6) continue;
        EXPECT_EQ(at(0, k, of_can > 0 ? 4 : -4), shadow) << "“Can” has no weight";
    }
    EXPECT_GE(shadows, 2);
    EXPECT_GT(bars, 4);
    // Below them their sum, with bars as long for the same number.
    const auto at_sum = [&](int feature, float up) {
        const float x = place.Min.x + 6 + (static_cast<float>(feature) + 0.33f) * wide;
        return seen.at(static_cast<int>(x), static_cast<int>(place.Max.y + 30 - up));
    };
    for (int k = 0; k < 16; ++k) {
        const auto length =
            static_cast<float>(row.steps.back().numbers[static_cast<std::size_t>(k)] / largest) * half;
        if (k == k_locked || std::abs(length) < 5) continue;
        const float outward = length > 0 ? 1 : -1;
        const std::uint32_t nothing = at_sum(k, -outward * 6);
        EXPECT_NE(at_sum(k, length - 2 * outward), nothing) << k;
        EXPECT_EQ(at_sum(k, length + 2 * outward), nothing) << k;
    }
    // At the edge of the first key's row nothing is drawn but the outline.
    std::set<int> outlined;
    const int y = static_cast<int>(place.Min.y + 6), x0 = static_cast<int>(place.Min.x + 8);
    const std::uint32_t background = seen.at(x0, y);
    for (int x = x0; x < static_cast<int>(place.Max.x - 8); ++x)
        if (seen.at(x, y) != background)
            outlined.insert(
                static_cast<int>(std::floor((static_cast<float>(x) - place.Min.x - 6) / wide + 0.5f)));
    EXPECT_EQ(outlined, (std::set{k_locked, k_locked + 1})) << "its left and its right edge";
    // No key is outlined, as each adds to the feature: pixels in the hue of the accent at the edge of a row.
    const auto outlines = [&](const gl::Pixels& pixels) {
        int count = 0;
        for (const int key : {k_translate, k_translate + 1})
            for (int dy = -1; dy <= 1; ++dy)
                for (int x = x0; x < static_cast<int>(place.Max.x - 8); ++x) {
                    const std::uint32_t pixel =
                        pixels.at(x, static_cast<int>(place.Min.y + static_cast<float>(key) * pitch) + dy);
                    count += (pixel >> 8 & 0xFF) > (pixel >> 24) + 20;
                }
        return count;
    };
    EXPECT_EQ(outlines(seen), 0);
    change([&](Session& s) { s.presentation.lock("weights"_stage, Cell{4, k_translate}); });
    move({2, 2});
    EXPECT_GT(outlines(picture()), 50) << "while a locked key is";
}

/// Below the columns the score of the key is added up; once the context is in focus, the feature that is
/// locked.
TEST_F(StepViewTest, WhatIsAddedUpIsTheScoreOrTheFeatureInFocus) {
    open_steps();
    const auto shows = [&](std::string text) {
        std::erase(text, ' ');
        return std::ranges::any_of(test::texts_on_screen(), [&](const test::ScreenText& each) {
            return each.text.find(text) != std::string::npos;
        });
    };
    const std::string of_feature = "Feature 3 of the context: weight × value, token by token";
    change([](Session& s) { s.presentation.lock("weights"_stage, Cell{4, 5}); });
    move({2, 2});
    step(true);
    EXPECT_TRUE(shows("“translate”: q · k, term by term"));
    EXPECT_FALSE(shows(of_feature));
    change([](Session& s) { s.presentation.lock("context"_stage, Cell{4, 2}); });
    step(true);
    EXPECT_TRUE(shows(of_feature));
    const float sum = document().trace()->find("context"_stage)->buffer.at(0, 4, 2);
    EXPECT_TRUE(shows("= " + cell_text(sum))) << sum;
    playback().go_to(7);
    move({2, 2});
    step(true);
    EXPECT_FALSE(shows(of_feature)) << "the sum is not taken yet";
}

TEST_F(StepViewTest, NothingIsShownOfAStepThatIsNotTaken) {
    open_steps();
    change([](Session& s) { s.presentation.lock("weights"_stage, Cell{1, 4}); });
    const ImRect place = column(k_weights_column);
    const ImVec2 p = in_bar(place, 4, 8, 0.3f);
    playback().go_to(5);
    move({2, 2});
    const std::uint32_t before = picture().at(static_cast<int>(p.x), static_cast<int>(p.y));
    playback().go_to(6);
    EXPECT_NE(picture().at(static_cast<int>(p.x), static_cast<int>(p.y)), before);
}

TEST_F(StepViewTest, AMeanIsNotComputedStepByStep) {
    open_steps(test::four_heads());
    EXPECT_GT(playback().steps, 0);
    press(Key::space);
    change([](Session& s) { s.presentation.head = {HeadChoice::Kind::mean}; });
    step();
    EXPECT_FALSE(playback().playing);
    press(Key::space);
    EXPECT_FALSE(playback().playing);
}

TEST_F(StepViewTest, ALongRowScrollsToTheKeyThatIsChosen) {
    Session session = load_example("scaled-dot-product");
    session.experiment.input.text.clear();
    for (int i = 0; i < 300; ++i) session.experiment.input.text += "w" + std::to_string(i) + " ";
    open_steps(session);
    change([](Session& s) { s.presentation.lock("weights"_stage, Cell{10, 250}); });
    const int first = playback().first_key;
    EXPECT_LE(first, 250);
    EXPECT_GT(first, 200);
    wheel(column(0).GetCenter(), 3);
    EXPECT_EQ(playback().first_key, first - 9);
}

TEST_F(StepViewTest, EveryExampleOfAttentionHasStepsAndPlaysThemInSmallWindows) {
    std::set<std::string> without;
    std::size_t row = 0;
    for (const std::string& example : example_names()) {
        if (example != "encoder-decoder" && !test::is_visited(row++, 5)) continue;
        open_steps(load_example(example), 1024, 700);
        const auto weights_of = last_weights(*document().trace(), 1);
        if (!weights_of) without.insert(example);
        if (!weights_of || document().presentation().view != ViewKind::step) continue;
        const bool mean =
            weights_of->shape().heads > 1 &&
            head_on_screen(*weights_of, document().presentation().head).kind == HeadChoice::Kind::mean;
        if (mean) continue;
        press(Key::space);
        EXPECT_TRUE(playback().playing) << example;
        wait(12);
        EXPECT_EQ(playback().shown(), playback().steps) << example;
        EXPECT_GT(playback().steps, 2) << example;
    }
    EXPECT_EQ(without, std::set<std::string>{"encoder-decoder"}) << "the one without attention";
}

}  // namespace
}  // namespace attnscope
