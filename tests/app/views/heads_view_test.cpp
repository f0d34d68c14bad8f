// The view of heads: every head of every layer, what a click does, and the order.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "app/document/heads_order.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/mechanisms.h"
#include "core/number_text.h"
#include "tests/drawn_sessions.h"
#include "tests/interface.h"
#include "tests/screen_texts.h"

namespace attnscope {
namespace {

class HeadsViewTest : public InterfaceTest {
protected:
    void open_heads(Session session) {
        start(std::move(session));
        press(Key::digit_2);
    }
    const Survey& survey() { return *document().survey(); }
    /// Every picture, in the order in which it is drawn.
    std::vector<HeatmapRenderer::Drawn> tiles() {
        step(true);
        std::vector<HeatmapRenderer::Drawn> found;
        for (const auto& each : window->host().heatmaps().drawn())
            if (std::ranges::any_of(survey().heads,
                                    [&](const SurveyedHead& head) { return head.stage == each.owner; }))
                found.push_back(each);
        return found;
    }
    static ImVec2 cell_of(const HeatmapRenderer::Drawn& drawn, int row, int column) {
        return {drawn.top_left.x + (drawn.bottom_right.x - drawn.top_left.x) *
                                       (static_cast<float>(column) + 0.5f) /
                                       static_cast<float>(drawn.columns),
                drawn.top_left.y + (drawn.bottom_right.y - drawn.top_left.y) *
                                       (static_cast<float>(row) + 0.5f) / static_cast<float>(drawn.rows)};
    }
};

TEST_F(HeadsViewTest, EveryHeadAndTheirMeanIsDrawnInOneSize) {
    open_heads(test::four_heads());
    EXPECT_EQ(document().presentation().view, ViewKind::heads);
    ASSERT_EQ(survey().heads.size(), 5u);
    const auto drawn = tiles();
    ASSERT_EQ(drawn.size(), 5u);
    for (const auto& each : drawn) {
        EXPECT_FLOAT_EQ(each.bottom_right.x - each.top_left.x, drawn[0].bottom_right.x - drawn[0].top_left.x);
        EXPECT_LE(each.bottom_right.y, 1000);
    }
}

TEST_F(HeadsViewTest, AStackHasALayerPerRow) {
    open_heads(load_example("learned-induction"));
    const auto drawn = tiles();
    const int layers = layers_of(*document().trace());
    ASSERT_EQ(drawn.size(), survey().heads.size());
    std::set<float> tops;
    for (const auto& each : drawn) tops.insert(each.top_left.y);
    EXPECT_EQ(tops.size(), static_cast<std::size_t>(layers));
}

TEST_F(HeadsViewTest, AClickShowsTheHeadEverywhereAndAShiftClickComparesIt) {
    open_heads(test::four_heads());
    auto drawn = tiles();
    click(cell_of(drawn[2], 1, 1));
    EXPECT_EQ(document().presentation().head, (HeadChoice{HeadChoice::Kind::one, 2}));
    EXPECT_EQ(survey().of.chosen, (HeadPosition{0, 2}));
    drawn = tiles();
    click(cell_of(drawn[4], 1, 1));
    EXPECT_EQ(document().presentation().head.kind, HeadChoice::Kind::mean);
    drawn = tiles();
    const ImVec2 at = cell_of(drawn[1], 1, 1);
    move(at);
    play({KeyDown{.key = Key::shift, .mods = {.shift = true}}});
    play({MouseButton{.button = 0, .down = true, .mods = {.shift = true}},
          MouseButton{.button = 0, .down = false, .mods = {.shift = true}}});
    EXPECT_EQ(document().presentation().head, (HeadChoice{HeadChoice::Kind::one, 1}));
    EXPECT_EQ(document().presentation().view, ViewKind::compare);
    ASSERT_TRUE(document().session().pinned);
    EXPECT_EQ(document().session().pinned->head.kind, HeadChoice::Kind::mean) << "what was shown before";
}

TEST_F(HeadsViewTest, ARightClickAblatesAHeadOfAttentionAlone) {
    open_heads(test::four_heads());
    const Experiment before = document().experiment();
    const ImVec2 place = cell_of(tiles()[2], 1, 1);
    const auto right_click = [&] {
        push({MouseMove{place.x, place.y}, MouseButton{.button = 1, .down = true}});
        step();
        play({MouseButton{.button = 1, .down = false}});
    };
    right_click();
    EXPECT_EQ(document().experiment().attention.ablated, (std::vector<HeadPlace>{{1, 3}}));
    const Stage* ablated = document().trace()->find("ablated"_stage);
    ASSERT_NE(ablated, nullptr);
    EXPECT_EQ(ablated->buffer.range(2).magnitude(), 0);
    EXPECT_GT(ablated->buffer.range(1).magnitude(), 0);
    step(true);
    EXPECT_TRUE(std::ranges::any_of(
        test::texts_on_screen(), [](const test::ScreenText& each) { return each.text == "head3,ablated"; }));
    right_click();
    EXPECT_EQ(document().experiment(), before);
}

TEST_F(HeadsViewTest, PointingAtACellPointsAtItInItsHead) {
    open_heads(test::four_heads());
    const auto drawn = tiles();
    move(cell_of(drawn[3], 2, 5));
    ASSERT_TRUE(interaction().hovered);
    EXPECT_EQ(interaction().hovered->cell, (Cell{2, 5}));
    EXPECT_EQ(interaction().hovered->head, 3);
    move(cell_of(drawn[4], 1, 0));
    EXPECT_EQ(interaction().hovered->head, -1) << "the mean";
}

TEST_F(HeadsViewTest, HeadsAreSortedByANumber) {
    open_heads(test::four_heads());
    for (const auto& [score, name] : choices<HeadScore>()) {
        if (!survey().heads.front().scores[static_cast<std::size_t>(score)]) continue;
        interaction().heads_order = {HeadsOrder::By::score, score};
        const auto drawn = tiles();
        ASSERT_EQ(drawn.size(), 5u);
        double before = 1e9;
        for (const auto& each : drawn) {
            move(cell_of(each, 0, 0));
            const int head = interaction().hovered->head;
            const auto found = std::ranges::find(survey().heads, HeadPosition{0, head}, &SurveyedHead::at);
            const double number = *found->scores[static_cast<std::size_t>(score)];
            EXPECT_LE(number, before) << name;
            before = number;
        }
    }
}

TEST_F(HeadsViewTest, SortedBySimilarityEveryPairOfHeadsIsComparedAndAClickChoosesOne) {
    open_heads(load_example("transformer-heads"));
    EXPECT_EQ(survey().pairs, nullptr) << "only if asked for";
    interaction().heads_order = {HeadsOrder::By::similarity};
    settle();
    ASSERT_TRUE(survey().pairs);
    const std::vector<SurveyedHead> heads = individual_heads(survey());
    ASSERT_GT(heads.size(), 3u);
    const Buffer& pairs = *survey().pairs->values;
    for (std::size_t i = 0; i < heads.size(); ++i)
        EXPECT_NEAR(pairs.at(0, static_cast<int>(i), 0),
                    similarity(*heads[i].stage, heads[i].at.head, *heads[0].stage, heads[0].at.head), 1e-6);
    step(true);
    const auto& all = window->host().heatmaps().drawn();
    const auto table =
        std::ranges::find(all, std::shared_ptr<const void>(survey().pairs), &HeatmapRenderer::Drawn::owner);
    ASSERT_NE(table, all.end());
    click(cell_of(*table, 2, 0));
    EXPECT_EQ(document().presentation().head, (HeadChoice{HeadChoice::Kind::one, heads[2].at.head}));
    EXPECT_EQ(survey().of.chosen, heads[2].at);
    EXPECT_TRUE(survey().pairs) << "kept, as the heads are the same";
}

TEST_F(HeadsViewTest, TheNumbersOfEveryHeadLeaveAsATable) {
    open_heads(load_example("transformer-heads"));
    interaction().heads_order = {HeadsOrder::By::similarity};
    settle();
    std::istringstream lines(heads_table(survey(), interaction().heads_order, document().presentation()));
    std::string line;
    std::vector<std::ptrdiff_t> tabs;
    while (std::getline(lines, line)) tabs.push_back(std::ranges::count(line, '\t'));
    ASSERT_EQ(tabs.size(), survey().heads.size() + 1);
    const auto scores = static_cast<std::ptrdiff_t>(k_head_scores),
               heads = std::ssize(individual_heads(survey()));
    EXPECT_EQ(tabs.front(), scores + 1 + heads);
    for (std::size_t i = 0; i < survey().heads.size(); ++i)
        EXPECT_EQ(tabs[i + 1],
                  scores + 1 + (in_order(survey(), interaction().heads_order)[i]->at.head < 0 ? 0 : heads));
}

TEST_F(HeadsViewTest, OneHeadAndAnEncoderAndDecoderHaveAPictureToo) {
    open_heads(load_example("scaled-dot-product"));
    EXPECT_EQ(tiles().size(), 1u);
    open_heads(load_example("bahdanau-alignment"));
    EXPECT_EQ(tiles().size(), 1u);
    EXPECT_EQ(survey().of.stage,
              info_of("alignment"_stage).name == "alignment" ? &info_of("alignment"_stage) : nullptr);
}

TEST_F(HeadsViewTest, NothingIsSurveyedWhileAnotherViewIsOpen) {
    open_heads(test::four_heads());
    ASSERT_TRUE(document().survey());
    press(Key::digit_1);
    EXPECT_FALSE(document().survey());
}

TEST_F(HeadsViewTest, WhileACellIsPointedAtEveryHeadShowsItsNumberThere) {
    open_heads(test::four_heads());
    const auto drawn = tiles();
    move(cell_of(drawn[3], 2, 5));
    step();
    const std::vector<test::ScreenText> texts = test::texts_on_screen();
    for (const SurveyedHead& head : survey().heads) {
        const Buffer& weights = head.stage->buffer;
        const float value = head.at.head < 0 ? weights.mean_at(2, 5) : weights.at(head.at.head, 2, 5);
        const auto& tile = drawn[static_cast<std::size_t>(head.at.head < 0 ? 4 : head.at.head)];
        const bool found = std::ranges::any_of(texts, [&](const test::ScreenText& text) {
            const ImVec2 at = text.box.GetCenter();
            return text.text.ends_with(reading_text(value)) && at.x > tile.top_left.x &&
                   at.x < tile.bottom_right.x && at.y > tile.bottom_right.y &&
                   at.y < tile.bottom_right.y + 24;
        });
        EXPECT_TRUE(found) << "head " << head.at.head << ": " << reading_text(value);
    }
}

TEST_F(HeadsViewTest, TheRangeThatAllShareStandsAboveThem) {
    open_heads(test::four_heads());
    const auto ends = [&] {
        std::vector<test::ScreenText> numbers;
        const float title = area_of("attnscope", {"##order"}).Min.y;
        for (const test::ScreenText& each : test::texts_on_screen()) {
            const bool above_the_tiles = each.box.Max.y < title && each.box.Min.y > title - 40;
            if (above_the_tiles && each.text.find_first_not_of("0123456789.") == std::string::npos)
                numbers.push_back(each);
        }
        std::ranges::sort(numbers, {}, [](const test::ScreenText& each) { return each.box.Min.x; });
        return numbers;
    };
    move({-10, -10});
    step(true);
    ASSERT_GE(ends().size(), 2u);
    EXPECT_EQ((ends().end() - 2)->text, "0");
    EXPECT_EQ(ends().back().text, "1");
    document().change([](Session& s) { s.presentation.range = {RangeChoice::Kind::fixed, 0.25, 0.5}; });
    settle();
    step(true);
    EXPECT_EQ((ends().end() - 2)->text, "0.25");
    EXPECT_EQ(ends().back().text, "0.5");
}

TEST_F(HeadsViewTest, BelowEachHeadStandsThePatternThatItMatchesBest) {
    Session session = load_example("designed-heads");
    session.presentation.head_names = ";;;the word before;";
    start(session, 1600, 1000);
    press(Key::digit_2);
    move({-10, -10});
    const auto drawn = tiles();
    const std::vector<test::ScreenText> texts = test::texts_on_screen();
    for (const SurveyedHead& head : survey().heads) {
        const HeadNumber number = number_of(head, HeadsOrder{});
        EXPECT_EQ(number.name, name_of(*best_pattern(head.scores)));
        std::string expected = head.at.head == 3 ? "head 4: the word before"
                                                 : fmt::format("{} {:.2f}", number.name, *number.value);
        std::erase(expected, ' ');
        const auto& tile = drawn[static_cast<std::size_t>(head.at.head < 0 ? 5 : head.at.head)];
        const bool found = std::ranges::any_of(texts, [&](const test::ScreenText& text) {
            const ImVec2 at = text.box.GetCenter();
            return text.text == expected && at.x > tile.top_left.x && at.x < tile.bottom_right.x &&
                   at.y > tile.bottom_right.y && at.y < tile.bottom_right.y + 24;
        });
        EXPECT_TRUE(found) << "head " << head.at.head << ": " << expected;
    }
    EXPECT_EQ(number_of(survey().heads[3], HeadsOrder{}).name, "previous token");
}

TEST_F(HeadsViewTest, InCellsTooSmallToOutlineACrosshairMarksThePlaceInEveryHead) {
    Session session = test::four_heads();
    std::string words;
    for (int i = 0; i < 300; ++i) words += "w" + std::to_string(i) + " ";
    session.experiment.input.text = words;
    start(std::move(session), 1100, 760);
    press(Key::digit_2);
    move({-10, -10});
    const auto drawn = tiles();
    ASSERT_EQ(drawn.size(), 5u);
    ASSERT_LT((drawn[0].bottom_right.x - drawn[0].top_left.x) / 300, 2) << "pixels of a cell";
    const gl::Pixels before = picture();
    const ImVec2 at = cell_of(drawn[1], 150, 100);
    move(at);
    const gl::Pixels after = picture();
    for (const std::size_t other : {0U, 2U, 3U, 4U}) {
        const ImVec2 middle = cell_of(drawn[other], 150, 100);
        int changed = 0;
        for (int dy = -6; dy <= 6; ++dy)
            for (int dx = -6; dx <= 6; ++dx) {
                const int x = static_cast<int>(middle.x) + dx, y = static_cast<int>(middle.y) + dy;
                changed += before.at(x, y) != after.at(x, y);
            }
        EXPECT_GE(changed, 16) << "four arms of at least four pixels, tile " << other;
    }
}

TEST_F(HeadsViewTest, TheInspectorListsTheCellInEveryHeadInTheirOrder) {
    open_heads(test::four_heads());
    const auto numbers = [&](const HeadsOrder& order) {
        interaction().heads_order = order;
        const auto drawn = tiles();
        move(cell_of(drawn[0], 2, 5));
        step();
        std::vector<std::string> names;
        const float left = find_window("/inspector_")->Pos.x;
        bool in_block = false;
        for (const test::ScreenText& text : test::texts_on_screen()) {
            if (text.box.Min.x < left) continue;
            if (text.text.starts_with("THISCELL")) in_block = true;
            if (in_block && (text.text.starts_with("head") || text.text == "mean") && names.size() < 5)
                names.push_back(text.text);
        }
        return names;
    };
    EXPECT_EQ(numbers(HeadsOrder{}), (std::vector<std::string>{"head1", "head2", "head3", "head4", "mean"}));
    std::vector<std::string> sorted;
    for (const SurveyedHead* head : in_order(survey(), {HeadsOrder::By::score, HeadScore::entropy}))
        sorted.push_back(head->at.head < 0 ? "mean" : "head" + std::to_string(head->at.head + 1));
    EXPECT_EQ(numbers({HeadsOrder::By::score, HeadScore::entropy}), sorted);
    // Each head's score, the last before the softmax, and the largest of its row stand beside its weight.
    const std::vector<test::ScreenText> texts = test::texts_on_screen();
    const auto stands_below = [&](const char* title, float value) {
        const auto head = std::ranges::find(texts, title, &test::ScreenText::text);
        return head != texts.end() && std::ranges::any_of(texts, [&](const test::ScreenText& each) {
                   return each.text == reading_text(value) && each.box.Min.y > head->box.Max.y &&
                          std::abs(each.box.Max.x - head->box.Max.x) < 4;
               });
    };
    const Buffer& scores = document().trace()->find("scaled"_stage)->buffer;
    for (int head = 0; head < 4; ++head) {
        EXPECT_TRUE(stands_below("score", scores.at(head, 2, 5))) << head;
        EXPECT_TRUE(stands_below("rowmax", scores.row(head, 2).maxCoeff())) << head;
    }
    press(Key::digit_1);
    for (const test::ScreenText& text : test::texts_on_screen())
        EXPECT_FALSE(text.text.starts_with("THISCELL")) << "only beside the view of heads";
}

}  // namespace
}  // namespace attnscope
