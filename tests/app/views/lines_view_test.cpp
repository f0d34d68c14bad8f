// The view of lines: which are drawn, what pointing and clicking at a token does, heads, the share of the
// weight.
#include <algorithm>
#include <cmath>
#include <map>

#include "core/export/export.h"
#include "core/graph/stage_table.h"
#include "core/picture/head_color.h"
#include "core/picture/mass_lines.h"
#include "core/picture/view_figure.h"
#include "tests/drawn_sessions.h"
#include "tests/interface.h"
#include "tests/sanitized.h"

namespace attnscope {
namespace {

class LinesViewTest : public InterfaceTest {
protected:
    void open_lines(Session session) {
        start(std::move(session));
        press(Key::digit_3);
    }
    /// A token that a side's column shows whole.
    ImVec2 token(const char* side, int index) {
        const ImRect area = area_of("attnscope", {side});
        const bool keys = std::string(side) == "keys";
        const Shape& shape = lines_stage(*document().trace(), document().presentation().stage)->shape();
        const int count = keys ? shape.columns : shape.rows;
        return {area.GetCenter().x, area.Min.y + (static_cast<float>(index) + 0.5f) * area.GetHeight() /
                                                     static_cast<float>(count)};
    }
    const MassLines& lines() { return document().lines()->lines; }
    const Stage& weights() { return *document().trace()->find("weights"_stage); }
    int strongest_key(int query, int head = 0) {
        Eigen::Index at = 0;
        weights().buffer.host().head(head).row(query).maxCoeff(&at);
        return static_cast<int>(at);
    }
    int strongest_query(int key, int head = 0) {
        Eigen::Index at = 0;
        weights().buffer.host().head(head).col(key).maxCoeff(&at);
        return static_cast<int>(at);
    }
    void change(const std::function<void(Session&)>& edit) {
        document().change(edit);
        settle();
    }

    /// What is seen just inside the lines' area, at a token's end of it.
    std::uint32_t end_of(const gl::Pixels& seen, const char* side, int index) {
        const ImVec2 at = token_place_[side][static_cast<std::size_t>(index)];
        return seen.at(static_cast<int>(at.x), static_cast<int>(at.y));
    }
    /// Finds where the ends of the lines are, which moves the mouse; then takes it to a place.
    void find_ends(ImVec2 then) {
        const ImRect area = area_of("attnscope", {"weight lines"});
        for (const char* side : {"queries", "keys"}) {
            const bool keys = std::string(side) == "keys";
            const Shape& shape = weights().shape();
            token_place_[side].clear();
            for (int i = 0; i < (keys ? shape.columns : shape.rows); ++i)
                token_place_[side].push_back({keys ? area.Max.x - 3 : area.Min.x + 2, token(side, i).y});
        }
        move(then);
    }
    /// For each token of a side, whether a line ends at it.
    std::vector<bool> have_ends(const gl::Pixels& seen, const char* side) {
        constexpr std::uint32_t k_background = 0x101318FFU;
        std::vector<bool> ends;
        for (std::size_t i = 0; i < token_place_[side].size(); ++i)
            ends.push_back(end_of(seen, side, static_cast<int>(i)) != k_background);
        return ends;
    }
    /// For each token of a side, whether a line ends at it by the numbers: of all lines that `belongs`
    /// selects.
    template <typename Belongs>
    std::vector<bool> expected_ends(const char* side, const Belongs& belongs) {
        std::vector<bool> ends(token_place_[side].size());
        for (const MassLine& line : lines().strongest)
            if (belongs(line))
                ends[static_cast<std::size_t>(std::string(side) == "keys" ? line.key : line.query)] = true;
        return ends;
    }
    ImVec2 nowhere() const { return {3, 500}; }

    std::map<std::string, std::vector<ImVec2>> token_place_;
};

Session peaked() {
    Session session = test::four_heads();
    session.experiment.weighting.temperature = 0.15;
    return session;
}

TEST_F(LinesViewTest, TabAndKeyOpenIt) {
    start(load_example("scaled-dot-product"));
    press(Key::digit_3);
    EXPECT_EQ(document().presentation().view, ViewKind::lines);
    press(Key::digit_1);
    click(place_of("attnscope", {"lines"}));
    EXPECT_EQ(document().presentation().view, ViewKind::lines);
    EXPECT_EQ(document().lines()->of.stage, document().trace()->stage("weights"_stage));
}

TEST_F(LinesViewTest, ADecoderWithoutAttentionHasNone) {
    start(load_example("encoder-decoder"));
    click(place_of("attnscope", {"lines"}));
    EXPECT_EQ(document().presentation().view, ViewKind::alignment);
    press(Key::digit_3);
    EXPECT_FALSE(document().lines());
    open_lines(load_example("bahdanau-alignment"));
    ASSERT_TRUE(document().lines());
    EXPECT_EQ(document().lines()->of.stage->name(), "alignment");
}

TEST_F(LinesViewTest, ALineEndsAtEveryTokenThatHasOneAndAtNoOther) {
    open_lines(peaked());
    find_ends(nowhere());
    const gl::Pixels seen = picture();
    for (const char* side : {"queries", "keys"})
        EXPECT_EQ(have_ends(seen, side), expected_ends(side, [](const MassLine&) { return true; })) << side;
}

TEST_F(LinesViewTest, PointingAtATokenKeepsItsLinesAlone) {
    open_lines(peaked());
    for (const int i : {0, 3, 6}) {
        find_ends(token("queries", i));
        ASSERT_TRUE(interaction().hovered);
        EXPECT_EQ(interaction().hovered->cell, (Cell{i, strongest_key(i)}));
        EXPECT_EQ(interaction().hovered->stage, "weights"_stage);
        gl::Pixels seen = picture();
        const auto of_query = [&](const MassLine& line) { return line.query == i; };
        EXPECT_EQ(have_ends(seen, "keys"), expected_ends("keys", of_query));
        EXPECT_EQ(have_ends(seen, "queries"), expected_ends("queries", of_query));
        find_ends(token("keys", i));
        EXPECT_EQ(interaction().hovered->cell, (Cell{strongest_query(i), i}));
        seen = picture();
        const auto of_key = [&](const MassLine& line) { return line.key == i; };
        EXPECT_EQ(have_ends(seen, "queries"), expected_ends("queries", of_key));
        EXPECT_EQ(have_ends(seen, "keys"), expected_ends("keys", of_key));
    }
}

TEST_F(LinesViewTest, AClickLocksTheStrongestCellOfATokenUntilEscape) {
    open_lines(peaked());
    click(token("queries", 4));
    EXPECT_EQ(document().presentation().locked, (Cell{4, strongest_key(4)}));
    EXPECT_EQ(document().presentation().stage, "weights"_stage);
    find_ends(nowhere());
    const auto of_query = [](const MassLine& line) { return line.query == 4; };
    EXPECT_EQ(have_ends(picture(), "keys"), expected_ends("keys", of_query)) << "the lock keeps its lines";
    click(token("keys", 2));
    EXPECT_EQ(document().presentation().locked, (Cell{strongest_query(2), 2}));
    find_ends(nowhere());
    const auto of_key = [](const MassLine& line) { return line.key == 2; };
    EXPECT_EQ(have_ends(picture(), "queries"), expected_ends("queries", of_key)) << "of the key, that is";
    press(Key::escape);
    EXPECT_FALSE(document().presentation().locked);
    EXPECT_EQ(have_ends(picture(), "queries"),
              expected_ends("queries", [](const MassLine&) { return true; }));
    click(token("queries", 1));
    click(token("queries", 1));
    EXPECT_FALSE(document().presentation().locked) << "a second click unlocks";
}

TEST_F(LinesViewTest, OfOneCellTheQueryAndTheKeyAreLockedInTurn) {
    open_lines(peaked());
    int query = -1;
    for (int i = 0; i < weights().shape().rows; ++i)
        if (strongest_query(strongest_key(i)) == i) query = i;
    ASSERT_GE(query, 0);
    const int key = strongest_key(query);
    click(token("queries", query));
    click(token("keys", key));
    EXPECT_EQ(document().presentation().locked, (Cell{query, key})) << "the same cell, of the key now";
    find_ends(nowhere());
    const auto of_key = [&](const MassLine& line) { return line.key == key; };
    EXPECT_EQ(have_ends(picture(), "queries"), expected_ends("queries", of_key));
    click(token("keys", key));
    EXPECT_FALSE(document().presentation().locked);
}

TEST_F(LinesViewTest, ALineIsItsCell) {
    Session session = peaked();
    session.experiment.weighting.normalizer = Normalization::hard;
    open_lines(std::move(session));
    for (const int i : {1, 5}) {
        const ImVec2 at{area_of("attnscope", {"weight lines"}).Min.x + 3, token("queries", i).y};
        click(at);
        EXPECT_EQ(document().presentation().locked, (Cell{i, strongest_key(i)}));
        press(Key::escape);
    }
}

TEST_F(LinesViewTest, AChipOfTheSentenceShowsItsTokensLinesOfBothSides) {
    open_lines(peaked());
    find_ends(nowhere());
    interaction().hovered_token = PointedToken{3};
    step(true);
    const gl::Pixels seen = window->pixels();
    const auto of_token = [](const MassLine& line) { return line.query == 3 || line.key == 3; };
    EXPECT_EQ(have_ends(seen, "keys"), expected_ends("keys", of_token));
    EXPECT_EQ(have_ends(seen, "queries"), expected_ends("queries", of_token));
}

TEST_F(LinesViewTest, HeadsAreAddedAndRemovedAndHaveTheirColors) {
    open_lines(peaked());
    EXPECT_EQ(lines().heads, std::vector{0});
    click(place_of("attnscope", {"head 3"}));
    EXPECT_EQ(lines().heads, (std::vector{0, 2}));
    EXPECT_EQ(document().presentation().head, (HeadChoice{HeadChoice::Kind::one, 0}));
    click(place_of("attnscope", {"head 1"}));
    EXPECT_EQ(lines().heads, std::vector{2});
    EXPECT_EQ(document().presentation().head, (HeadChoice{HeadChoice::Kind::one, 2}))
        << "the inspector proves a head that is drawn";
    click(place_of("attnscope", {"head 3"}));
    EXPECT_EQ(lines().heads, std::vector{2}) << "the last one stays";
    click(place_of("attnscope", {"mean"}));
    EXPECT_EQ(lines().heads, (std::vector{-1, 2}));
    click(place_of("attnscope", {"all heads", "all heads"}));
    EXPECT_EQ(lines().heads, (std::vector{0, 1, 2, 3}));
    click(place_of("attnscope", {"all heads", "all heads"}));
    EXPECT_EQ(lines().heads, std::vector{2});
    press(Key::down);
    EXPECT_EQ(lines().heads, std::vector{3}) << "another head is chosen";
    change([](Session& s) { s.presentation.head = {HeadChoice::Kind::mean}; });
    EXPECT_EQ(lines().heads, std::vector{-1});
    change([](Session& s) { s.presentation.head = {HeadChoice::Kind::all}; });
    EXPECT_EQ(lines().heads, (std::vector{0, 1, 2, 3}));
}

TEST_F(LinesViewTest, ALineHasTheColorOfItsHead) {
    Session session = peaked();
    session.experiment.weighting.normalizer = Normalization::hard;
    for (const int head : {0, 2}) {
        session.presentation.head = {HeadChoice::Kind::one, head};
        open_lines(session);
        find_ends(token("queries", 2));
        const Rgb8 color = head_color(theme_of(ThemeKind::dark), head, 4);
        const std::uint32_t seen = end_of(picture(), "keys", strongest_key(2, head));
        EXPECT_NEAR(static_cast<int>(seen >> 24 & 255), color.red, 3);
        EXPECT_NEAR(static_cast<int>(seen >> 16 & 255), color.green, 3);
        EXPECT_NEAR(static_cast<int>(seen >> 8 & 255), color.blue, 3);
    }
}

TEST_F(LinesViewTest, TheLinesOfTwoHeadsBetweenTheSameTokensAreBothSeen) {
    Session session = peaked();
    session.experiment.weighting.normalizer = Normalization::hard;
    open_lines(session);
    click(place_of("attnscope", {"all heads", "all heads"}));
    int query = -1, first = 0, second = 0;
    for (int i = 0; i < 8; ++i)
        for (int a = 0; a < 4; ++a)
            for (int b = 0; b < a; ++b)
                if (strongest_key(i, a) == strongest_key(i, b)) query = i, first = a, second = b;
    ASSERT_GE(query, 0) << "no two heads agree";
    find_ends(token("queries", query));
    const gl::Pixels seen = picture();
    const ImVec2 end = token_place_["keys"][static_cast<std::size_t>(strongest_key(query, first))];
    for (const int head : {first, second}) {
        const Rgb8 color = head_color(theme_of(ThemeKind::dark), head, 4);
        bool found = false;
        for (int y = -12; y <= 12; ++y) {
            const std::uint32_t pixel = seen.at(static_cast<int>(end.x), static_cast<int>(end.y) + y);
            found |= std::abs(static_cast<int>(pixel >> 24 & 255) - color.red) <= 3 &&
                     std::abs(static_cast<int>(pixel >> 16 & 255) - color.green) <= 3 &&
                     std::abs(static_cast<int>(pixel >> 8 & 255) - color.blue) <= 3;
        }
        EXPECT_TRUE(found) << head;
    }
}

TEST_F(LinesViewTest, TheMassIsDraggedAndTyped) {
    open_lines(test::four_heads());
    const std::int64_t before = lines().count;
    drag(place_of("attnscope", {"mass", "drag"}), {-120, 0});
    EXPECT_LT(document().presentation().mass, 0.9);
    EXPECT_GE(document().presentation().mass, 0.5);
    EXPECT_LT(lines().count, before);
    click(place_of("attnscope", {"mass", "drag"}));
    play(typing("62.5 %"));
    press(Key::enter);
    EXPECT_DOUBLE_EQ(document().presentation().mass, 0.625);
    EXPECT_DOUBLE_EQ(document().lines()->of.mass, 0.625);
    click(place_of("attnscope", {"mass", "drag"}));
    play(typing("100"));
    press(Key::enter);
    EXPECT_EQ(document().presentation().mass, 1);
    EXPECT_EQ(lines().count, 64) << "eight words, every pair";
    click(place_of("attnscope", {"mass", "drag"}));
    play(typing("20"));
    press(Key::enter);
    EXPECT_EQ(document().presentation().mass, 1);
    EXPECT_TRUE(interaction().notice.problem);
}

TEST_F(LinesViewTest, OfCrossAttentionTheSidesAreDifferentTokens) {
    open_lines(load_example("scalar-cross-attention"));
    EXPECT_EQ(lines().queries.size(), static_cast<std::size_t>(weights().shape().rows));
    click(token("keys", 1));
    EXPECT_EQ(document().presentation().locked, (Cell{strongest_query(1), 1}));
    Session session = test::four_heads();
    session.experiment.input.text2 = "seven words in the other sentence here now";
    open_lines(std::move(session));
    EXPECT_EQ(lines().queries, document().trace()->rows);
    EXPECT_EQ(lines().keys, document().trace()->columns);
    EXPECT_NE(lines().queries, lines().keys);
    const int last_query = weights().shape().rows - 1, last_key = weights().shape().columns - 1;
    click(token("queries", last_query));
    EXPECT_EQ(document().presentation().locked, (Cell{last_query, strongest_key(last_query)}));
    click(token("keys", last_key));
    EXPECT_EQ(document().presentation().locked, (Cell{strongest_query(last_key), last_key}));
}

TEST_F(LinesViewTest, OfACausalMaskNoLineGoesToALaterWord) {
    Session session = test::four_heads();
    session.experiment.weighting.mask = {{MaskForm::causal, {}}};
    session.presentation.mass = 1;
    open_lines(std::move(session));
    find_ends(token("queries", 2));
    std::vector<bool> expected(8);
    std::fill_n(expected.begin(), 3, true);
    EXPECT_EQ(have_ends(picture(), "keys"), expected);
}

TEST_F(LinesViewTest, AQueryWithoutAnOpenKeyIsFlagged) {
    Session session = test::four_heads();
    open_lines(session);
    const gl::Pixels open = picture();
    session.experiment.weighting.mask = {{MaskForm::valid, {0}}};
    open_lines(session);
    EXPECT_EQ(lines().masked_queries, std::vector<bool>(8, true));
    EXPECT_EQ(lines().count, 0);
    // The warning's color is seen among the queries, and was not before.
    const ImRect area = area_of("attnscope", {"queries"});
    const auto warnings = [&](const gl::Pixels& seen) {
        const Rgb8 color = theme_of(ThemeKind::dark).warning;
        const std::uint32_t wanted = static_cast<std::uint32_t>(color.red) << 24 |
                                     static_cast<std::uint32_t>(color.green) << 16 |
                                     static_cast<std::uint32_t>(color.blue) << 8 | 255;
        int count = 0;
        for (int y = static_cast<int>(area.Min.y); y < static_cast<int>(area.Max.y); ++y)
            for (int x = static_cast<int>(area.Min.x); x < static_cast<int>(area.Max.x); ++x)
                count += seen.at(x, y) == wanted;
        return count;
    };
    move(nowhere());
    EXPECT_GT(warnings(picture()), 20);
    EXPECT_EQ(warnings(open), 0);
    click(token("queries", 1));
    EXPECT_EQ(document().presentation().locked, (Cell{1, 0}));
}

TEST_F(LinesViewTest, TheStageInFocusIsShownIfItHoldsWeights) {
    Session session = test::four_heads();
    session.experiment.attention.dropout = 0.4;
    session.presentation.stage = "weights_dropped"_stage;
    open_lines(session);
    EXPECT_EQ(document().lines()->of.stage->name(), "weights_dropped");
    change([](Session& s) { s.presentation.focus("scores"_stage); });
    EXPECT_EQ(document().lines()->of.stage->name(), "weights");
    open_lines(load_example("learned-induction"));
    press(Key::page_down);
    EXPECT_EQ(document().lines()->of.stage->name(), "2.weights");
}

TEST_F(LinesViewTest, AfterAChangeTheLinesAreThoseOfTheNewTrace) {
    open_lines(test::four_heads());
    const float before = lines().largest;
    change([](Session& s) { s.experiment.weights.seed = Seed(77); });
    EXPECT_EQ(document().lines()->of.trace, document().trace());
    EXPECT_NE(lines().largest, before);
    change([](Session& s) { s.experiment.input.text = "one two"; });
    EXPECT_EQ(lines().queries.size(), 2u);
}

TEST_F(LinesViewTest, TheWheelZoomsAndZeroShowsTheWhole) {
    open_lines(test::four_heads());
    const ImVec2 at = token("queries", 6);
    wheel(at, 6);
    EXPECT_GT(interaction().zoom.factor, 2);
    click(at);
    EXPECT_EQ(document().presentation().locked->row, 6) << "what is under the mouse stays there";
    press(Key::digit_0);
    EXPECT_EQ(interaction().zoom.factor, 1);
}

TEST_F(LinesViewTest, TheKeyboardGoesFromQueryToQuery) {
    open_lines(peaked());
    ControlFocus& focus = workspace->controls().focus;
    focus.id = id_of(*find_window("attnscope"), {"weight lines"});
    step();
    for (const int query : {0, 1, 2}) {
        press(Key::down);
        EXPECT_EQ(document().presentation().locked, (Cell{query, strongest_key(query)}));
    }
    press(Key::left);
    EXPECT_EQ(document().presentation().locked, (Cell{2, std::max(0, strongest_key(2) - 1)}));
}

TEST_F(LinesViewTest, TheExportedPictureHasTheSameLines) {
    open_lines(peaked());
    change([](Session& s) { s.presentation.mass = 0.7; });
    const Trace& trace = *document().trace();
    const ViewFigure& view = *find_view_figure(ViewKind::lines);
    const Stage* stage = view.stage(trace, document().presentation().stage);
    ASSERT_EQ(stage, document().lines()->of.stage.get());
    const Figure figure = view.make(trace, *stage, document().presentation().head, document().presentation());
    ASSERT_EQ(static_cast<std::int64_t>(figure.lines->drawn.size()), lines().count);
    for (const FigureLine& line : figure.lines->drawn)
        EXPECT_TRUE(std::ranges::any_of(lines().strongest, [&](const MassLine& each) {
            return each.query == line.word && each.key == line.row;
        }));
    press(Key::e, {.ctrl = true});
    EXPECT_EQ(interaction().export_form.what, ExportForm::What::view) << "it is what is offered first";
}

TEST_F(LinesViewTest, EverySizeOfWindowAndSentenceIsDrawn) {
    for (const auto& [width, height] : {std::pair(1024, 700), std::pair(640, 400), std::pair(2560, 1440)})
        for (const int words : {1, 5, 512}) {
            if (test::k_sanitized && width > 1024) continue;
            Session session = test::four_heads();
            session.experiment.input.text.clear();
            for (int i = 0; i < words; ++i) session.experiment.input.text += " w" + std::to_string(i);
            session.presentation.view = ViewKind::lines;
            start(std::move(session), width, height);
            press(Key::down);
            picture();
            EXPECT_EQ(document().problem(), "");
        }
}

}  // namespace
}  // namespace attnscope
