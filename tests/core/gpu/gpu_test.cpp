// The graphics card compared with the CPU, whose results the reference cases compare with float64.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <set>
#include <thread>

#include "core/gpu/choice.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/attention/scores.h"
#include "core/mechanism/evaluate.h"
#include "core/op/normalizers.h"
#include "core/op/op.h"
#include "core/session/session.h"
#include "tests/gpu_fixture.h"
#include "tests/random_attention.h"
#include "tests/sanitized.h"

namespace attnscope {
namespace {

/// Card and processor sum float32 in their own order, and m is the largest magnitude of the stage and of
/// those before it, whose errors it inherits: the reference's promise for a card, 1e-5 · max(1, m).
constexpr double k_rounding = 1e-5;

class GpuTest : public testing::Test {
protected:
    void SetUp() override {
        std::string why;
        gpu_ = test::shared_gpu(&why);
        if (!gpu_) GTEST_SKIP() << why;
    }

    /// Every stage, the guards around each, and that anything was computed there at all.
    void compare(const Experiment& e, Backend* gpu) {
        const Trace expected = evaluate(e), actual = evaluate(e, {}, {.backend = gpu});
        ASSERT_EQ(actual.records.size(), expected.records.size());
        double m = 1;
        int on_card = 0;
        for (const auto& [stage, inputs, settings, milliseconds, computed] : expected.records) {
            const Stage* other = actual.find_named(stage->name());
            ASSERT_NE(other, nullptr) << stage->name();
            const auto truth = stage->buffer.host().values(), values = other->buffer.host().values();
            ASSERT_EQ(values.size(), truth.size()) << stage->name();
            test::Discrepancy difference;
            for (std::size_t i = 0; i < truth.size(); ++i) {
                if (std::isfinite(truth[i])) m = std::max(m, double{std::abs(truth[i])});
                difference.add(values[i], truth[i]);
            }
            EXPECT_TRUE(difference.same_kind) << stage->name();
            EXPECT_LE(difference.largest, k_rounding * m) << stage->name() << ", m " << m;
            on_card += other->buffer.is_on_device();
            if (const auto there = std::dynamic_pointer_cast<const GpuValues>(other->buffer.device())) {
                EXPECT_TRUE(test::guards_are_whole(*there)) << stage->name();
                expect_same_range(other->buffer.range(), values);
                expect_same_largest(*there, other->shape().heads - 1);
            }
        }
        EXPECT_GT(on_card, 0);
    }

    static void expect_same_range(const ValueRange& range, std::span<const float> values) {
        float low = INFINITY, high = -INFINITY;
        std::size_t finite = 0;
        for (const float x : values)
            if (std::isfinite(x)) {
                low = std::min(low, x);
                high = std::max(high, x);
                ++finite;
            }
        EXPECT_EQ(range.finite, finite);
        EXPECT_EQ(range.zero, static_cast<std::size_t>(std::ranges::count(values, 0.0f)));
        if (finite > 0) {
            EXPECT_EQ(range.min, low);
            EXPECT_EQ(range.max, high);
        }
        EXPECT_EQ(range.finite + range.nan + range.plus_infinity + range.minus_infinity, values.size());
    }

    static void expect_same_largest(const GpuValues& values, int head) {
        const Shape& shape = values.shape();
        Matrix matrix(shape.rows, shape.columns);
        values.read(head, 0, shape.rows, matrix.data());
        const std::vector<float> rows = values.row_largest(head), columns = values.column_largest(head);
        ASSERT_EQ(rows.size(), static_cast<std::size_t>(shape.rows));
        ASSERT_EQ(columns.size(), static_cast<std::size_t>(shape.columns));
        const auto same = [](float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); };
        for (int i = 0; i < shape.rows; ++i)
            EXPECT_TRUE(
                same(rows[static_cast<std::size_t>(i)], matrix.row(i).maxCoeff<Eigen::PropagateNaN>()));
        for (int j = 0; j < shape.columns; ++j)
            EXPECT_TRUE(
                same(columns[static_cast<std::size_t>(j)], matrix.col(j).maxCoeff<Eigen::PropagateNaN>()));
    }

    GpuBackend* gpu_ = nullptr;
};

/// A fact of all cells, in double.
double fact_of(const Matrix& cells, BlockFact fact) {
    std::vector<float> open;
    for (const float x : cells.reshaped())
        if (x != -INFINITY) open.push_back(x);
    const auto folded = [&](double start, const auto& join) {
        return std::accumulate(open.begin(), open.end(), start, join);
    };
    const double largest = folded(-INFINITY, [](double a, double x) {
        return std::isnan(a) || std::isnan(x) ? std::numeric_limits<double>::quiet_NaN() : std::max(a, x);
    });
    switch (fact) {
        case BlockFact::dominant:
            return folded(-INFINITY, [](double a, float x) { return dominant(static_cast<float>(a), x); });
        case BlockFact::sum: return folded(0, std::plus<>());
        case BlockFact::count: return static_cast<double>(open.size());
        case BlockFact::largest: return largest;
        case BlockFact::smallest: return folded(INFINITY, [](double a, double x) { return x < a ? x : a; });
        case BlockFact::exponential:
            return folded(0, [&](double a, double x) { return a + std::exp(x - largest); });
    }
    return 0;
}

TEST_F(GpuTest, FactsOfBlocksAreThoseOfTheirCells) {
    constexpr float k_nan = std::numeric_limits<float>::quiet_NaN();
    Tensor cells({.rows = 11, .columns = 23});
    test::Dice dice(3);
    std::ranges::copy(dice.matrix(11, 23).reshaped<Eigen::RowMajor>(), cells.values().begin());
    auto x = cells.head(0);
    x.block(0, 0, 4, 4).setConstant(-INFINITY);  // nothing counts
    x.block(0, 4, 4, 2).setConstant(-INFINITY);
    x(1, 9) = k_nan;
    x(5, 1) = INFINITY;
    x(6, 5) = -7;
    x(7, 6) = 7;
    x(9, 9) = 9;
    x(10, 11) = -9;
    const Buffer buffer(std::move(cells));
    const std::array<const Buffer*, 1> inputs{&buffer};
    const std::shared_ptr<RegionBackend> regions = gpu_->regions();
    const Op same = op::Scale{Scale{Scale::Kind::none}, 1, 1};
    const auto values = regions->region(same, {inputs, 0, {0, 0, 11, 23}});
    ASSERT_TRUE(values);
    for (const auto& [rows, columns] : {std::pair{4, 4}, {1, 5}, {11, 1}, {16, 32}})
        for (const auto& [fact, name] : choices<BlockFact>()) {
            const Matrix found = regions->blocks(*values, fact, rows, columns);
            ASSERT_EQ(found.rows(), (11 + rows - 1) / rows);
            ASSERT_EQ(found.cols(), (23 + columns - 1) / columns);
            for (Eigen::Index p = 0; p < found.rows(); ++p)
                for (Eigen::Index q = 0; q < found.cols(); ++q) {
                    const Matrix block = buffer.head(0).block(
                        p * rows, q * columns, std::min<Eigen::Index>(rows, 11 - p * rows),
                        std::min<Eigen::Index>(columns, 23 - q * columns));
                    test::Discrepancy difference;
                    difference.add(found(p, q), fact_of(block, fact));
                    EXPECT_TRUE(difference.same_kind) << name << " " << p << " " << q << " " << found(p, q);
                    EXPECT_LE(difference.largest, k_rounding * 100) << name << " " << p << " " << q;
                }
        }
}

/// Q, K and V are given: N × d, M × d, M × d_v.
Experiment given(test::Dice& dice, int N, int M, int d, int d_v, float peak = 1) {
    Experiment e;
    e.attention.projection = Projection::none;
    e.weights.custom.emplace("query", CustomMatrix(dice.matrix(N, d) * peak));
    e.weights.custom.emplace("key", CustomMatrix(dice.matrix(M, d)));
    e.weights.custom.emplace("value", CustomMatrix(dice.matrix(M, d_v)));
    e.input.dim = d;
    return e;
}

// Ones, primes, one beside a tile or a work group, and what is very wide or very tall.
constexpr std::array k_sizes = {
    std::array{1, 1, 1},    std::array{1, 257, 3},  std::array{257, 1, 2},   std::array{2, 3, 5},
    std::array{7, 11, 13},  std::array{31, 33, 15}, std::array{32, 32, 16},  std::array{33, 31, 17},
    std::array{64, 63, 8},  std::array{65, 64, 1},  std::array{127, 5, 4},   std::array{3, 129, 31},
    std::array{16, 255, 2}, std::array{5, 256, 7},  std::array{1, 1021, 2},  std::array{1021, 2, 3},
    std::array{17, 19, 67}, std::array{2, 2, 257},  std::array{97, 101, 33}, std::array{4, 4, 4}};

/// Sizes of every kind: `base` one time in four, else any three numbers around which a kernel may err.
std::array<int, 3> sizes_like(test::Dice& dice, const std::array<int, 3>& base) {
    if (dice.one_in(4)) return base;
    const auto any = [&] {
        return dice.of({1,  2,  3,  5,  7,   8,   13,  16,  17,  31,  32,  33,
                        61, 63, 64, 65, 127, 128, 129, 255, 256, 257, 509, 1021});
    };
    constexpr int k_most_cells = 20'000, k_most_products = 400'000;
    while (true) {
        const std::array sizes{any(), any(), any()};
        const int cells = sizes[0] * sizes[1];
        if (cells <= k_most_cells && cells <= k_most_products / sizes[2]) return sizes;
    }
}

std::vector<std::vector<MaskRule>> masks(int N) {
    std::vector<std::int64_t> lengths;
    for (int i = 0; i < N; ++i) lengths.push_back(i * 7 % 5);
    std::vector<std::vector<MaskRule>> all = {
        {}, {{MaskForm::valid, lengths}}, {{MaskForm::causal, {}}, {MaskForm::valid, {2}}}};
    for (const MaskKind& kind : mask_kinds()) all.push_back({{kind.choice, kind.first(3)}});
    return all;
}

TEST_F(GpuTest, EveryScoreFunctionAndMaskInEverySizeIsTheProcessors) {
    int count = 0;
    std::size_t row = 0;
    test::Dice dice(1);
    std::set<std::array<int, 3>> shapes;
    for (const auto& base : k_sizes)
        for (const ScoreFunction& score : score_functions())
            for (std::size_t rules = 0; rules < masks(1).size(); ++rules) {
                // No divisor of scores × masks, so that every size has other pairs.
                if (!test::is_visited(row++, 7)) continue;
                const auto [N, M, d] = *shapes.insert(sizes_like(dice, base)).first;
                const std::vector<MaskRule> mask = masks(N)[rules];
                Experiment e = given(dice, N, M, d, 1 + d % 5);
                e.attention.score = score.choice;
                e.weighting.hidden = 1 + count % 9;
                e.weighting.mask = mask;
                e.attention.scale.kind = Scale::Kind::none;
                e.attention.position = count % 3 == 0 ? Position::alibi : Position::none;
                SCOPED_TRACE(std::string(name_of(e.attention.score)) + " " + std::to_string(N) + " × " +
                             std::to_string(M) + " × " + std::to_string(d) + ", mask " +
                             std::to_string(mask.size()));
                ASSERT_NO_FATAL_FAILURE(compare(e, gpu_));
                if (HasFailure()) return;
                ++count;
            }
    EXPECT_GE(count, test::k_sanitized ? 100 : 720);
    EXPECT_GT(shapes.size(), test::k_sanitized ? 70U : 500U);
}

TEST_F(GpuTest, EveryNormalizationOfFlatAndPeakedScoresIsTheProcessors) {
    int count = 0;
    std::size_t row = 0;
    test::Dice dice(2);
    std::set<std::array<int, 3>> shapes;
    for (const auto& base : k_sizes)
        for (const Normalizer& normalizer : normalizers())
            for (const SoftmaxAxis axis : {SoftmaxAxis::keys, SoftmaxAxis::queries})
                for (const float peak : {0.0f, 1.0f, 3000.0f}) {
                    if (!test::is_visited(row++, 7)) continue;
                    const auto [N, M, d] = *shapes.insert(sizes_like(dice, base)).first;
                    Experiment e = given(dice, N, M, d, 2, peak);
                    e.weighting.normalizer = normalizer.choice;
                    e.attention.softmax_axis = axis;
                    e.weighting.hidden = 3;
                    e.attention.dropout = count % 2 ? 0.4 : 0;
                    if (count % 3 == 0) e.weighting.mask = {{MaskForm::causal, {}}};
                    SCOPED_TRACE(std::string(name_of(e.weighting.normalizer)) + " " +
                                 std::string(name_of(axis)) + " " + std::to_string(N) + " × " +
                                 std::to_string(M) + ", peak " + std::to_string(peak));
                    ASSERT_NO_FATAL_FAILURE(compare(e, gpu_));
                    if (HasFailure()) return;
                    ++count;
                }
    EXPECT_GE(count, test::k_sanitized ? 68 : 480);
    EXPECT_GT(shapes.size(), test::k_sanitized ? 45U : 330U);
}

TEST_F(GpuTest, AnyOtherExperimentIsTheProcessors) {
    constexpr int k_count = test::k_sanitized ? 200 : 900;
    int count = 0;
    for (unsigned seed = 1; count < k_count; ++seed) {
        test::Dice dice(seed);
        try {
            const Experiment e = test::random_attention(dice);
            SCOPED_TRACE("seed " + std::to_string(seed) + " " + to_json({e, {}, {}}));
            ASSERT_NO_FATAL_FAILURE(compare(e, gpu_));
            if (HasFailure()) return;
            ++count;
        } catch (const Error& error) {  // settings that exclude each other
            ASSERT_NE(error.kind(), ErrorKind::backend) << error.what();
        }
    }
}

TEST_F(GpuTest, WhatIsLargerThanAStorageBlockIsSplitNotRefused) {
    // A block of 4 KiB holds a row of any of these, and no matrix whole.
    GpuBackend small(make_egl_context(true), {.block_bytes = 4096, .allocate = test::guarded_room});
    test::Dice dice(3);
    for (const Score score : {Score::dot, Score::general, Score::cosine, Score::location})
        for (const SoftmaxAxis axis : {SoftmaxAxis::keys, SoftmaxAxis::queries}) {
            Experiment e = given(dice, 97, 101, 32, 20);
            e.attention.score = score;
            e.attention.softmax_axis = axis;
            e.weighting.mask = {{MaskForm::causal, {}}};
            e.attention.output_projection = true;
            e.attention.scale.kind = Scale::Kind::none;
            ASSERT_NO_FATAL_FAILURE(compare(e, &small)) << name_of(score);
            const Trace trace = evaluate(e, {}, {.backend = &small});
            for (const char* name : {"scores", "scaled", "masked", "context"})
                EXPECT_TRUE(trace.find_named(name)->buffer.is_on_device()) << name;
        }
}

TEST_F(GpuTest, AWindowsEndIsTheProcessorsWhateverItsWidth) {
    Experiment e;
    e.input.text.clear();
    for (int i = 0; i < 129; ++i) e.input.text += "w" + std::to_string(i) + " ";
    e.input.dim = 4;
    e.weighting.normalizer = Normalization::local_m;
    for (const double D : {0.999999, 0.9999999999, 1.0, 1.9999999, 3.9999999, 4.0000001, 1e-9}) {
        e.weighting.local_window = D;
        const Trace there = evaluate(e, {}, {.backend = gpu_}), here = evaluate(e);
        ASSERT_TRUE(there.find("mask"_stage)->buffer.is_on_device());
        EXPECT_TRUE(there.find("mask"_stage)->buffer.host().head(0) ==
                    here.find("mask"_stage)->buffer.host().head(0))
            << D;
    }
}

TEST_F(GpuTest, RowsFarFromZeroAreNormalized) {
    test::Dice dice(6);
    for (const float shift : {0.0f, 1e3f, 1e4f, 1e19f}) {
        Experiment e;
        Matrix rows = dice.matrix(5, 512);
        rows = (rows.array() * std::max(1.0f, shift / 1e4f) + shift).matrix();
        e.weights.custom.emplace("embedding", CustomMatrix(rows));
        e.input.dim = 512;
        e.attention.block = Block::pre_norm;
        const Trace there = evaluate(e, {}, {.backend = gpu_}), here = evaluate(e);
        const Buffer &a = there.find("norm_1"_stage)->buffer, &b = here.find("norm_1"_stage)->buffer;
        ASSERT_TRUE(a.is_on_device());
        EXPECT_GT(b.range().max, 1);
        EXPECT_TRUE(a.host().head(0).isApprox(b.host().head(0), 1e-6f)) << shift;
    }
}

TEST_F(GpuTest, TheLargeTileOfRealCardsIsRightAtItsEdges) {
    GpuBackend large(make_egl_context(true), {.tile = 128, .allocate = test::guarded_room});
    GpuBackend parts(make_egl_context(true),
                     {.block_bytes = 40'000, .tile = 128, .allocate = test::guarded_room});
    test::Dice dice(7);
    for (const auto& [N, M, d] :
         {std::array{127, 128, 16}, std::array{128, 129, 15}, std::array{129, 127, 17},
          std::array{257, 131, 33}, std::array{1, 300, 64}, std::array{5, 3, 2}}) {
        Experiment e = given(dice, N, M, d, 130);
        e.attention.output_projection = true;
        e.attention.scale.kind = Scale::Kind::none;
        SCOPED_TRACE(std::to_string(N) + " × " + std::to_string(M) + " × " + std::to_string(d));
        ASSERT_NO_FATAL_FAILURE(compare(e, &large));
        ASSERT_NO_FATAL_FAILURE(compare(e, &parts));
    }
}

TEST_F(GpuTest, AGivenMaskAndPredictedCentersStayOnTheCard) {
    test::Dice dice(4);
    for (const int hidden : {1, 7, 64})
        for (const double D : {0.5, 3.0}) {
            Experiment e = given(dice, 65, 1021, 129, 5);
            e.weighting.normalizer = Normalization::local_p;
            e.weighting.local_window = D;
            e.weighting.hidden = hidden;
            Matrix mask = Matrix::Ones(65, 1021), bias = dice.matrix(65, 1021);
            for (int j = 0; j < 1021; ++j) mask(j * 5 % 65, j) = 0;
            for (int j = 0; j < 1021; ++j) bias(j * 7 % 65, j) = -INFINITY;
            e.weights.custom.emplace("mask", CustomMatrix(mask));
            e.weights.custom.emplace("mask_additive", CustomMatrix(bias));
            SCOPED_TRACE("hidden " + std::to_string(hidden) + ", D " + std::to_string(D));
            ASSERT_NO_FATAL_FAILURE(compare(e, gpu_));
            const Trace trace = evaluate(e, {}, {.backend = gpu_}), here = evaluate(e);
            EXPECT_TRUE(trace.find("center"_stage)->buffer.is_on_device());
            EXPECT_TRUE(trace.find("mask"_stage)->buffer.is_on_device());
            // In double as there: at most the last bit differs.
            const auto there = trace.find("center"_stage)->buffer.host().values();
            const auto truth = here.find("center"_stage)->buffer.host().values();
            for (std::size_t i = 0; i < truth.size(); ++i)
                EXPECT_LE(std::abs(there[i] - truth[i]), truth[i] * std::numeric_limits<float>::epsilon());
        }
}

TEST_F(GpuTest, WhatExceedsTheCardsMemoryIsRefusedBeforeItIsMade) {
    GpuBackend full(make_egl_context(true), {.free_bytes = 100'000});
    Experiment e;
    e.attention.heads = 4;
    EXPECT_NO_THROW(evaluate(e, {}, {.backend = &full}));
    const Trace before = evaluate(e, {}, {.backend = &full});
    try {
        const Buffer large(Tensor({.heads = 1, .rows = 300, .columns = 300}));
        const Buffer* const inputs[] = {&large};
        full.compute(op::Identity{}, inputs, {});
        FAIL() << "300 × 300 numbers are 360 kB";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::too_large);
    }
    EXPECT_NO_THROW(evaluate(e, before, {.backend = &full})) << "it goes on";
}

TEST_F(GpuTest, ARowOfACardsValuesIsReadAlone) {
    Experiment e;
    e.attention.heads = 4;
    const Trace trace = evaluate(e, {}, {.backend = gpu_}), expected = evaluate(e);
    const Buffer &weights = trace.find("weights"_stage)->buffer,
                 &truth = expected.find("weights"_stage)->buffer;
    ASSERT_TRUE(weights.is_on_device());
    const Eigen::RowVectorXf row = weights.row(2, 5);
    EXPECT_LE((row - truth.row(2, 5)).cwiseAbs().maxCoeff(), k_rounding);
    EXPECT_EQ(weights.at(2, 5, 3), row(3));
}

TEST_F(GpuTest, RowsAndColumnsOfALargeMatrixAreReadAlone) {
    test::Dice dice(8);
    const Experiment e = given(dice, 290, 310, 4, 3);
    const Trace trace = evaluate(e, {}, {.backend = gpu_});
    const Buffer& scores = trace.find("scores"_stage)->buffer;
    ASSERT_TRUE(scores.is_on_device());
    std::vector<Eigen::RowVectorXf> rows;
    std::vector<Eigen::VectorXf> columns;
    for (const int i : {0, 17, 289}) rows.push_back(scores.row(0, i));
    for (const int j : {0, 17, 309}) columns.push_back(scores.column(0, j));
    const ConstMatrixView whole = scores.host().head(0);
    EXPECT_TRUE(rows[0] == whole.row(0) && rows[1] == whole.row(17) && rows[2] == whole.row(289));
    EXPECT_TRUE(columns[0] == whole.col(0) && columns[1] == whole.col(17) && columns[2] == whole.col(309));
}

TEST_F(GpuTest, AChangeReusesWhatItDoesNotTouch) {
    Experiment e;
    const Trace first = evaluate(e, {}, {.backend = gpu_});
    e.weighting.temperature = 2;
    const Trace second = evaluate(e, first, {.backend = gpu_});
    EXPECT_EQ(second.find("scores"_stage), first.find("scores"_stage));
    EXPECT_NE(second.find("weights"_stage), first.find("weights"_stage));
    EXPECT_NE(evaluate(e, first).find("scores"_stage), first.find("scores"_stage))
        << "the processor reuses its own";
    EXPECT_EQ(second.backend, BackendKind::gpu);
}

TEST_F(GpuTest, CancelingStopsAndLeavesTheCardUsable) {
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(evaluate({}, {}, {.backend = gpu_, .cancel = stop.get_token()}), Canceled);
    test::Dice dice(4);
    const Experiment large = given(dice, 700, 700, 64, 64);
    std::stop_source later;
    std::jthread canceller([&] { later.request_stop(); });
    try {
        evaluate(large, {}, {.backend = gpu_, .cancel = later.get_token()});
    } catch (const Canceled&) {
    }
    ASSERT_NO_FATAL_FAILURE(compare({}, gpu_));
}

TEST_F(GpuTest, WhatNothingLooksAtIsComputedByTheCardWhenItIsAskedFor) {
    Experiment e;
    e.attention.heads = 2;
    e.attention.output_projection = true;
    e.attention.block = Block::post_norm;
    const Trace whole = evaluate(e);
    const EvaluateOptions options{.backend = gpu_, .watched = {.ranges = true, .stage = "weights"_stage}};
    for (const StageInfo* const first : {"context"_stage, "norm_2"_stage}) {
        const Trace trace = evaluate(e, {}, options);
        EXPECT_TRUE(trace.find("weights"_stage)->buffer.is_on_device());
        EXPECT_TRUE(trace.find(first)->buffer.is_waiting());
        for (const StageInfo* const stage : {first, "output"_stage, "norm_2"_stage}) {
            const auto truth = whole.find(stage)->buffer.host().values(),
                       values = trace.find(stage)->buffer.host().values();
            ASSERT_EQ(values.size(), truth.size());
            for (std::size_t i = 0; i < truth.size(); ++i)
                EXPECT_NEAR(values[i], truth[i], k_rounding * std::max(1.0f, std::abs(truth[i])))
                    << stage->name;
        }
    }
}

TEST_F(GpuTest, WhatWaitedIsComputedThereWhenSomethingReadsIt) {
    Experiment e;
    e.attention.heads = 2;
    const Trace before = evaluate(e, {}, {.backend = gpu_, .watched = {.stage = "weights"_stage}});
    ASSERT_TRUE(before.find("context"_stage)->buffer.is_waiting());
    e.attention.output_projection = true;
    const Trace after = evaluate(e, before, {.backend = gpu_});
    EXPECT_EQ(after.find("weights"_stage), before.find("weights"_stage));
    for (const StageInfo* const stage : {"context"_stage, "output"_stage})
        EXPECT_TRUE(after.find(stage)->buffer.is_on_device()) << stage->name;
}

TEST_F(GpuTest, TheProcessorComputesWhatWaitedForACardThatIsGone) {
    Trace trace;
    {
        const auto own = std::make_shared<GpuBackend>(make_egl_context());
        trace = evaluate({}, {}, {.backend = own.get(), .watched = {.stage = "weights"_stage}});
    }
    const Buffer& context = trace.find("context"_stage)->buffer;
    ASSERT_TRUE(context.is_waiting());
    EXPECT_NEAR(context.at(0, 2, 1), evaluate({}).find("context"_stage)->buffer.at(0, 2, 1), k_rounding);
}

TEST_F(GpuTest, ValuesOutliveTheirBackend) {
    Trace trace;
    {
        GpuBackend own(make_egl_context());
        trace = evaluate({}, {}, {.backend = &own});
    }
    EXPECT_NEAR(trace.find("weights"_stage)->buffer.host().head(0).row(0).sum(), 1, 1e-5);
}

TEST(GpuChoiceTest, TheProcessorIsTakenWhereItIsAskedForOrThereIsNoCard) {
    EXPECT_EQ(choose_backend(BackendWish::cpu).backend, nullptr);
    const BackendChoice without =
        choose_backend(BackendWish::automatic, {},
                       []() -> std::unique_ptr<GlContext> { throw Error(ErrorKind::backend, "none"); });
    EXPECT_EQ(without.backend, nullptr);
    EXPECT_EQ(without.reason, "none");
    EXPECT_THROW(parse_backend("cuda"), Error);
}

TEST_F(GpuTest, ARendererOnTheProcessorIsNeverChosenByItself) {
    if (!gpu_->info().is_software) GTEST_SKIP() << "this renderer is a card: " << gpu_->info().renderer;
    const BackendChoice choice = choose_backend(BackendWish::automatic);
    EXPECT_EQ(choice.backend, nullptr);
    EXPECT_TRUE(choice.reason.ends_with("is a software renderer")) << choice.reason;
}

}  // namespace
}  // namespace attnscope
