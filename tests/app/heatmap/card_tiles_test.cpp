#include "app/heatmap/card_tiles.h"

#include <gtest/gtest.h>

#include <cmath>

#include "app/platform/context.h"
#include "core/gpu/backend.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "tests/gpu_fixture.h"

namespace attnscope {
namespace {

/// A context of the window's kind, and a card that shares its buffers.
class CardTilesTest : public testing::Test {
protected:
    void SetUp() override {
        try {
            context_ = std::make_unique<HeadlessContext>(8, 8);
            gpu_ = std::make_unique<GpuBackend>(context_->context().share(),
                                                GpuOptions{.allocate = test::guarded_room});
        } catch (const Error& error) {
            GTEST_SKIP() << error.what();
        }
        log_ = std::make_unique<gl::DebugLog>();
    }
    void TearDown() override {
        if (log_)
            for (const std::string& error : log_->errors()) ADD_FAILURE() << "OpenGL: " << error;
    }

    /// Given scores with NaN, ±∞ and equal magnitudes, closed here and there.
    Trace trace_of(int queries, int keys) {
        Matrix S(queries, keys);
        for (Eigen::Index i = 0; i < S.size(); ++i) {
            S.data()[i] = std::round(8 * std::sin(0.7f * static_cast<float>(i * i % 1009)));
            if (i % 397 == 5) S.data()[i] = NAN;
            if (i % 211 == 7) S.data()[i] = INFINITY;
            if (i % 89 == 3) S.data()[i] = -INFINITY;
            if (i % 503 == 9) S.data()[i] = k_closed_cell;
        }
        Experiment e;
        e.weights.custom.emplace("scores", CustomMatrix(S));
        e.weights.custom.emplace("value", CustomMatrix(Matrix::Ones(keys, 3)));
        e.weighting.mask = {{MaskForm::window, {20, 9}}};
        e.attention.scale = Scale{Scale::Kind::none, 1};
        return evaluate(e, {}, {.backend = gpu_.get()});
    }

    static HeatmapSource source_of(const Stage& stage, const Stage* mask, bool transposed) {
        HeatmapSource source;
        source.rows = stage.shape().rows;
        source.columns = stage.shape().columns;
        source.transposed = transposed;
        source.levels = stage.buffer.levels() + 1;
        source.values = [&](int level) { return stage.buffer.pooled(0, level); };
        source.card_values = {stage.buffer.device(), 0};
        if (!mask) return source;
        source.open = [mask](int level) { return mask->buffer.pooled(0, level); };
        source.card_open = {mask->buffer.device(), 0};
        return source;
    }

    static std::vector<float> texels(const gl::Texture2D& texture) {
        std::vector<float> cells(static_cast<std::size_t>(texture.width() * texture.height()));
        texture.bind(0);
        glMemoryBarrier(GL_TEXTURE_UPDATE_BARRIER_BIT);
        glGetTexImage(GL_TEXTURE_2D, 0, GL_RED, GL_FLOAT, cells.data());
        return cells;
    }

    std::unique_ptr<HeadlessContext> context_;
    std::unique_ptr<GpuBackend> gpu_;
    std::unique_ptr<gl::DebugLog> log_;
};

TEST_F(CardTilesTest, EveryCellIsTheOneThatTheProcessorPools) {
    CardTiles tiles{ShaderSource()};
    int compared = 0, closed = 0, marked = 0;
    for (const auto& [queries, keys] : {std::pair{300, 700}, std::pair{1, 513}, std::pair{257, 3}}) {
        const Trace trace = trace_of(queries, keys);
        const Stage& masked = *trace.find("masked"_stage);
        ASSERT_TRUE(masked.buffer.is_on_device());
        for (const Stage* mask : {static_cast<const Stage*>(nullptr), trace.find("mask"_stage)})
            for (const bool transposed : {false, true})
                for (const Pooling pooling :
                     {Pooling{0, 0}, Pooling{1, 0}, Pooling{2, 3}, Pooling{0, 5}, Pooling{9, 10}}) {
                    const HeatmapSource source = source_of(masked, mask, transposed);
                    const int tile_row = pooled_size(source.drawn_rows(), pooling.rows) > k_tile_size ? 1 : 0;
                    const Region range = tile_range(source, pooling, tile_row, 0);
                    const gl::Texture2D texture(gl::Texture2D::Format::r32f, range.columns, range.rows);
                    ASSERT_TRUE(tiles.fill(texture, source, pooling, range));
                    const std::vector<float> expected = pooled_cells(source, pooling, range).value();
                    const std::vector<float> actual = texels(texture);
                    ASSERT_EQ(actual.size(), expected.size());
                    for (std::size_t i = 0; i < expected.size(); ++i) {
                        const bool both_nan = std::isnan(actual[i]) && std::isnan(expected[i]);
                        ASSERT_TRUE(both_nan || actual[i] == expected[i])
                            << i << ": " << actual[i] << " is not " << expected[i] << ", " << queries << " × "
                            << keys << ", pooled by " << pooling.rows << ", " << pooling.columns;
                        closed += expected[i] == k_closed_cell;
                        marked += !std::isfinite(expected[i]);
                        ++compared;
                    }
                }
    }
    EXPECT_GT(compared, 300'000);
    EXPECT_GT(closed, 1000);
    EXPECT_GT(marked, 1000);
}

TEST_F(CardTilesTest, WhatDoesNotLieThereIsLeft) {
    CardTiles tiles{ShaderSource()};
    const Trace trace = trace_of(10, 10);
    HeatmapSource source = source_of(*trace.find("masked"_stage), trace.find("mask"_stage), false);
    const gl::Texture2D texture(gl::Texture2D::Format::r32f, 10, 10);
    EXPECT_TRUE(tiles.fill(texture, source, {}, {0, 0, 10, 10}));
    source.card_open.values = nullptr;
    EXPECT_FALSE(tiles.fill(texture, source, {}, {0, 0, 10, 10})) << "the mask lies here alone";
    source.open = nullptr;
    source.card_values.values = nullptr;
    EXPECT_FALSE(tiles.fill(texture, source, {}, {0, 0, 10, 10}));
}

TEST_F(CardTilesTest, MeansAndLargestOfRowsAreTheProcessors) {
    Experiment e;
    e.input.dim = 12;
    e.attention.heads = 3;
    e.weighting.mask = {{MaskForm::valid, {0, 3, 8, 1, 2, 3, 4, 5}}};
    const Trace there = evaluate(e, {}, {.backend = gpu_.get()}), here = evaluate(e);
    const Buffer &a = there.find("weights"_stage)->buffer, &b = here.find("weights"_stage)->buffer;
    ASSERT_TRUE(a.is_on_device());
    EXPECT_TRUE(a.mean().is_on_device());
    EXPECT_TRUE(a.mean().host().head(0).isApprox(b.mean().host().head(0), 1e-5f));
    for (int h = 0; h < 3; ++h) {
        const auto masked_there = there.find("masked"_stage)->buffer.row_largest(h);
        const auto masked_here = here.find("masked"_stage)->buffer.row_largest(h);
        ASSERT_EQ(masked_there.size(), masked_here.size());
        EXPECT_EQ(masked_there[0], -INFINITY);
        for (std::size_t i = 1; i < masked_here.size(); ++i)
            EXPECT_NEAR(masked_there[i], masked_here[i], 1e-5 * std::max(1.0f, std::abs(masked_here[i])));
    }
    EXPECT_TRUE(there.fully_masked(0));
    EXPECT_FALSE(there.fully_masked(1));
}

TEST_F(CardTilesTest, LargestOfColumnsAreTheProcessors) {
    Experiment e;
    e.input.dim = 12;
    e.attention.heads = 3;
    e.weighting.mask = {{MaskForm::valid, {5}}};
    e.attention.softmax_axis = SoftmaxAxis::queries;
    const Trace there = evaluate(e, {}, {.backend = gpu_.get()}), here = evaluate(e);
    ASSERT_TRUE(there.find("masked"_stage)->buffer.is_on_device());
    EXPECT_FALSE(there.fully_masked_column(4));
    EXPECT_TRUE(there.fully_masked_column(5));
    for (int h = 0; h < 3; ++h) {
        const auto masked_there = there.find("masked"_stage)->buffer.column_largest(h);
        const auto masked_here = here.find("masked"_stage)->buffer.column_largest(h);
        ASSERT_EQ(masked_there.size(), masked_here.size());
        for (std::size_t j = 0; j < 5; ++j)
            EXPECT_NEAR(masked_there[j], masked_here[j], 1e-5 * std::max(1.0f, std::abs(masked_here[j])));
        for (std::size_t j = 5; j < masked_here.size(); ++j) EXPECT_EQ(masked_there[j], -INFINITY);
    }

    Matrix scores = Matrix::Ones(3, 4);
    scores(1, 1) = NAN;
    scores(2, 2) = INFINITY;
    scores.col(3).setConstant(-INFINITY);
    e = {};
    e.attention.scale.kind = Scale::Kind::none;
    e.weights.custom.emplace("scores", CustomMatrix(scores));
    const Trace odd = evaluate(e, {}, {.backend = gpu_.get()});
    ASSERT_TRUE(odd.find("masked"_stage)->buffer.is_on_device());
    const std::vector<float> largest = odd.find("masked"_stage)->buffer.column_largest(0);
    EXPECT_EQ(largest[0], 1);
    EXPECT_TRUE(std::isnan(largest[1]));
    EXPECT_EQ(largest[2], INFINITY);
    EXPECT_EQ(largest[3], -INFINITY);
}

}  // namespace
}  // namespace attnscope
