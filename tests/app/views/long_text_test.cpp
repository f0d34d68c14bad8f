// Texts so long that their matrices are computed where they are seen: the window shows what it shows of
// others.
#include <fmt/format.h>

#include <iterator>
#include <map>
#include <mutex>
#include <regex>
#include <set>

#include "app/actions/matrix_text.h"
#include "app/document/link_finder.h"
#include "core/error.h"
#include "core/export/export.h"
#include "core/mechanism/evaluate.h"
#include "core/mechanism/mechanisms.h"
#include "core/number_text.h"
#include "core/picture/color_scale.h"
#include "core/picture/colormap.h"
#include "core/recipe/recipe.h"
#include "tests/fake_backend.h"
#include "tests/interface.h"
#include "tests/sanitized.h"
#include "tests/screen_texts.h"

namespace attnscope {
namespace {

constexpr int k_tokens = 90;
/// With these, the text of a session here is long.
constexpr OnDemandSizes k_few{.most_cells = 1000, .kept_cells = 30};

class LongTextTest : public InterfaceTest {
protected:
    static Session session_of(int tokens, const std::string& mask = "causal") {
        Session session;
        session.experiment.input.text.clear();
        for (int i = 0; i < tokens; ++i)
            session.experiment.input.text += "w" + std::to_string(i * 7 % 31) + " ";
        session.experiment.attention.projection = Projection::xavier;
        session.presentation.range = {RangeChoice::Kind::fixed, 0, 1};
        set_from_text(session, option_named("mask"), mask);
        return session;
    }
    void start_long(const Session& session) {
        how.on_demand = k_few;
        start(session);
    }
    void start_short(const Session& session) {
        how.on_demand = {};
        start(session);
    }
    void show(StageKey stage) {
        document().change([&](Session& session) { session.presentation.focus(stage); });
        settle_tiles();
    }
    /// Frames until none asks for a tile: each drops what an older one asked for and is not begun.
    void settle_tiles() {
        do settle();
        while (document().tiles().busy());
    }
    void expect_same_pictures(const Session& session, StageKey stage);
    /// The colors of the visible cells of the matrix in focus.
    std::map<std::pair<int, int>, std::uint32_t> cell_colors() {
        const gl::Pixels pixels = picture();
        std::optional<SeenMatrix> largest;
        for (const auto& each : window->host().heatmaps().drawn()) {
            const SeenMatrix seen{nullptr, each};
            if (each.rows == k_tokens && each.columns == k_tokens &&
                (!largest || seen.pitch_y() > largest->pitch_y()))
                largest = seen;
        }
        std::map<std::pair<int, int>, std::uint32_t> colors;
        for (int i = 0; largest && i < k_tokens; ++i)
            for (int j = 0; j < k_tokens; ++j) {
                const ImVec2 at = bare_point(*largest, i, j);
                if (largest->sees(at))
                    colors[{i, j}] = pixels.at(static_cast<int>(at.x), static_cast<int>(at.y)) >> 8;
            }
        return colors;
    }
    /// What the inspector, tooltips of cells, the caption of a profile and the search say, decimals cut to
    /// four digits.
    std::set<std::string> words_of_cells() {
        static const std::regex k_decimals("(\\.[0-9]{4})[0-9]+");
        const float inspector = find_window("inspector")->Pos.x;
        std::set<std::string> words;
        for (const test::ScreenText& each : test::texts_on_screen()) {
            const auto has = [&](const char* part) { return each.text.find(part) != std::string::npos; };
            if (each.box.Min.x > inspector || has("→") || has("·") || has("attendsmostto") || has("w121"))
                words.insert(std::regex_replace(each.text, k_decimals, "$1"));
        }
        return words;
    }
    /// Whether a color is one of the surfaces and lines of a closed cell.
    bool is_of_closed(std::uint32_t color) {
        const auto packed = [](Rgb8 rgb) {
            return std::uint32_t{rgb.red} << 16 | std::uint32_t{rgb.green} << 8 | std::uint32_t{rgb.blue};
        };
        const Theme& theme = theme_of(workspace->theme());
        return is_near(color, packed(theme.masked)) || is_near(color, packed(theme.hatch));
    }
    /// Rounding may move a value to the color beside its own.
    static bool is_near(std::uint32_t a, std::uint32_t b) {
        int largest = 0;
        for (int shift = 0; shift < 24; shift += 8)
            largest = std::max(
                largest, std::abs(static_cast<int>(a >> shift & 255) - static_cast<int>(b >> shift & 255)));
        return largest <= 6;
    }
};

/// Compares the picture of a stage, whole and zoomed, with that of the same stage in memory.
void LongTextTest::expect_same_pictures(const Session& session, StageKey stage) {
    std::vector<std::map<std::pair<int, int>, std::uint32_t>> pictures;
    for (const bool is_long : {false, true}) {
        is_long ? start_long(session) : start_short(session);
        ASSERT_EQ(document().trace()->is_on_demand(), is_long);
        show(stage);
        pictures.push_back(cell_colors());
        interaction().zoom = {4, 0.5, 0.5};
        settle_tiles();
        pictures.push_back(cell_colors());
    }
    for (const std::size_t picture : {0U, 1U}) {
        int compared = 0;
        for (const auto& [cell, color] : pictures[picture]) {
            const auto other = pictures[picture + 2].find(cell);
            if (other == pictures[picture + 2].end()) continue;
            ++compared;
            EXPECT_TRUE(is_near(color, other->second) || (is_of_closed(color) && is_of_closed(other->second)))
                << "picture " << picture << ": " << cell.first << " " << cell.second << " " << std::hex
                << color << " " << other->second;
        }
        EXPECT_GT(compared, picture == 0 ? 8000 : 300);
    }
}

TEST_F(LongTextTest, EveryMatrixOfPairsLooksAsOneInMemory) {
    if (!window) return;
    std::size_t row = 0;
    for (const char* mask : {"none", "causal", "window:9,4"}) {
        for (const StageKey stage :
             {StageKey("scores"_stage), StageKey("scaled"_stage), StageKey("mask"_stage),
              StageKey("masked"_stage), StageKey("weights"_stage)}) {
            if (!test::is_visited(row++, 4)) continue;  // each mask, and stages before and after it
            SCOPED_TRACE(std::string(mask) + " " + stage_name(stage));
            expect_same_pictures(session_of(k_tokens, mask), stage);
        }
    }
}

TEST_F(LongTextTest, TheMeanOverHeadsLooksAsOneInMemory) {
    if (!window) return;
    Session session = session_of(k_tokens, "causal");
    session.experiment.attention.heads = 4;
    session.presentation.head = {HeadChoice::Kind::mean};
    for (const StageKey stage : {StageKey("scaled"_stage), StageKey("weights"_stage)}) {
        SCOPED_TRACE(stage_name(stage));
        expect_same_pictures(session, stage);
    }
}

/// 1600 tokens on fewer pixels: every pixel has the color of the mean, or of the strongest, of a block.
TEST_F(LongTextTest, CellsOfManyPairsShowTheirStrongestOrTheirMean) {
    if (!window) return;
    constexpr int k_many = 1600;
    constexpr double k_largest = 0.002;
    Session session = session_of(k_many, "none");
    session.presentation.range = {RangeChoice::Kind::fixed, 0, k_largest};
    start_long(session);
    show("weights"_stage);
    const auto share_of_blocks = [&](Pool pool) {
        const gl::Pixels pixels = picture();
        const std::span<const HeatmapRenderer::Drawn> drawn = window->host().heatmaps().drawn();
        const SeenMatrix seen{nullptr, *std::ranges::max_element(drawn, {}, [](const auto& each) {
                                  return each.rows == k_many && each.columns == k_many
                                             ? each.bottom_right.y - each.top_left.y
                                             : 0;
                              })};
        const ColorScale scale{&colormap_of(session.presentation.colormap), 0, k_largest};
        double most = 0;
        for (const int level : {1, 2, 3, 4}) {
            const int blocks = pooled_size(k_many, level);
            const Matrix values = document()
                                      .trace()
                                      ->find("weights"_stage)
                                      ->buffer.on_demand()
                                      ->tile(0, level, pool, {0, 0, blocks, blocks}, {});
            int as_expected = 0;
            constexpr int k_points = 40;
            for (int i = 0; i < k_points; ++i)
                for (int j = 0; j < k_points; ++j) {
                    // A pixel that holds the middle of a block of eight, which is wider than a pixel, shows
                    // that one.
                    const int row = k_many * i / k_points / 8 * 8 + 4,
                              column = k_many * j / k_points / 8 * 8 + 4;
                    const ImVec2 at = seen.at(column + 0.5f, row + 0.5f);
                    const Rgb8 color = scale.color(values(row >> level, column >> level));
                    const std::uint32_t expected =
                        std::uint32_t{color.red} << 16 | std::uint32_t{color.green} << 8 | color.blue;
                    as_expected +=
                        is_near(pixels.at(static_cast<int>(at.x), static_cast<int>(at.y)) >> 8, expected);
                }
            most = std::max(most, as_expected / double(k_points * k_points));
        }
        return most;
    };
    constexpr double k_nearly_all = 0.95, k_few_of_them = 0.5;
    EXPECT_GT(share_of_blocks(Pool::dominant), k_nearly_all);
    EXPECT_LT(share_of_blocks(Pool::mean), k_few_of_them);
    document().change([](Session& s) { s.presentation.pooling = Pool::mean; });
    settle_tiles();
    EXPECT_GT(share_of_blocks(Pool::mean), k_nearly_all);
    EXPECT_LT(share_of_blocks(Pool::dominant), k_few_of_them);
}

TEST_F(LongTextTest, WhatTakesEveryPairIsRefusedInALine) {
    if (!window) return;
    start_long(session_of(k_tokens));
    const Trace& trace = *document().trace();
    const auto problem = [](const auto& act) -> std::string {
        try {
            act();
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(problem([&] { recipe(trace); }),
              "a script would compute 90 × 90 pairs at once: shorten the text to 4096 tokens");
    EXPECT_EQ(problem([&] {
                  plan_export(trace, {.stages = {}, .head = {}, .view = ViewKind::lines, .view_alone = true});
              }),
              "the view lines is for up to 4096 tokens, and this text is longer");
    EXPECT_EQ(problem([&] {
                  plan_export(trace, {.stages = {"weights"}, .head = {}, .compose = Compose::operands});
              }),
              "pictures with operands are for up to 4096 tokens, and this text is longer");
    show("context"_stage);
    EXPECT_NE(problem([&] { focused_matrix_text(trace, document().presentation()); }), "");
    const Action& parity = *find_action("compute.parity");
    EXPECT_NE(parity.why_not, nullptr);
}

TEST_F(LongTextTest, AMaskIsNotPainted) {
    if (!window) return;
    start_long(session_of(k_tokens));
    show("mask"_stage);
    const Experiment before = document().experiment();
    click({900, 800});
    drag({850, 780}, {40, 30});
    EXPECT_EQ(document().experiment(), before);
    EXPECT_TRUE(document().presentation().locked) << "a click locks the cell";
}

/// A survey of the mask keeps blocks of 512 × 512 pairs; tiles of finer ones, of 2³² pairs, come from rules.
TEST_F(LongTextTest, AMaskOfAVeryLongTextIsSharpAtEveryLevel) {
    Session session = session_of(300000);
    session.presentation.focus("mask"_stage);
    start(session);
    settle_tiles();
    const StagePtr mask = document().trace()->stage("mask"_stage);
    ASSERT_EQ(mask->buffer.on_demand()->first_kept_level(), 9);
    interaction().zoom = {4, 0.5, 0.5};
    settle_tiles();
    const TileRequest middle{.stage = mask,
                             .head = 0,
                             .what = TileRequest::What::tile,
                             .level = 8,
                             .region = {512, 512, 256, 256},
                             .pool = Pool::dominant};
    EXPECT_TRUE(document().tiles().find(middle));
}

TEST_F(LongTextTest, BeforeTheSurveyAPreviewIsDrawn) {
    if (!window) return;
    start_long(session_of(k_tokens));
    const StagePtr weights = document().trace()->stage("weights"_stage);
    EXPECT_TRUE(weights->buffer.on_demand()->is_surveyed(0)) << "once all is settled";
    EXPECT_TRUE(document().tiles().find({weights, 0, TileRequest::What::preview})) << "it came first";
    EXPECT_EQ(document().overview_progress(), std::nullopt);
}

/// Before the survey the colors are those of the sampled rows, pooled as chosen, and no cell is blank.
TEST_F(LongTextTest, APreviewIsPooledAsChosen) {
    if (!window) return;
    how.on_demand = {.most_cells = 1000, .kept_cells = 1 << 16};  // its overview takes a while
    start(session_of(k_tokens));
    document().change([](Session& s) {
        s.experiment = session_of(20'000, "none").experiment;
        s.presentation.focus("weights"_stage);
    });
    for (int i = 0; i < 5000 && !document().overview_progress(); ++i) step();
    ASSERT_TRUE(document().overview_progress());
    document().cancel_overview();
    const StagePtr weights = document().trace()->stage("weights"_stage);
    const OnDemandValues& values = *weights->buffer.on_demand();
    EXPECT_NE(values.preview(0, 64, Pool::dominant, {}), values.preview(0, 64, Pool::mean, {}));
    for (const auto& [pool, name] : choices<Pool>()) {
        document().change([&, &pool = pool](Session& s) { s.presentation.pooling = pool; });
        settle_tiles();
        ASSERT_FALSE(weights->buffer.on_demand()->is_surveyed(0)) << name;
        const std::shared_ptr<const Matrix> preview =
            document().tiles().find(preview_of(weights, 0, document().presentation()));
        ASSERT_TRUE(preview) << name;
        EXPECT_EQ(*preview,
                  weights->buffer.on_demand()->preview(0, static_cast<int>(preview->rows()), pool, {}))
            << name;
        EXPECT_TRUE(std::ranges::any_of(
            window->host().heatmaps().drawn(),
            [&](const auto& each) { return each.owner == std::shared_ptr<const void>(preview); }))
            << name << " is drawn";
    }
}

TEST_F(LongTextTest, OtherViewsSayThatTheTextIsTooLong) {
    if (!window) return;
    start_long(session_of(k_tokens));
    for (const auto& [view, name] : choices<ViewKind>()) {
        document().change([shown = view](Session& session) { session.presentation.view = shown; });
        settle();
        const auto& drawn = window->host().heatmaps().drawn();
        step(true);
        EXPECT_FALSE(drawn.empty()) << name << ": the pipeline is shown";
    }
    EXPECT_EQ(document().survey(), nullptr);
    EXPECT_EQ(document().lines(), nullptr);
    EXPECT_EQ(document().swept(), nullptr);
}

TEST_F(LongTextTest, TheStrongestLinksAreThoseInMemory) {
    if (!window) return;
    std::vector<std::vector<Link>> links;
    for (const bool is_long : {true, false}) {
        is_long ? start_long(session_of(k_tokens)) : start_short(session_of(k_tokens));
        show("weights"_stage);
        ASSERT_TRUE(document().links());
        links.push_back(document().links()->links);
    }
    ASSERT_EQ(links[0].size(), links[1].size());
    EXPECT_EQ(links[0].size(), 50U);
    for (std::size_t i = 0; i < links[0].size(); ++i)
        EXPECT_NEAR(links[0][i].value, links[1][i].value, 1e-6) << i;
}

TEST_F(LongTextTest, TheStrongestLinksLeaveAsATable) {
    if (!window) return;
    start_long(session_of(k_tokens));
    show("weights"_stage);
    const std::shared_ptr<const FoundLinks> found = document().links();
    ASSERT_TRUE(found);
    const std::string table = links_table(*found);
    EXPECT_EQ(std::ranges::count(table, '\n'), 51) << "a line of names, and one for each";
    const Link& first = found->links.front();
    const Trace& trace = *document().trace();
    EXPECT_EQ(table.substr(0, table.find('\n', table.find('\n') + 1)),
              fmt::format("row\ttoken\tcolumn\ttoken\tvalue\n{}\t{}\t{}\t{}\t{}", first.row + 1,
                          trace.row_label(*found->of.stage, first.row), first.column + 1,
                          trace.column_label(*found->of.stage, first.column, 0), exact_text(first.value)));
}

TEST_F(LongTextTest, SampledRowsShowAContextWhoseRowsAreTooMany) {
    if (!window) return;
    Session session = session_of(2000, "none");
    start_long(session);
    show("context"_stage);
    const StagePtr context = document().trace()->stage("context"_stage);
    const TileRequest request{context, 0, TileRequest::What::preview};
    const auto sample = document().tiles().find(request);
    ASSERT_TRUE(sample);
    EXPECT_EQ(sample->rows(), 256);
    EXPECT_EQ(sample->cols(), context->shape().columns);
    const auto& drawn = window->host().heatmaps().drawn();
    step(true);
    EXPECT_TRUE(std::ranges::any_of(drawn, [&](const auto& each) {
        return each.owner == std::shared_ptr<const void>(sample) && each.rows == 256;
    })) << "and is drawn";
}

TEST_F(LongTextTest, ACanceledOverviewIsAskedForAgainOnceAnotherHeadWasShown) {
    if (!window) return;
    how.on_demand = {.most_cells = 1000, .kept_cells = 1 << 16};  // an overview in many parts, which end soon
    start(session_of(k_tokens));
    const auto show_head = [&](int head) {
        document().change([&](Session& s) { s.presentation.head = {HeadChoice::Kind::one, head}; });
    };
    document().change([](Session& s) {
        s.experiment = session_of(20'000).experiment;
        s.experiment.attention.heads = 2;
        s.presentation.focus("weights"_stage);
    });
    const auto wait_for_overview = [&] {
        for (int i = 0; i < 5000 && !document().overview_progress(); ++i) step();
        return document().overview_progress().has_value();
    };
    ASSERT_TRUE(wait_for_overview());
    document().cancel_overview();
    settle_tiles();
    const StagePtr weights = document().trace()->stage("weights"_stage);
    EXPECT_FALSE(document().overview_progress());
    EXPECT_FALSE(weights->buffer.on_demand()->is_surveyed(0));
    for (int i = 0; i < 10; ++i) step(true);
    EXPECT_FALSE(document().overview_progress()) << "not while the same is shown";
    show_head(1);
    ASSERT_TRUE(wait_for_overview());
    document().cancel_overview();
    show_head(0);
    ASSERT_TRUE(wait_for_overview()) << "another head was shown in between";
    document().cancel_overview();
    settle_tiles();
}

/// The mean over heads has an overview of its own, which is made once, whichever heads have one.
TEST_F(LongTextTest, TheMeanOverHeadsIsSurveyedOnce) {
    if (!window) return;
    Session session = session_of(k_tokens);
    session.experiment.attention.heads = 2;
    for (const bool head_is_first : {false, true}) {
        session.presentation.head = {head_is_first ? HeadChoice::Kind::one : HeadChoice::Kind::mean};
        start_long(session);
        show("weights"_stage);
        document().change([](Session& s) { s.presentation.head = {HeadChoice::Kind::mean}; });
        settle_tiles();
        const Stage& weights = *document().trace()->find("weights"_stage);
        EXPECT_EQ(weights.buffer.on_demand()->is_surveyed(0), head_is_first);
        ASSERT_TRUE(weights.buffer.known_mean());
        EXPECT_TRUE(weights.buffer.known_mean()->on_demand()->is_surveyed(0));
        EXPECT_TRUE(document().overview_on_screen()->is_surveyed);
        for (int i = 0; i < 10; ++i) {
            step(true);
            EXPECT_EQ(document().overview_progress(), std::nullopt) << "asked for again";
        }
    }
}

TEST_F(LongTextTest, ThePictureOfAllPairsReportsItsSurveyAndIsCanceledInIt) {
    EvaluateOptions few;
    few.on_demand = {.most_cells = 1000, .kept_cells = 1 << 16};
    // Tasks of a survey are of 512 rows.
    const Session session = session_of(3000, "none");
    const Trace trace = evaluate(session.experiment, {}, few);
    const StagePtr weights = trace.stage("weights"_stage);
    const ExportItem item = plan_export(trace, {.stages = {"weights"}, .head = {}}).front();
    std::mutex mutex;
    std::vector<double> parts;
    EXPECT_THROW(export_bytes(trace, session, item,
                              [&](double part) {
                                  const std::lock_guard lock(mutex);
                                  parts.push_back(part);
                                  return part < 0.4;
                              }),
                 Canceled);
    EXPECT_FALSE(weights->buffer.on_demand()->is_surveyed(0));
    parts.clear();
    EXPECT_FALSE(export_bytes(trace, session, item, [&](double part) {
                     const std::lock_guard lock(mutex);
                     parts.push_back(part);
                     return true;
                 }).empty());
    EXPECT_GE(std::ranges::count_if(parts, [](double part) { return part < 0.9; }), 4);
    EXPECT_GT(parts.back(), 0.99);
}

TEST_F(LongTextTest, WhatIsInSightIsExportedAlone) {
    if (!window) return;
    start_long(session_of(k_tokens));
    show("weights"_stage);
    press(Key::e, {.ctrl = true});
    EXPECT_FALSE(interaction().export_form.presentation.region);
    press(Key::escape);
    interaction().zoom = {5, 0.5, 0.5};
    settle_tiles();
    ASSERT_TRUE(interaction().in_sight);
    const Region seen = *interaction().in_sight;
    EXPECT_LT(seen.rows, k_tokens / 2);
    press(Key::e, {.ctrl = true});
    const std::string label = "rows " + std::to_string(seen.row + 1) + " to " +
                              std::to_string(seen.end_row()) + ", columns " +
                              std::to_string(seen.column + 1) + " to " + std::to_string(seen.end_column());
    click(place_of("Export##dialog", {"Part", label}));
    EXPECT_EQ(interaction().export_form.presentation.region, seen);
    click(place_of("Export##dialog", {"Part", "whole matrix"}));
    EXPECT_EQ(interaction().export_form.presentation.region, std::nullopt);
}

TEST_F(LongTextTest, ACellIsProvedAsInMemory) {
    if (!window) return;
    std::vector<Proof> proofs;
    for (const bool is_long : {false, true}) {
        is_long ? start_long(session_of(k_tokens)) : start_short(session_of(k_tokens));
        for (const StageKey key : {StageKey("weights"_stage), StageKey("context"_stage)}) {
            const Stage& stage = *document().trace()->find(key);
            proofs.push_back(document().proof(stage, 0, {70, 9}));
        }
    }
    for (const std::size_t i : {0U, 1U}) {
        EXPECT_NEAR(proofs[i].value, proofs[i + 2].value, 1e-5);
        EXPECT_NEAR(proofs[i].terms_sum, proofs[i + 2].terms_sum, 1e-4);
        ASSERT_EQ(proofs[i].steps.size(), proofs[i + 2].steps.size());
        EXPECT_EQ(proofs[i].terms.size(), proofs[i + 2].terms.size());
    }
}

/// The coarse picture below has blocks that reach beyond the last token, and ends there all the same.
TEST_F(LongTextTest, NothingIsDrawnBeyondTheLastToken) {
    if (!window) return;
    start_long(session_of(150));
    show("weights"_stage);
    picture();
    int below = 0;
    const StagePtr weights = document().trace()->stage("weights"_stage);
    const auto drawn = window->host().heatmaps().drawn();
    for (const auto& own : drawn) {
        if (own.owner != weights) continue;
        for (const auto& each : drawn) {
            const bool is_below = each.rows != own.rows && each.top_left.x == own.top_left.x &&
                                  each.top_left.y == own.top_left.y;
            if (!is_below) continue;
            ++below;
            EXPECT_GT(each.bottom_right.y, own.bottom_right.y + 1) << "its blocks reach beyond";
            EXPECT_LE(each.clip_max.y, own.bottom_right.y);
            EXPECT_LE(each.clip_max.x, own.bottom_right.x);
        }
    }
    EXPECT_EQ(below, 2) << "of the thumbnail and of the focus";
}

/// Whether two texts are the same, or decimal numbers that differ by one in their last digit: the order of a
/// sum decides which of the two a number is rounded to.
bool tell_the_same(const std::string& a, const std::string& b) {
    const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
    const auto digits = [&](std::string text) {
        std::erase_if(text, std::not_fn(is_digit));
        return std::stoll("0" + text);
    };
    const auto rest = [&](std::string text) {
        std::ranges::replace_if(text, is_digit, '0');
        return text;
    };
    if (a == b) return true;
    const bool are_numbers = a.size() < 16 && a.find('.') != std::string::npos && rest(a) == rest(b);
    return are_numbers && std::abs(digits(a) - digits(b)) == 1;
}

/// What a gesture shows is told in words as of a text in memory: cells under the pointer with their tokens,
/// profiles of rows, proofs, a word that is searched for.
TEST_F(LongTextTest, GesturesTellWhatTheyTellOfATextInMemory) {
    if (!window) return;
    struct Gesture {
        const char* name;
        std::function<void()> make;
        const char* tells;  ///< how a text begins that is there then
    };
    const auto zoom_in = [&](int row, int column) {
        interaction().zoom = {};
        for (int i = 0; i < 6; ++i) wheel(cell_place(row, column), 1);
        move(cell_place(row, column));
    };
    const auto show_alone = [&](StageKey stage) {
        move({2, 2});  // the pointer is over no cell
        show(stage);
    };
    const auto find = [&] {
        press(Key::f, {.ctrl = true});
        push(typing("w121"));
    };
    const std::vector<Gesture> gestures = {
        {"point at a cell", [&] { move(cell_place(40, 9)); }, "w40→w9"},
        {"lock it", [&] { click(cell_place(40, 9)); }, "w40→w9"},
        {"zoom in on it", [&] { zoom_in(40, 9); }, "w40→w9"},
        {"point beside it", [&] { move(cell_place(42, 12)); }, "w42→w12"},
        {"search for a word", find, "w121"},
        {"go to it",
         [&] {
             move({2, 2});
             press(Key::enter);
         },
         "w121→w"},
        {"its scores", [&] { show_alone("scores"_stage); }, "w121→w"},
        {"point at a score", [&] { zoom_in(121, 7); }, "w121→w7"},
        {"its context", [&] { show_alone("context"_stage); }, "w121"},
        {"point at a context", [&] { zoom_in(121, 7); }, "w121·8"},
    };
    Session session = session_of(150);
    session.experiment.input.text.clear();  // words that are not repeated: equal weights have no order
    for (int i = 0; i < 150; ++i) session.experiment.input.text += fmt::format("w{} ", i);
    session.presentation.focus("weights"_stage);
    std::vector<std::set<std::string>> told;
    for (const bool is_long : {false, true}) {
        is_long ? start_long(session) : start_short(session);
        settle_tiles();
        for (const Gesture& gesture : gestures) {
            SCOPED_TRACE(fmt::format("{}, {}", gesture.name, is_long ? "long" : "short"));
            gesture.make();
            settle_tiles();
            step(true);
            told.push_back(words_of_cells());
            EXPECT_TRUE(std::ranges::any_of(told.back(), [&](const std::string& text) {
                return text.starts_with(gesture.tells);
            })) << fmt::format("{}", fmt::join(told.back(), " "));
        }
    }
    for (std::size_t g = 0; g < gestures.size(); ++g) {
        std::vector<std::string> in_memory_alone;
        for (const std::string& text : told[g])
            if (std::ranges::none_of(told[g + gestures.size()],
                                     [&](const std::string& other) { return tell_the_same(text, other); }))
                in_memory_alone.push_back(text);
        EXPECT_EQ(fmt::format("{}", fmt::join(in_memory_alone, " ")), "") << gestures[g].name;
        EXPECT_GT(told[g].size(), 30U) << gestures[g].name;
    }
}

/// A card that computes nothing, and may complain.
class ComplainingCard : public test::FakeBackend {
public:
    std::string complaint() const override { return complains ? "the card has failed" : ""; }
    std::atomic<bool> complains = false;
};

TEST_F(LongTextTest, ACardThatFailsInAPartOfAStageIsReportedOnceThatPartIsThere) {
    const auto card = std::make_shared<ComplainingCard>();
    start_long(session_of(k_tokens));
    document().compute_on([&] { return BackendChoice{card, ""}; });
    show("scores"_stage);
    EXPECT_EQ(interaction().notice.text, "");
    card->complains = true;
    show("weights"_stage);
    EXPECT_EQ(interaction().notice.text, "the card has failed");
    interaction().notice = {};
    show("scaled"_stage);
    EXPECT_EQ(interaction().notice.text, "") << "said once";
}

}  // namespace
}  // namespace attnscope
