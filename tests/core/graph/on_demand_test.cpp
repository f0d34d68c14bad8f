// Stages whose cells are computed where they are read, against the same stages computed whole.
#include "core/graph/on_demand.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <future>
#include <limits>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "core/canceled.h"
#include "core/cpu/row_blocks.h"
#include "core/error.h"
#include "core/graph/strongest_links.h"
#include "tests/gpu_fixture.h"
#include "tests/on_demand.h"

namespace attnscope {
namespace {

using test::card, test::expect_equal, test::k_all, test::masked, test::sentence_of, test::tolerance;

constexpr float k_infinity = std::numeric_limits<float>::infinity();

/// Experiments with settings that compute cells differently, by what they have.
std::vector<std::pair<std::string, Experiment>> experiments() {
    std::vector<std::pair<std::string, Experiment>> all;
    const auto with = [&](const std::string& name, Experiment e) { all.emplace_back(name, std::move(e)); };
    with("plain", sentence_of(45));
    for (const Score score : {Score::general, Score::cosine, Score::rbf}) {
        Experiment e = sentence_of(37);
        e.attention.score = score;
        e.attention.sharpening = 3;
        with(std::string(name_of(score)), e);
    }
    Experiment heads = masked(50, {"causal"});
    heads.attention.heads = 4;
    heads.attention.output_projection = true;
    heads.attention.projection_bias = true;
    with("heads", heads);
    heads.attention.position = Position::alibi;
    with("alibi", heads);
    for (const auto& rules : std::vector<std::vector<const char*>>{{"causal"},
                                                                   {"valid:20"},
                                                                   {"window:3,5"},
                                                                   {"dilated:4"},
                                                                   {"prefix:9"},
                                                                   {"causal", "dilated:3"},
                                                                   {"valid:0"},
                                                                   {"causal", "window:6,0", "valid:30"}})
        with(rules.back(), masked(41, rules));
    Experiment cross = sentence_of(29);
    cross.input.text2 = "to be or not to be that is the question whether it is nobler in the mind to suffer";
    with("cross", cross);
    Experiment ablated = sentence_of(31);
    ablated.attention.heads = 2;
    ablated.attention.ablated = {{1, 2}};
    ablated.attention.output_projection = true;
    with("ablated", ablated);
    Experiment broken = sentence_of(33);
    Matrix values = Matrix::Random(33, 16);
    values(3, 2) = std::numeric_limits<float>::quiet_NaN();
    values(20, 1) = k_infinity;
    broken.weights.set_custom("embedding", values);
    broken.attention.projection = Projection::none;
    broken.weighting.mask.push_back(parse_mask_rule("causal"));
    with("NaN", broken);
    Experiment infinite = masked(33, {"causal"});  // open pairs whose score is −∞
    Matrix positive = Matrix::Random(33, 2).cwiseAbs();
    positive(5, 0) = -k_infinity;
    infinite.input.dim = 2;
    infinite.weights.set_custom("embedding", positive);
    infinite.attention.projection = Projection::none;
    with("open, −∞", infinite);
    return all;
}

/// On the CPU, and on the card.
class OnDemandCellsTest : public testing::TestWithParam<BackendKind> {
protected:
    void SetUp() override {
        if (GetParam() == BackendKind::cpu) return;
        std::string why;
        card_ = card(&why);
        if (!card_) GTEST_SKIP() << why;
    }

    float near(const Trace& trace) const { return tolerance(trace, GetParam()); }

    template <typename Each>
    void for_each_stage(const Each& each) const {
        std::size_t row = 0;
        for (const auto& [name, e] : experiments()) {
            if (!test::is_visited(row++, 3)) continue;
            const Trace whole = evaluate(e), parts = evaluate(e, {}, {.backend = card_, .on_demand = k_all});
            for (const StageRecord& record : parts.records)
                if (record.stage->buffer.on_demand())
                    each(whole, *whole.find(record.stage->key()), *record.stage,
                         name + ": " + std::string(record.stage->name()));
        }
    }

    Backend* card_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Backends, OnDemandCellsTest, testing::Values(BackendKind::cpu, BackendKind::gpu),
                         [](const auto& backend) { return std::string(name_of(backend.param)); });

TEST(OnDemandTest, OnePairMoreThanFitsIsComputedOnDemand) {
    EXPECT_EQ(OnDemandSizes{}.most_cells, std::size_t{4096} * 4096);
    for (const int tokens : {29, 30, 31}) {
        const Trace trace = evaluate(sentence_of(tokens), {}, {.on_demand = {.most_cells = 900}});
        EXPECT_EQ(trace.is_on_demand(), tokens > 30) << tokens;
        EXPECT_EQ(trace.find("weights"_stage)->buffer.on_demand() != nullptr, tokens > 30) << tokens;
    }
}

TEST(OnDemandTest, EveryStageOfPairsAndWhatReadsItIsComputedWhereItIsRead) {
    Experiment e = masked(9, {"causal"});
    e.attention.heads = 2;
    e.attention.output_projection = true;
    const Trace trace = evaluate(e, {}, {.on_demand = k_all});
    std::string names;
    for (const StagePtr& stage : trace.stages())
        if (stage->buffer.on_demand()) names += std::string(stage->name()) + " ";
    EXPECT_EQ(names, "scores scaled mask masked weights context concat output ");
}

TEST_P(OnDemandCellsTest, CellsRowsAndColumnsAreThoseOfTheWholeStage) {
    for_each_stage([&](const Trace& trace, const Stage& whole, const Stage& parts, const std::string& name) {
        ASSERT_EQ(whole.shape(), parts.shape()) << name;
        const float near = this->near(trace);
        for (int h = 0; h < whole.shape().heads; ++h) {
            const ConstMatrixView expected = whole.buffer.host().head(h);
            const Matrix rows = parts.buffer.rows(h, 0, whole.shape().rows);
            for (int i = 0; i < whole.shape().rows; ++i)
                for (int j = 0; j < whole.shape().columns; ++j)
                    expect_equal(expected(i, j), rows(i, j), near, fmt::format("{} {} {} {}", name, h, i, j));
            const int i = whole.shape().rows / 3, j = whole.shape().columns - 2;
            expect_equal(expected(i, j), parts.buffer.at(h, i, j), near, name + " at");
            expect_equal(expected(i, j), parts.buffer.row(h, i)(j), near, name + " row");
            expect_equal(expected(i, j), parts.buffer.column(h, j)(i), near, name + " column");
        }
    });
}

/// The pooled cells of a whole stage, cell by cell: closed pairs do not count.
float pooled_cell(const Trace& trace, const Stage& stage, int head, int level, Pool pool, int p, int q) {
    const Stage* mask = trace.find(mask_of(*stage.info));
    float strongest = -k_infinity;
    double sum = 0, count = 0;
    const int side = 1 << level;
    for (int i = p * side; i < std::min((p + 1) * side, stage.shape().rows); ++i)
        for (int j = q * side; j < std::min((q + 1) * side, stage.shape().columns); ++j) {
            if (mask && mask != &stage && mask->buffer.at(0, i, j) == 0) continue;
            const float value = stage.buffer.at(head, i, j);
            strongest = count == 0 && strongest == -k_infinity ? value : dominant(strongest, value);
            if (value == -k_infinity) continue;
            sum += value;
            ++count;
        }
    if (pool == Pool::dominant) return strongest;
    return count > 0 ? static_cast<float>(sum / count) : -k_infinity;
}

TEST_P(OnDemandCellsTest, TilesArePooledFromOpenPairsBeforeAndAfterASurvey) {
    for_each_stage([&](const Trace& trace, const Stage& whole, const Stage& parts, const std::string& name) {
        const OnDemandValues& values = *parts.buffer.on_demand();
        const int head = whole.shape().heads - 1;
        const float near = this->near(trace);
        const auto expect_tiles = [&](const std::string& when) {
            for (const Pool pool : {Pool::dominant, Pool::mean})
                for (int level = 0; level <= whole.buffer.levels(); ++level) {
                    const int rows = ((whole.shape().rows - 1) >> level) + 1,
                              columns = ((whole.shape().columns - 1) >> level) + 1;
                    const Region region{rows / 2, columns / 3, rows - rows / 2, columns - columns / 3};
                    const Matrix tile = values.tile(head, level, pool, region, {});
                    for (int p = 0; p < region.rows; ++p)
                        for (int q = 0; q < region.columns; ++q) {
                            const float expected = pooled_cell(trace, whole, head, level, pool,
                                                               region.row + p, region.column + q);
                            // Of two magnitudes that rounding alone tells apart, either may be the larger.
                            const bool either =
                                pool == Pool::dominant && std::isfinite(expected) &&
                                std::abs(expected + tile(p, q)) < near * std::max(1.0F, std::abs(expected));
                            if (!either)
                                expect_equal(expected, tile(p, q), near,
                                             fmt::format("{} {}, level {}, {}, {} {}", name, when, level,
                                                         pool == Pool::mean ? "mean" : "strongest", p, q));
                        }
                }
        };
        expect_tiles("before");
        double done = 0;
        const KeptSurvey kept = values.survey(head, [&](double part) { return done = part, true; }, {});
        EXPECT_TRUE(values.is_surveyed(head)) << name;
        const bool is_mask = whole.info->role == StageRole::mask;
        EXPECT_EQ(done, is_mask ? 0 : 1) << name;
        expect_tiles("after");
    });
}

/// Expects that each of so many bands of a preview has the strongest pairs of its four rows, or their mean,
/// `near` the whole stage's.
void expect_preview(const Trace& trace, const Stage& whole, const Stage& parts, int bands, Pool pool,
                    float near, const std::string& name) {
    const int head = whole.shape().heads - 1, rows = whole.shape().rows;
    const Matrix preview = parts.buffer.on_demand()->preview(head, bands, pool, {});
    ASSERT_EQ(preview.rows(), bands) << name;
    const int side = 1 << parts.buffer.on_demand()->first_kept_level();
    ASSERT_EQ(preview.cols(), (whole.shape().columns - 1) / side + 1) << name;
    const Stage* mask = trace.find(mask_of(*whole.info));
    for (int band = 0; band < bands; ++band) {
        const int first = std::clamp((2 * band + 1) * rows / (2 * bands) - 2, 0, rows - 4);
        for (int q = 0; q < preview.cols(); ++q) {
            float strongest = -k_infinity;
            double sum = 0;
            int count = 0;
            for (int i = first; i < first + 4; ++i)
                for (int j = q * side; j < std::min((q + 1) * side, whole.shape().columns); ++j) {
                    const float value = whole.buffer.at(head, i, j);
                    if (mask && mask != &whole && mask->buffer.at(0, i, j) == 0) continue;
                    strongest = dominant(strongest, value);
                    if (value == -k_infinity) continue;
                    sum += value;
                    ++count;
                }
            const float expected = pool == Pool::dominant ? strongest
                                   : count == 0           ? -k_infinity
                                                          : static_cast<float>(sum / count);
            const bool either = pool == Pool::dominant && std::isfinite(strongest) &&
                                std::abs(strongest + preview(band, q)) < near * 2;
            if (!either)
                expect_equal(expected, preview(band, q), near, fmt::format("{}, band {}, {}", name, band, q));
        }
    }
}

TEST_P(OnDemandCellsTest, APreviewHasTheStrongestPairsOfItsBandsOrTheirMean) {
    for_each_stage([&](const Trace& trace, const Stage& whole, const Stage& parts, const std::string& name) {
        for (const auto& [pool, of] : choices<Pool>())
            expect_preview(trace, whole, parts, 3, pool, near(trace), fmt::format("{}, {}", name, of));
    });
}

/// Many rows and columns, which are read in several parts, and blocks of 16, 32 and 64.
TEST(OnDemandTest, ASurveyAndAPreviewOfManyRowsAreThoseOfTheWhole) {
    std::size_t row = 0;
    for (const bool broken : {false, true}) {
        Experiment e = masked(700, {"causal"});
        for (int j = 0; j < 650; ++j) e.input.text2 += fmt::format("w{} ", j * 11 % 29);
        if (broken) {
            Matrix values = Matrix::Random(700, 16);
            values(300, 2) = std::numeric_limits<float>::quiet_NaN();
            values(613, 1) = k_infinity;
            e.input.text2.clear();
            e.weights.set_custom("embedding", values);
            e.attention.projection = Projection::none;
        }
        const Trace truth = evaluate(e);
        const Stage& whole = *truth.find("weights"_stage);
        for (const std::size_t kept_cells : {2000, 500, 130, 9}) {
            if (!test::is_visited(row++, 3)) continue;
            const Trace trace =
                evaluate(e, {}, {.on_demand = {.most_cells = 1000, .kept_cells = kept_cells}});
            const Stage& parts = *trace.find("weights"_stage);
            const OnDemandValues& values = *parts.buffer.on_demand();
            const int level = values.first_kept_level();
            const std::string name = fmt::format("level {}{}", level, broken ? ", NaN" : "");
            const float near = tolerance(truth, BackendKind::cpu);
            for (const auto& [pool, of] : choices<Pool>())
                expect_preview(truth, whole, parts, 20, pool, near, fmt::format("{}, {}", name, of));
            const auto expect_tile = [&](int of_level, const std::string& when) {
                const Region all{0, 0, ((whole.shape().rows - 1) >> of_level) + 1,
                                 ((whole.shape().columns - 1) >> of_level) + 1};
                for (const Pool pool : {Pool::dominant, Pool::mean}) {
                    const Matrix tile = values.tile(0, of_level, pool, all, {});
                    for (int p = 0; p < all.rows; ++p)
                        for (int q = 0; q < all.columns; ++q)
                            expect_equal(pooled_cell(truth, whole, 0, of_level, pool, p, q), tile(p, q), near,
                                         fmt::format("{}, {}: {} {}", name, when, p, q));
                }
            };
            expect_tile(level, "before the survey");
            const KeptSurvey kept = values.survey(0, {}, {});
            expect_tile(level, "after it");
            expect_tile(2, "on demand");
            for (int i = 0; i < whole.shape().rows; ++i)
                expect_equal(whole.buffer.row_largest(0)[static_cast<std::size_t>(i)],
                             parts.buffer.row_largest(0)[static_cast<std::size_t>(i)], near,
                             fmt::format("{}, row {}", name, i));
        }
    }
}

/// A mask keeps few blocks of many pairs, by rules.
TEST(OnDemandTest, AMaskOfALongTextKeepsFewBlocks) {
    const Trace trace = evaluate(masked(20000, {"causal"}), {}, {});
    const OnDemandValues& mask = *trace.find("mask"_stage)->buffer.on_demand();
    const OnDemandValues& scores = *trace.find("scores"_stage)->buffer.on_demand();
    EXPECT_EQ(mask.first_kept_level(), 5) << "of at most 2^20 blocks";
    EXPECT_EQ(scores.first_kept_level(), 4);
    static_cast<void>(mask.survey(0, {}, {}));
    EXPECT_TRUE(mask.is_surveyed(0)) << "a survey of a mask stays";
    for (const int level : {4, 5, 6}) {
        const Region corner{100, 98, 3, 5};
        const Matrix tile = mask.tile(0, level, Pool::dominant, corner, {});
        for (int p = 0; p < 3; ++p)
            for (int q = 0; q < 5; ++q) EXPECT_EQ(tile(p, q), 98 + q <= 100 + p ? 1 : 0) << level << p << q;
    }
}

TEST_P(OnDemandCellsTest, SampledRowsAreThoseInTheMiddleOfEachPart) {
    for_each_stage([&](const Trace& trace, const Stage& whole, const Stage& parts, const std::string& name) {
        const int head = whole.shape().heads - 1, rows = whole.shape().rows, count = 3;
        const Matrix sample = parts.buffer.on_demand()->sample(head, count, {});
        ASSERT_EQ(sample.rows(), count) << name;
        ASSERT_EQ(sample.cols(), whole.shape().columns) << name;
        for (int i = 0; i < count; ++i)
            for (int j = 0; j < whole.shape().columns; ++j)
                expect_equal(whole.buffer.at(head, (2 * i + 1) * rows / (2 * count), j), sample(i, j),
                             near(trace), fmt::format("{}, row {}, {}", name, i, j));
        EXPECT_EQ(parts.buffer.on_demand()->sample(head, 1000, {}).rows(), rows) << name;
    });
}

Experiment heads_of_many_keys() {
    Experiment e = masked(1100, {"causal"});
    e.input.dim = 24;
    e.attention.heads = 3;
    e.attention.output_projection = true;
    return e;
}

/// More keys than are multiplied at once, all heads, their mean, and what reads them; with values that are
/// not finite, which those before them do not see.
TEST(OnDemandTest, SampledSumsOverManyKeysAreRowsOfTheWhole) {
    for (const bool finite : {true, false})
        for (const bool is_surveyed : {false, true}) {
            if (test::k_thread_sanitized && is_surveyed == finite) continue;
            Experiment e = heads_of_many_keys();
            Matrix values = Matrix::Random(1100, 24);
            values(700, 2) = std::numeric_limits<float>::quiet_NaN();
            values(900, 20) = k_infinity;
            if (!finite) e.weights.set_custom("value", values);
            const Trace whole = evaluate(e), parts = evaluate(e, {}, {.on_demand = {.most_cells = 1000}});
            const float near = tolerance(whole, BackendKind::cpu);
            std::vector<KeptSurvey> kept;
            if (is_surveyed)
                for (int h = 0; h < 3; ++h)
                    kept.push_back(parts.find("weights"_stage)->buffer.on_demand()->survey(h, {}, {}));
            const auto expect_rows = [&](const Buffer& all, const Buffer& on_demand,
                                         const std::string& name) {
                for (int h = 0; h < all.shape().heads; ++h)
                    for (const int asked : {40, 2000}) {
                        const int count = std::min(asked, 1100);
                        const Matrix sample = on_demand.on_demand()->sample(h, asked, {});
                        ASSERT_EQ(sample.rows(), count);
                        for (int i = 0; i < count; ++i)
                            for (int j = 0; j < all.shape().columns; ++j)
                                expect_equal(all.at(h, (2 * i + 1) * 1100 / (2 * count), j), sample(i, j),
                                             near, fmt::format("{} {} {} {}", name, h, i, j));
                    }
            };
            for (const std::string name : {"context", "concat", "output"}) {
                const Buffer &all = whole.find_named(name)->buffer,
                             &on_demand = parts.find_named(name)->buffer;
                expect_rows(all, on_demand, name);
                expect_rows(all.mean(), on_demand.mean(), "mean of " + name);
            }
        }
}

TEST(OnDemandTest, SamplesAreCanceledAndWhatHeadsSampledIsReadAgain) {
    const Trace trace = evaluate(heads_of_many_keys(), {}, {.on_demand = {.most_cells = 1000}});
    const auto values_of = [&](const std::string& name) -> const OnDemandValues& {
        return *trace.find_named(name)->buffer.on_demand();
    };
    std::stop_source stop;
    stop.request_stop();
    for (const char* name : {"context", "concat", "output"})
        EXPECT_THROW(values_of(name).sample(0, 40, stop.get_token()), Canceled) << name;
    for (int h = 0; h < 3; ++h) values_of("context").sample(h, 40, {});
    EXPECT_EQ(values_of("output").sample(0, 40, stop.get_token()).rows(), 40) << "nothing is computed again";
    EXPECT_THROW(values_of("output").sample(0, 41, stop.get_token()), Canceled);
}

TEST(OnDemandTest, ARowOfLargeScoresSumsToOneAfterASurvey) {
    Experiment e;
    e.input.dim = 64;
    e.input.text.clear();
    for (int i = 0; i < 700; ++i) e.input.text += fmt::format("w{} ", i * i % 331);
    const Trace trace = evaluate(e, {}, {.on_demand = {.most_cells = 1000, .kept_cells = 1 << 16}});
    const Stage& weights = *trace.find("weights"_stage);
    EXPECT_GT(trace.find("scaled"_stage)->buffer.range(0).max, 100) << "rounding of such scores matters";
    const KeptSurvey kept = weights.buffer.on_demand()->survey(0, {}, {});
    for (int i = 0; i < weights.shape().rows; ++i) {
        const Eigen::RowVectorXf row = weights.buffer.row(0, i);
        EXPECT_NEAR(row.cast<double>().sum(), 1, 1e-6) << i;  // each of a few weights is rounded once
        EXPECT_LE(row.maxCoeff(), 1) << i;
    }
}

TEST_P(OnDemandCellsTest, SurveysFindTheFactsOfAHead) {
    for_each_stage([&](const Trace& trace, const Stage& whole, const Stage& parts, const std::string& name) {
        const float near = this->near(trace);
        const ValueRange &expected = whole.buffer.range(0), &actual = parts.buffer.range(0);
        expect_equal(expected.max, actual.max, near, name + " max");
        // A row with a NaN has NaN in its open pairs; the survey counts all of its pairs.
        if (expected.nan == 0) {
            expect_equal(expected.min, actual.min, near, name + " min");
            EXPECT_EQ(expected.finite, actual.finite) << name;
        }
        EXPECT_EQ(expected.nan > 0, actual.nan > 0) << name;
        if (whole.info->role == StageRole::mask) {
            EXPECT_EQ(expected.zero, actual.zero) << name;
        }
        for (int i = 0; i < whole.shape().rows; ++i)
            expect_equal(whole.buffer.row_largest(0)[static_cast<std::size_t>(i)],
                         parts.buffer.row_largest(0)[static_cast<std::size_t>(i)], near,
                         fmt::format("{} largest of row {}", name, i));
    });
}

TEST(OnDemandTest, TheMeanOverTheHeadsIsOnDemandToo) {
    Experiment e = masked(45, {"causal"});
    e.attention.heads = 4;
    const Trace whole = evaluate(e), parts = evaluate(e, {}, {.on_demand = k_all});
    const Buffer &expected = whole.find("weights"_stage)->buffer.mean(),
                 &actual = parts.find("weights"_stage)->buffer.mean();
    ASSERT_TRUE(actual.on_demand());
    EXPECT_EQ(actual.shape(), expected.shape());
    for (int i = 0; i < 45; ++i)
        for (int j = 0; j < 45; ++j) EXPECT_NEAR(expected.at(0, i, j), actual.at(0, i, j), 1e-6);
    EXPECT_NEAR(expected.range(0).max, actual.range(0).max, 1e-6);
}

TEST(OnDemandTest, TheSameBitsForAnyNumberOfThreads) {
    const Trace trace = evaluate(masked(300, {"causal"}), {}, {.on_demand = {0, 400}});
    const Trace other = evaluate(masked(300, {"causal"}), {}, {.on_demand = {0, 400}});
    const OnDemandValues &one = *trace.find("weights"_stage)->buffer.on_demand(),
                         &two = *other.find("weights"_stage)->buffer.on_demand();
    const Region all{0, 0, 300, 300}, kept{0, 0, 19, 19};
    Matrix of_one, of_two, kept_of_one, kept_of_two;
    with_threads(1, [&] {
        of_one = one.tile(0, 0, Pool::dominant, all, {});
        const KeptSurvey survey = one.survey(0, {}, {});
        kept_of_one = one.tile(0, 4, Pool::mean, kept, {});
    });
    with_threads(2, [&] {
        of_two = two.tile(0, 0, Pool::dominant, all, {});
        const KeptSurvey survey = two.survey(0, {}, {});
        kept_of_two = two.tile(0, 4, Pool::mean, kept, {});
    });
    EXPECT_EQ(of_one, of_two);
    EXPECT_EQ(kept_of_one, kept_of_two);
}

TEST(OnDemandTest, AColumnIsQuickOnceEveryRowsSumIsKnown) {
    Experiment e = sentence_of(40);
    e.attention.heads = 2;
    const Trace trace = evaluate(e, {}, {.on_demand = k_all});
    const auto quick = [&](StageKey key, int head) {
        return trace.find(key)->buffer.on_demand()->reads_columns(head);
    };
    EXPECT_TRUE(quick("masked"_stage, 0));
    EXPECT_FALSE(quick("weights"_stage, 0));
    const OnDemandValues& weights = *trace.find("weights"_stage)->buffer.on_demand();
    const KeptSurvey first = weights.survey(0, {}, {});
    EXPECT_TRUE(quick("weights"_stage, 0));
    EXPECT_FALSE(quick("weights"_stage, 1));
    EXPECT_FALSE(weights.mean()->reads_columns(0));
    const KeptSurvey second = weights.survey(1, {}, {});
    EXPECT_TRUE(weights.mean()->reads_columns(0));
    EXPECT_FALSE(quick("context"_stage, 0)) << "each of its cells takes a row of weights";
    EXPECT_FALSE(quick("concat"_stage, 0));
}

TEST(OnDemandTest, ASurveyIsKeptForAsLongAsSomebodyHoldsItAndTheNextIsTheSame) {
    const Trace trace = evaluate(masked(60, {"causal"}), {}, {.on_demand = k_all});
    const Buffer& weights = trace.find("weights"_stage)->buffer;
    const OnDemandValues& values = *weights.on_demand();
    KeptSurvey kept = values.survey(0, {}, {});
    const int level = values.first_kept_level();
    const Matrix before = values.tile(0, level, Pool::dominant, {0, 0, 2, 2}, {});
    const float largest = weights.range(0).max;
    KeptSurvey other = values.survey(0, [](double) { return false; }, {});  // made before: nothing to cancel
    kept.reset();
    EXPECT_TRUE(values.is_surveyed(0)) << "the other one holds it";
    other.reset();
    EXPECT_FALSE(values.is_surveyed(0));
    EXPECT_EQ(weights.known_range(0)->max, largest) << "a fact stays";
    kept = values.survey(0, {}, {});
    EXPECT_EQ(values.tile(0, level, Pool::dominant, {0, 0, 2, 2}, {}), before);
}

TEST(OnDemandTest, WhatWasSurveyedForAFactStays) {
    const Trace trace = evaluate(sentence_of(60), {}, {.on_demand = k_all});
    const OnDemandValues& values = *trace.find("weights"_stage)->buffer.on_demand();
    EXPECT_LE(values.range(0).max, 1);
    EXPECT_TRUE(values.is_surveyed(0));
    KeptSurvey kept = values.survey(0, [](double) { return false; }, {});
    kept.reset();
    EXPECT_TRUE(values.is_surveyed(0));
}

TEST(OnDemandTest, ASurveyMayBeHeldLongerThanItsTrace) {
    KeptSurvey kept;
    {
        const Trace trace = evaluate(sentence_of(60), {}, {.on_demand = k_all});
        kept = trace.find("weights"_stage)->buffer.on_demand()->survey(0, {}, {});
    }
    EXPECT_NE(kept, nullptr);
}

/// Progress is reported many times in each task of a survey, and never falls.
TEST(OnDemandTest, ProgressOfASurveyIsThatOfItsCells) {
    const Trace trace = evaluate(sentence_of(1100), {}, {.on_demand = {.most_cells = 1000}});
    for (const char* const name : {"scores", "weights"}) {
        const OnDemandValues& values = *trace.find_named(name)->buffer.on_demand();
        std::vector<double> parts;
        const KeptSurvey kept =
            values.survey(0, [&](double part) { return parts.push_back(part), true; }, {});
        EXPECT_EQ(parts.size(), 9u) << name << ": three tasks of 512 rows, in parts of 512 columns";
        EXPECT_TRUE(std::ranges::is_sorted(parts)) << name;
        EXPECT_DOUBLE_EQ(parts.back(), 1) << name;
        EXPECT_LE(parts.front(), 512.0 * 512 / (1100 * 1100)) << name;
    }
}

/// While another thread surveys the head.
TEST(OnDemandTest, WaitingForASurveyIsCanceled) {
    const Trace trace = evaluate(sentence_of(60), {}, {.on_demand = k_all});
    const OnDemandValues& values = *trace.find("weights"_stage)->buffer.on_demand();
    std::promise<void> begun, goes_on;
    std::thread surveying([&] {
        std::once_flag first;
        const auto progress = [&](double) {
            std::call_once(first, [&] {
                begun.set_value();
                goes_on.get_future().wait();
            });
            return true;
        };
        const KeptSurvey kept = values.survey(0, progress, {});
        EXPECT_TRUE(values.is_surveyed(0));
    });
    begun.get_future().wait();
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(static_cast<void>(values.survey(0, {}, stop.get_token())), Canceled);
    EXPECT_THROW(static_cast<void>(values.survey(0, [](double) { return false; }, {})), Canceled);
    EXPECT_FALSE(values.is_surveyed(0));
    goes_on.set_value();
    surveying.join();
    EXPECT_FALSE(values.is_surveyed(0)) << "let go of";
}

TEST(OnDemandTest, StrongestLinksAreCanceledAndLetGoOfTheirSurvey) {
    const Trace trace = evaluate(sentence_of(60), {}, {.on_demand = k_all});
    const Buffer& weights = trace.find("weights"_stage)->buffer;
    LinkedWords words;
    for (int i = 0; i < 60; ++i) {
        words.rows.push_back(i);
        words.columns.push_back(i);
    }
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(strongest_links(weights, 0, words, 5, stop.get_token()), Canceled);
    EXPECT_FALSE(weights.on_demand()->is_surveyed(0));
    EXPECT_EQ(strongest_links(weights, 0, words, 5).size(), 5u);
    EXPECT_FALSE(weights.on_demand()->is_surveyed(0));
}

TEST(OnDemandTest, WorkIsCanceledAndNothingOfItKept) {
    const Trace trace = evaluate(sentence_of(300), {}, {.on_demand = k_all});
    const OnDemandValues& values = *trace.find("weights"_stage)->buffer.on_demand();
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(static_cast<void>(values.survey(0, {}, stop.get_token())), Canceled);
    EXPECT_THROW(static_cast<void>(values.survey(0, [](double) { return false; }, {})), Canceled);
    EXPECT_THROW(values.tile(0, 0, Pool::dominant, {0, 0, 300, 300}, stop.get_token()), Canceled);
    EXPECT_FALSE(values.is_surveyed(0));
}

TEST(OnDemandTest, ALargeTraceIsNotCopiedToMemory) {
    const Trace trace = evaluate(sentence_of(30), {}, {.on_demand = k_all});
    try {
        trace.find("weights"_stage)->buffer.host();
        FAIL() << "copied";
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "30 × 30 values are too many at once: choose a region of them (region)");
    }
}

TEST(OnDemandTest, WhatNeedsEveryPairAtOnceIsRefused) {
    Experiment e = sentence_of(12);
    e.weighting.normalizer = Normalization::sparsemax;
    const auto problem = [](const Experiment& refused) -> std::string {
        try {
            evaluate(refused, {}, {.on_demand = {.most_cells = 100}});
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(problem(e),
              "weights takes all pairs of 12 × 12 tokens at once, and up to 100 pairs are supported: shorten "
              "the text, or use a dot, general, cosine or rbf score and normalizer softmax over the keys, "
              "without dropout, a block or mean ablation");
    const std::string advice = problem(e);
    e.weighting.normalizer = Normalization::softmax;
    for (const auto& [score, name] : choices<Score>()) {
        e.attention.score = score;
        EXPECT_EQ(problem(e).empty(), advice.find(name) != advice.npos) << name << ": " << advice;
    }
    e.attention.score = Score::dot;
    EXPECT_EQ(problem(e), "");
    e.attention.softmax_axis = SoftmaxAxis::queries;
    EXPECT_NE(problem(e), "");
    e.weighting.normalizer = Normalization::local_m;
    EXPECT_NE(problem(e), "");
}

}  // namespace
}  // namespace attnscope
