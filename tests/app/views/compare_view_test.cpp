// The Compare view: what is pinned, what is live and their difference, each from its own trace.
#include <cmath>

#include "app/panels/inspector_column.h"
#include "core/graph/explain.h"
#include "core/graph/stage_table.h"
#include "core/number_text.h"
#include "core/picture/color_scale.h"
#include "core/picture/difference.h"
#include "core/session/comparisons.h"
#include "tests/drawn_sessions.h"
#include "tests/interface.h"
#include "tests/sanitized.h"
#include "tests/screen_texts.h"

namespace attnscope {
namespace {

class CompareViewTest : public InterfaceTest {
protected:
    /// Opens the view and chooses a preset by its button.
    void compare_with(const char* preset) {
        press(Key::digit_4);
        click(place_of("/invitation_", {preset, preset}));
    }
    /// A and B of the stage that is compared, and B − A, as they are drawn.
    struct Drawn {
        HeatmapRenderer::Drawn a, b, difference;
    };
    Drawn drawn() {
        step(true);
        const std::shared_ptr<const Comparison>& comparison = document().comparison();
        const auto& [a, b, key] = comparison->of;
        Drawn found{};
        int count = 0;
        for (const auto& each : window->host().heatmaps().drawn()) {
            const void* owner = each.owner.get();
            const bool is_a = owner == a.find(key) && count == 0, is_b = owner == b.find(key) && !is_a;
            if (is_a) found.a = each;
            if (is_b) found.b = each;
            if (owner == comparison->difference.get()) found.difference = each;
            count += is_a || is_b || owner == comparison->difference.get();
        }
        EXPECT_EQ(count, 3);
        return found;
    }
    static ImVec2 middle_of(const HeatmapRenderer::Drawn& drawn, int row, int column) {
        const float x = (static_cast<float>(column) + 0.5f) / static_cast<float>(drawn.columns),
                    y = (static_cast<float>(row) + 0.5f) / static_cast<float>(drawn.rows);
        return {drawn.top_left.x + x * (drawn.bottom_right.x - drawn.top_left.x),
                drawn.top_left.y + y * (drawn.bottom_right.y - drawn.top_left.y)};
    }
};

TEST_F(CompareViewTest, APresetPinsWhatIsShownAndDrawsAllThree) {
    compare_with("no scaling");
    ASSERT_TRUE(document().session().pinned);
    EXPECT_EQ(document().session().pinned->experiment.attention.scale.kind, Scale::Kind::sqrt);
    EXPECT_EQ(document().experiment().attention.scale.kind, Scale::Kind::none);
    const Drawn seen = drawn();
    EXPECT_EQ(seen.difference.rows, 8);
    // All three have cells of one size, side by side.
    EXPECT_FLOAT_EQ(seen.a.bottom_right.x - seen.a.top_left.x, seen.b.bottom_right.x - seen.b.top_left.x);
    EXPECT_FLOAT_EQ(seen.a.top_left.y, seen.difference.top_left.y);
    EXPECT_LT(seen.a.bottom_right.x, seen.b.top_left.x);
    EXPECT_LT(seen.b.bottom_right.x, seen.difference.top_left.x);
    document().undo();
    settle();
    EXPECT_FALSE(document().session().pinned);
    EXPECT_EQ(document().experiment().attention.scale.kind, Scale::Kind::sqrt);
}

TEST_F(CompareViewTest, PinningByKeyFreezesAWhileBFollowsTheSession) {
    press(Key::p);
    EXPECT_EQ(document().presentation().view, ViewKind::compare);
    const auto pinned = document().slot(SlotName::pinned)->trace;
    EXPECT_EQ(document().comparison()->first_difference(), nullptr);
    press(Key::r, {.ctrl = true});  // another seed
    EXPECT_EQ(document().slot(SlotName::pinned)->trace, pinned);
    EXPECT_EQ(document().comparison()->first_difference()->key, "embedding"_stage);
    EXPECT_EQ(document().comparison()->of.b.trace, document().trace());
    drawn();
    press(Key::x);
    EXPECT_EQ(document().experiment(), pinned->experiment) << "exchanged";
    press(Key::p, {.shift = true});
    EXPECT_FALSE(document().session().pinned);
    EXPECT_EQ(document().slot(SlotName::pinned), nullptr);
}

TEST_F(CompareViewTest, ACellIsPointedAtInAllThreeAndLockedInB) {
    compare_with("no scaling");
    const Drawn seen = drawn();
    move(middle_of(seen.a, 1, 4));
    ASSERT_TRUE(interaction().hovered);
    EXPECT_EQ(interaction().hovered->slot, SlotName::pinned);
    EXPECT_EQ(interaction().hovered->cell, (Cell{1, 4}));
    move(middle_of(seen.difference, 2, 3));
    EXPECT_EQ(interaction().hovered->slot, SlotName::live);
    EXPECT_EQ(interaction().hovered->cell, (Cell{2, 3}));
    click(middle_of(seen.a, 1, 4));
    EXPECT_EQ(document().presentation().locked, (Cell{1, 4}));
    EXPECT_EQ(document().presentation().stage, "weights"_stage);
}

TEST_F(CompareViewTest, CellsOfDifferentSentencesAreThoseOfTheSameWords) {
    Session session;
    session.experiment.input.text = "the cat sat";
    session.pinned = pinned(session);
    session.experiment.input.text = "the black cat sat";
    session.presentation.view = ViewKind::compare;
    start(session);
    const Drawn seen = drawn();
    EXPECT_EQ(seen.a.rows, 3);
    EXPECT_EQ(seen.b.rows, 4);
    click(middle_of(seen.a, 1, 2));
    EXPECT_EQ(document().presentation().locked, (Cell{2, 3})) << "cat → sat";
    click(middle_of(seen.b, 1, 1));
    EXPECT_EQ(document().presentation().locked, (Cell{1, 1})) << "black, which A has not";
}

TEST_F(CompareViewTest, AStageWithoutADifferenceSaysWhy) {
    Session session = test::four_heads();
    session.presentation.head = {HeadChoice::Kind::mean};
    session.presentation.stage = "context"_stage;
    start(std::move(session));
    press(Key::p);
    document().change([](Session& s) { s.experiment.attention.heads = 1; });
    settle();
    move({-10, -10});
    std::string all;
    for (const test::ScreenText& each : test::texts_on_screen()) all += each.text;
    EXPECT_NE(all.find("contextcannotbecompared:ithasnomeanoverheads;chooseahead"), std::string::npos);
    EXPECT_EQ(all.find("onlyBhasit"), std::string::npos) << "both have it";
}

TEST_F(CompareViewTest, ACardFocusesItsStage) {
    compare_with("no scaling");
    click(place_of("/cards_", {"card scaled"}));
    EXPECT_EQ(document().presentation().stage, "scaled"_stage);
    drawn();
    EXPECT_EQ(document().comparison()->difference->facts.key, "scaled"_stage);
}

TEST_F(CompareViewTest, TwoHeadsOfOneTraceAreCompared) {
    start(test::four_heads());
    compare_with("another head");
    EXPECT_EQ(document().session().pinned->head.head, 0);
    EXPECT_EQ(document().presentation().head.head, 1);
    const Buffer& weights = document().trace()->find("weights"_stage)->buffer;
    const Difference& difference = *document().comparison()->difference;
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j)
            EXPECT_EQ(difference.values->at(0, i, j), weights.at(1, i, j) - weights.at(0, i, j));
}

TEST_F(CompareViewTest, AScoreIsFollowedToTheWeightThatItBecomes) {
    compare_with("additive score");
    const Trace& b = *document().trace();
    for (const auto* stage :
         {"scores"_stage, "scaled"_stage, "masked"_stage, "weights"_stage, "query"_stage}) {
        SCOPED_TRACE(stage->name);
        document().change([&](Session& s) { s.presentation.lock(stage, Cell{1, 4}); });
        settle();
        move({-10, -10});
        const std::vector<test::ScreenText> texts = test::texts_on_screen();
        std::vector<float> lines;
        for (const test::ScreenText& each : texts)
            if (each.text == "becomesweight") lines.push_back(each.line);
        const bool is_of_scores = stage->role == StageRole::scores || stage->role == StageRole::masked_scores;
        ASSERT_EQ(lines.size(), is_of_scores ? 2u : 0u) << "of the cell and of its rival";
        if (!is_of_scores) continue;
        const Trace& a = *document().slot(SlotName::pinned)->trace;
        for (const Trace* side : {&a, &b}) {
            const std::string expected = value_text(side->find("weights"_stage)->buffer.at(0, 1, 4));
            EXPECT_TRUE(std::ranges::any_of(texts, [&](const test::ScreenText& each) {
                return each.text.ends_with(expected) && std::abs(each.line - lines[0]) < 8;
            })) << expected;
        }
    }
}

TEST_F(CompareViewTest, WhatAScaleDoesToTheSpreadOfAllScoresStandsBelowTheProofs) {
    start(load_example("scaled-dot-product"), 1600, 1400);
    compare_with("no scaling");
    document().change([](Session& s) { s.presentation.lock("weights"_stage, Cell{1, 4}); });
    settle();
    move({-10, -10});
    const std::vector<test::ScreenText> texts = test::texts_on_screen();
    const auto title = std::ranges::find(texts, "STANDARDDEVIATION", &test::ScreenText::text);
    ASSERT_NE(title, texts.end());
    const auto deviations = [&](StageKey key) {
        const auto& stages = document().comparison()->stages;
        return std::ranges::find(stages, key.stage,
                                 [](const StageComparison& each) { return each.key.stage; });
    };
    const auto has_line = [&](double a, double b) {
        return std::ranges::any_of(texts, [&](const test::ScreenText& of_a) {
            return of_a.text == value_text(a) && of_a.line > title->line &&
                   std::ranges::any_of(texts, [&](const test::ScreenText& of_b) {
                       return of_b.text == value_text(b) && std::abs(of_b.line - of_a.line) < 2 &&
                              of_b.box.Min.x > of_a.box.Max.x;
                   });
        });
    };
    const double of_scores = deviations("scores"_stage)->deviation_a.of_cells;
    EXPECT_TRUE(has_line(*deviations("scores"_stage)->deviation_a.of_terms,
                         *deviations("scores"_stage)->deviation_b.of_terms));
    EXPECT_TRUE(has_line(of_scores, of_scores));
    EXPECT_TRUE(has_line(of_scores / 4, of_scores)) << "A divides by √16, B does not";
}

TEST_F(CompareViewTest, TheTermsOfBothStandBelowTheirProofs) {
    using Titles = std::vector<std::string>;
    const auto titles_of = [&](const StageInfo* stage, const char* preset) {
        document().change([&](Session& s) { s.presentation.lock(stage, Cell{1, 4}); });
        settle();
        move({-10, -10});
        Titles titles;
        for (const test::ScreenText& each : test::texts_on_screen())
            if (each.text.ends_with("termbyterm") || each.text.starts_with("B:v"))
                titles.push_back(each.text);
        EXPECT_FALSE(titles.empty()) << preset;
        return titles;
    };
    compare_with("no scaling");
    EXPECT_EQ(titles_of("scaled"_stage, "no scaling"), Titles{"AandB:q·k,termbyterm"}) << "they are the same";
    document().undo();
    document().undo();
    compare_with("additive score");
    const Titles titles = titles_of("scaled"_stage, "additive score");
    ASSERT_EQ(titles.size(), 2U);
    EXPECT_EQ(titles[0], "A:q·k,termbyterm");
    EXPECT_TRUE(titles[1].starts_with("B:v_a·tanh")) << titles[1];
    // Of the 16 products of A the largest; of B all 8, v_a times a tanh.
    const Trace& b = *document().trace();
    const Proof proof = explain(b, *b.stage("scaled"_stage), 0, 1, 4);
    ASSERT_EQ(proof.terms.size(), 8U);
    const std::vector<test::ScreenText> texts = test::texts_on_screen();
    for (const ProofTerm& term : proof.terms) {
        const std::string product = fixed_text(term.product(), 3);
        EXPECT_TRUE(std::ranges::any_of(texts, [&](const test::ScreenText& each) {
            return each.text == product;
        })) << product;
    }
}

TEST_F(CompareViewTest, BesideTheScoresOfARowStandTheWeightsThatTheyBecome) {
    compare_with("additive score");
    const auto weights_beside = [&](const StageInfo* stage) {
        document().change([&](Session& s) { s.presentation.lock(stage, Cell{1, 4}); });
        settle();
        move({-10, -10});
        const std::vector<test::ScreenText> texts = test::texts_on_screen();
        const auto with = [&](const std::string& text, float right) {
            return std::ranges::count_if(texts, [&](const test::ScreenText& each) {
                return each.text == text && (right < 0 || std::abs(each.box.Max.x - right) < 4);
            });
        };
        const auto title = std::ranges::find(texts, "weightB", &test::ScreenText::text);
        EXPECT_EQ(with("weightA", -1), title == texts.end() ? 0 : 1);
        if (title == texts.end()) return 0;
        int found = 0;
        const Buffer& weights = document().trace()->find("weights"_stage)->buffer;
        for (int j = 0; j < 8; ++j) found += with(reading_text(weights.at(0, 1, j)), title->box.Max.x) > 0;
        return found;
    };
    EXPECT_EQ(weights_beside("scaled"_stage), 8);
    EXPECT_EQ(weights_beside("masked"_stage), 8);
    EXPECT_EQ(weights_beside("weights"_stage), 0) << "they are the row itself";
    EXPECT_EQ(weights_beside("query"_stage), 0);
}

TEST_F(CompareViewTest, WhereNotAllBarsFitTheLargestOfEachSideAreShown) {
    start(load_example("scaled-dot-product"), 1600, 800);
    compare_with("additive score");
    document().change([&](Session& s) { s.presentation.lock("scaled"_stage, Cell{1, 4}); });
    settle();
    move({-10, -10});
    const std::vector<test::ScreenText> texts = test::texts_on_screen();
    const auto title = std::ranges::find(texts, "weightB", &test::ScreenText::text);
    ASSERT_NE(title, texts.end());
    ASSERT_TRUE(std::ranges::any_of(texts, [](const test::ScreenText& each) {
        return each.text.find("largestof8") != std::string::npos;
    }));
    const Trace& a = *document().slot(SlotName::pinned)->trace;
    for (const Trace* side : {&a, &*document().trace()}) {
        Eigen::Index most = 0;
        const float largest = side->find("weights"_stage)->buffer.host().head(0).row(1).maxCoeff(&most);
        EXPECT_TRUE(std::ranges::any_of(texts,
                                        [&](const test::ScreenText& each) {
                                            return each.text == reading_text(largest) &&
                                                   each.box.Min.y > title->box.Max.y;
                                        }))
            << largest << " of column " << most;
    }
}

TEST_F(CompareViewTest, TwoStepsOfTrainingAreCompared) {
    start(load_example("learned-induction"), 1600, 1000);
    const int last = document().experiment().training.step;
    ASSERT_GT(last, 1);
    const Matrix trained = document().trace()->find_chosen("weights"_stage)->buffer.host().head(0);
    compare_with("half the steps");
    settle();
    ASSERT_TRUE(document().session().pinned);
    EXPECT_EQ(document().session().pinned->experiment.training.step, last);
    EXPECT_EQ(document().experiment().training.step, last / 2);
    const Trace& a = *document().slot(SlotName::pinned)->trace;
    EXPECT_EQ(a.find_chosen("weights"_stage)->buffer.host().head(0), trained);
    EXPECT_NE(document().trace()->find_chosen("weights"_stage)->buffer.host().head(0), trained);
    ASSERT_TRUE(document().comparison() && document().comparison()->difference);
    EXPECT_TRUE(document().comparison()->difference->facts.differs());
}

TEST_F(CompareViewTest, HeadsAreCalledByTheirNames) {
    start(load_example("designed-heads"), 1600, 1000);
    compare_with("another head");
    settle();
    step(true);
    const std::vector<test::ScreenText> texts = test::texts_on_screen();
    for (const char* name : {"pronoun→noun", "adjective→noun"})
        EXPECT_TRUE(std::ranges::any_of(texts, [&](const test::ScreenText& each) {
            return each.text.find(name) != std::string::npos;
        })) << name;
}

TEST_F(CompareViewTest, EveryStageOfEveryPresetIsCompared) {
    for (const char* example :
         {"scaled-dot-product", "multi-head", "image-attention", "bahdanau-alignment", "learned-induction"}) {
        std::size_t row = 0, presets = 0;
        bool is_first = true;  // the others are compared in the stage in focus
        for (const ComparisonPreset& preset : comparison_presets()) {
            auto session = with_preset(load_example(example), preset);
            if (!session || !test::is_visited(presets++, 5)) continue;
            session->presentation.view = ViewKind::compare;
            start(*session, 1024, 700);
            for (const StageComparison& stage : std::vector(document().comparison()->stages)) {
                if (!is_first && stage.key.stage != session->presentation.stage.stage) continue;
                if (!test::is_visited(row++, 4)) continue;
                document().change([&](Session& s) { s.presentation.focus(stage.key); });
                settle();
                step(true);
                const Comparison& shown = *document().comparison();
                EXPECT_EQ(shown.problem, "");
                if (!document().trace()->find_chosen(stage.key)) continue;  // A's alone
                EXPECT_EQ(shown.of.key.stage, stage.key.stage)
                    << example << ", " << preset.name << ": " << stage_name(stage.key);
                if (shown.difference) drawn();
            }
            is_first = false;
        }
    }
}

TEST_F(CompareViewTest, TheBarOfCellsThatBecomeInfiniteIsFull) {
    compare_with("causal mask");
    move({5, 500});
    const gl::Pixels pixels = picture();
    const auto texts = test::texts_on_screen();
    const auto count = std::ranges::find(texts, "28cells", &test::ScreenText::text);
    ASSERT_NE(count, texts.end());
    // Pixels in the hue of a warning below the number, in the width of a card.
    const auto bar = [&](float from, float to) {
        int most = 0;
        for (int y = static_cast<int>(count->box.Max.y) + 4; y < static_cast<int>(count->box.Max.y) + 30;
             ++y) {
            int in_line = 0;
            for (float x = from; x < to; ++x) {
                const std::uint32_t pixel = pixels.at(static_cast<int>(x), y);
                in_line += (pixel >> 24) > (pixel >> 8 & 0xFF) + 60;
            }
            most = std::max(most, in_line);
        }
        return most;
    };
    EXPECT_GT(bar(count->box.Min.x, count->box.Min.x + 70), 60);
}

TEST_F(CompareViewTest, ALockedCellHasADarkLineOnEitherSideOfItsLightOne) {
    Session session = load_example("scaled-dot-product");
    session.experiment.weighting.normalizer =
        Normalization::hard;  // weights of 1: nearly as light as the line
    start(session);
    compare_with("no scaling");
    document().change([](Session& s) { s.presentation.lock("weights"_stage, Cell{1, 4}); });
    settle();
    move({5, 500});
    const HeatmapRenderer::Drawn seen = drawn().a;
    const gl::Pixels pixels = picture();
    const float wide = (seen.bottom_right.x - seen.top_left.x) / static_cast<float>(seen.columns),
                high = (seen.bottom_right.y - seen.top_left.y) / static_cast<float>(seen.rows);
    const int y = static_cast<int>(seen.top_left.y + 1.25f * high);
    const auto light = [&](int x) { return pixels.at(x, y) >> 16 & 0xFF; };  // green
    for (const int edge : {4, 5}) {
        const int x = static_cast<int>(seen.top_left.x + static_cast<float>(edge) * wide);
        int line = x - 4;
        for (int at = x - 4; at <= x + 4; ++at)
            if (light(at) > light(line) && (pixels.at(at, y) >> 8 & 0xFF) > 200)
                line = at;  // white, not yellow
        const int inside = edge == 4 ? 1 : -1;
        EXPECT_LT(std::min(light(line + inside), light(line + 2 * inside)), 90u) << "edge " << edge;
    }
}

TEST_F(CompareViewTest, TheCellsOfTheDifferenceHaveItsColors) {
    compare_with("no scaling");
    const HeatmapRenderer::Drawn seen = drawn().difference;
    const Difference& difference = *document().comparison()->difference;
    const double magnitude = difference.values->range(0).magnitude();
    const ColorScale scale{&diverging_colormap(), -magnitude, magnitude};
    move({5, 500});  // lights nothing
    const gl::Pixels pixels = picture();
    for (int i = 2; i < 8; ++i)  // below the locked row, which has outlines
        for (int j = 0; j < 8; ++j) {
            const ImVec2 at = middle_of(seen, i, j);
            const float up = (seen.bottom_right.y - seen.top_left.y) / 8 * 0.38f;  // above the number
            const Rgb8 color = scale.color(difference.values->at(0, i, j));
            const auto wanted = static_cast<std::uint32_t>(color.red) << 24 |
                                static_cast<std::uint32_t>(color.green) << 16 |
                                static_cast<std::uint32_t>(color.blue) << 8 | 0xFFU;
            EXPECT_EQ(pixels.at(static_cast<int>(at.x), static_cast<int>(at.y - up)), wanted)
                << i << ", " << j;
        }
}

}  // namespace
}  // namespace attnscope
