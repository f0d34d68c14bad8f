#include "core/picture/mass_lines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "core/picture/head_color.h"
#include "core/session/examples.h"
#include "tests/drawn_sessions.h"

namespace attnscope {
namespace {

std::vector<int> kept(const std::vector<float>& row, double mass) {
    const MassCutoff cutoff = mass_cutoff(row, mass);
    std::vector<int> columns;
    for (int j = 0; j < static_cast<int>(row.size()); ++j)
        if (cutoff.keeps(row[static_cast<std::size_t>(j)], j)) columns.push_back(j);
    return columns;
}

/// Takes one weight after the other, always the largest that is left and of equal ones the leftmost, until
/// they make up enough.
std::vector<int> taken_one_by_one(const std::vector<float>& row, double mass) {
    double total = 0, sum = 0;
    std::vector<float> left = row;
    for (float& value : left) {
        if (!std::isfinite(value) || value < 0) value = 0;
        total += value;
    }
    std::vector<int> columns;
    while (columns.size() < row.size()) {
        const auto at = std::ranges::max_element(left) - left.begin();
        const float largest = left[static_cast<std::size_t>(at)];
        if (largest <= 0 || (!columns.empty() && mass < 1 && sum >= mass * total - 1e-12)) break;
        sum += largest;
        left[static_cast<std::size_t>(at)] = 0;
        columns.push_back(static_cast<int>(at));
    }
    std::ranges::sort(columns);
    return columns;
}

TEST(MassCutoffTest, KeepsAsManyAsTakingTheLargestOneByOneDoes) {
    std::mt19937 random(7);
    for (int round = 0; round < 400; ++round) {
        std::vector<float> row(1 + random() % 40);
        // Few different values, so that many are equal; sixteenths are summed without rounding.
        for (float& value : row) value = static_cast<float>(random() % 9) / 16;
        for (const double mass : {0.5, 0.75, 0.9, 0.99, 1.0})
            EXPECT_EQ(kept(row, mass), taken_one_by_one(row, mass)) << round << " " << mass;
    }
}

TEST(MassCutoffTest, TheKeptMakeUpTheMassAndOneLessWouldNot) {
    std::mt19937 random(11);
    std::exponential_distribution<float> drawn(1);
    for (int round = 0; round < 100; ++round) {
        std::vector<float> row(60);
        double total = 0;
        for (float& value : row) total += value = drawn(random);
        for (const double mass : {0.5, 0.62, 0.9, 0.97}) {
            double sum = 0, least = 1e9, left_out = 0;
            const std::vector<int> columns = kept(row, mass);
            for (int j = 0; j < 60; ++j) {
                const double value = row[static_cast<std::size_t>(j)];
                const bool is_kept = std::ranges::binary_search(columns, j);
                if (is_kept) sum += value, least = std::min(least, value);
                if (!is_kept) left_out = std::max(left_out, value);
            }
            EXPECT_GE(sum, mass * total - 1e-9);
            EXPECT_LT(sum - least, mass * total + 1e-9);
            EXPECT_LE(left_out, least);
        }
    }
}

TEST(MassCutoffTest, ValuesThatAreNotWeightsAreNeverKept) {
    const std::vector<float> row = {0, -1, std::nanf(""), INFINITY, 0.25f, -INFINITY, 0.75f};
    EXPECT_EQ(kept(row, 1), (std::vector{4, 6}));
    EXPECT_EQ(kept(row, 0.7), (std::vector{6}));
    EXPECT_EQ(kept({0, 0, 0}, 1), std::vector<int>{});
    EXPECT_EQ(kept({}, 0.9), std::vector<int>{});
    EXPECT_EQ(kept({0, 1, 0}, 0.5), std::vector{1});
    EXPECT_EQ(kept({1, 1e-12f}, 1), (std::vector{0, 1})) << "with the whole mass every weight is kept";
}

TEST(MassLinesTest, EveryLineIsAKeptWeightOfItsHead) {
    const Trace trace = evaluate(test::four_heads().experiment);
    const Stage& stage = *trace.find("weights"_stage);
    for (const std::vector<int>& heads : {std::vector{2}, std::vector{0, 3}, std::vector{-1, 1}}) {
        const MassLines lines = find_mass_lines(trace, stage, heads, 0.8);
        std::set<std::tuple<int, int, int>> expected;
        for (const int head : heads)
            for (int i = 0; i < stage.shape().rows; ++i) {
                const Eigen::RowVectorXf row =
                    head < 0 ? stage.buffer.mean_row(i) : stage.buffer.row(head, i);
                for (const int j : taken_one_by_one({row.begin(), row.end()}, 0.8))
                    expected.insert({head, i, j});
            }
        std::set<std::tuple<int, int, int>> found;
        for (const MassLine& line : lines.strongest) {
            found.insert({line.head, line.query, line.key});
            const Buffer& from = line.head < 0 ? stage.buffer.mean() : stage.buffer;
            EXPECT_EQ(line.weight, from.at(std::max(line.head, 0), line.query, line.key));
        }
        EXPECT_EQ(found, expected);
        EXPECT_EQ(lines.count, static_cast<std::int64_t>(expected.size()));
        EXPECT_TRUE(std::ranges::is_sorted(lines.strongest, std::greater{}, &MassLine::weight));
        EXPECT_EQ(lines.largest, lines.strongest.front().weight);
        EXPECT_EQ(lines.queries, trace.rows);
    }
}

TEST(MassLinesTest, ThoseOfATokenAreAllOfItsLinesAndNoOthers) {
    const Trace trace = evaluate(test::four_heads().experiment);
    const Stage& stage = *trace.find("weights"_stage);
    const MassLines lines = find_mass_lines(trace, stage, {0, 1, -1}, 0.7);
    const auto expect_same = [&](std::vector<MassLine> found, const auto& belongs) {
        EXPECT_TRUE(std::ranges::is_sorted(found, std::less{}, &MassLine::weight));
        std::vector<MassLine> expected;
        std::ranges::copy_if(lines.strongest, std::back_inserter(expected), belongs);
        EXPECT_TRUE(std::ranges::is_permutation(found, expected));
    };
    for (int token = 0; token < stage.shape().rows; ++token) {
        expect_same(lines_of_query(stage, lines, token), [&](const MassLine& l) { return l.query == token; });
        expect_same(lines_of_key(stage, lines, token), [&](const MassLine& l) { return l.key == token; });
    }
}

TEST(MassLinesTest, MaskedPairsHaveNoLineAndAMaskedQueryIsNamed) {
    Experiment e = load_example("scaled-dot-product").experiment;
    e.weighting.mask = {{MaskForm::causal, {}}};
    const Trace causal = evaluate(e);
    for (const MassLine& line : find_mass_lines(causal, *causal.find("weights"_stage), {0}, 1).strongest)
        EXPECT_LE(line.key, line.query);
    e.weighting.mask = {{MaskForm::valid, {0}}};
    const Trace blind = evaluate(e);
    const MassLines none = find_mass_lines(blind, *blind.find("weights"_stage), {0}, 0.9);
    EXPECT_TRUE(none.strongest.empty());
    EXPECT_EQ(none.count, 0);
    EXPECT_EQ(none.masked_queries, std::vector<bool>(blind.rows.size(), true));
}

TEST(MassLinesTest, ALongSentenceKeepsItsStrongestLines) {
    Experiment e = load_example("scaled-dot-product").experiment;
    e.input.text.clear();
    e.weighting.temperature = 8;  // else some weights are 0
    for (int i = 0; i < 600; ++i) e.input.text += " w" + std::to_string(i);
    const Trace trace = evaluate(e);
    const Stage& stage = *trace.find("weights"_stage);
    const MassLines lines = find_mass_lines(trace, stage, {0}, 1);
    EXPECT_EQ(lines.count, 600 * 600) << "every weight is above 0";
    ASSERT_EQ(lines.strongest.size(), k_most_kept_lines);
    std::vector<float> all(stage.buffer.host().head(0).data(), stage.buffer.host().head(0).data() + 360'000);
    std::ranges::nth_element(all, all.begin() + k_most_kept_lines - 1, std::greater{});
    EXPECT_EQ(lines.strongest.back().weight, all[k_most_kept_lines - 1]);
}

TEST(MassLinesTest, FindingThemCanBeCanceled) {
    const Trace trace = evaluate(load_example("scaled-dot-product").experiment);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(find_mass_lines(trace, *trace.find("weights"_stage), {0}, 0.9, stop.get_token()), Canceled);
}

TEST(LinesStageTest, IsTheOneInFocusIfItHoldsWeightsElseTheMainOneOfTheLayer) {
    const Trace plain = evaluate(load_example("scaled-dot-product").experiment);
    EXPECT_EQ(lines_stage(plain, "scores"_stage), plain.find("weights"_stage));
    EXPECT_EQ(lines_stage(plain, "weights"_stage), plain.find("weights"_stage));
    Experiment e = load_example("scaled-dot-product").experiment;
    e.attention.dropout = 0.5;
    const Trace dropped = evaluate(e);
    EXPECT_EQ(lines_stage(dropped, "weights_dropped"_stage)->name(), "weights_dropped");
    EXPECT_EQ(lines_stage(dropped, "context"_stage)->name(), "weights");
    const Trace stack = evaluate(load_example("learned-induction").experiment);
    EXPECT_EQ(lines_stage(stack, {"scores"_stage, 2})->name(), "2.weights");
    EXPECT_EQ(lines_stage(stack, {"weights"_stage, 2})->name(), "2.weights");
    EXPECT_EQ(lines_stage(stack, "scores"_stage)->name(), "1.weights");
    EXPECT_EQ(lines_stage(evaluate(load_example("encoder-decoder").experiment), "weights"_stage), nullptr);
    EXPECT_EQ(lines_stage(evaluate(load_example("bahdanau-alignment").experiment), "weights"_stage)->name(),
              "alignment");
}

TEST(MassTextTest, SaysHowMuchIsDrawn) {
    EXPECT_EQ(mass_text(0.9, 12, 12), "the lines make up 90 % of each query's weight");
    EXPECT_EQ(mass_text(0.625, 12, 12), "the lines make up 62.5 % of each query's weight");
    EXPECT_EQ(mass_text(1, 12, 12), "the lines make up all of each query's weight");
    EXPECT_EQ(mass_text(0.9, 6000, 41203),
              "the 6000 strongest of 41203 lines that make up 90 % of each query's weight");
}

TEST(HeadColorTest, EveryHeadHasAColorThatDiffersFromTheOthersAndTheBackground) {
    for (const Theme& theme : themes())
        for (const int heads : {1, 2, 4, 8, 12, 16}) {
            std::vector<Rgb8> colors;
            for (int head = -1; head < heads; ++head) colors.push_back(head_color(theme, head, heads));
            for (std::size_t i = 0; i < colors.size(); ++i) {
                EXPECT_GE(contrast_ratio(colors[i], theme.background), 3) << heads << " " << i;
                for (std::size_t j = 0; j < i; ++j) {
                    const int apart = std::abs(colors[i].red - colors[j].red) +
                                      std::abs(colors[i].green - colors[j].green) +
                                      std::abs(colors[i].blue - colors[j].blue);
                    EXPECT_GE(apart, heads <= 8 ? 40 : 20) << heads << ": " << i << " " << j;
                }
            }
        }
    EXPECT_EQ(head_color(theme_of(ThemeKind::dark), 0, 1), theme_of(ThemeKind::dark).accent);
}

}  // namespace
}  // namespace attnscope
