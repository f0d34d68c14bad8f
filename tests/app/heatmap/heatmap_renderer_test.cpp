#include "app/heatmap/heatmap_renderer.h"

#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "core/picture/color_scale.h"
#include "core/picture/colormap.h"
#include "core/tensor/buffer.h"
#include "tests/headless.h"
#include "tests/special_numbers.h"

namespace attnscope {
namespace {

using namespace test;

std::uint32_t packed(Rgb8 color) {
    return static_cast<std::uint32_t>(color.red) << 24 | static_cast<std::uint32_t>(color.green) << 16 |
           static_cast<std::uint32_t>(color.blue) << 8 | 0xFFU;
}

ConstMatrixView view(const Matrix& matrix) { return {matrix.data(), matrix.rows(), matrix.cols()}; }

/// rows × columns of different values between -1 and 1, the same in every run.
Matrix waves(int rows, int columns) {
    Matrix matrix(rows, columns);
    for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < columns; ++c)
            matrix(r, c) = std::sin(0.37F * static_cast<float>(r * columns + c));
    }
    return matrix;
}

struct Box {
    float left, top, right, bottom;
};

class HeatmapTest : public HeadlessTest {
protected:
    const Theme& theme() const { return window->host().layer().theme(); }
    HeatmapRenderer& heatmaps() { return window->host().heatmaps(); }

    /// The picture of a frame that draws `source` into `box`, clipped to `clip`.
    gl::Pixels picture(const HeatmapSource& source, const Box& box, const HeatmapLook& look,
                       const Box& clip) {
        FrameCallbacks callbacks;
        callbacks.draw = [&](FrameInput& frame) {
            ImDrawList& list = *ImGui::GetBackgroundDrawList();
            list.PushClipRect({clip.left, clip.top}, {clip.right, clip.bottom});
            frame.heatmaps.draw(list, source, {box.left, box.top, box.right, box.bottom}, look);
            list.PopClipRect();
            // What comes after a heatmap is drawn as ever.
            list.AddRectFilled({0, 0}, {8, 8}, IM_COL32(1, 2, 3, 255));
        };
        window->step(callbacks);
        gl::Pixels pixels = window->pixels();
        EXPECT_EQ(pixels.at(4, 4), 0x010203FFU);
        return pixels;
    }
    gl::Pixels picture(const HeatmapSource& source, const Box& box, const HeatmapLook& look) {
        return picture(source, box, look, {0, 0, k_width, k_height});
    }
    gl::Pixels picture(const Matrix& matrix, const Box& box, const HeatmapLook& look) {
        return picture(HeatmapSource::of(view(matrix), ++key_), box, look);
    }

    /// Whether the rectangle holds only these colors, and each of them.
    void expect_only(const gl::Pixels& pixels, const Box& box, const std::vector<std::uint32_t>& colors) {
        std::vector<int> counts(colors.size(), 0);
        for (int y = static_cast<int>(box.top); y < static_cast<int>(box.bottom); ++y) {
            for (int x = static_cast<int>(box.left); x < static_cast<int>(box.right); ++x) {
                const auto found = std::find(colors.begin(), colors.end(), pixels.at(x, y));
                if (found != colors.end()) ++counts[static_cast<std::size_t>(found - colors.begin())];
            }
        }
        int all = 0;
        for (const int count : counts) {
            EXPECT_GT(count, 0);
            all += count;
        }
        EXPECT_EQ(all, static_cast<int>((box.right - box.left) * (box.bottom - box.top)));
    }

    std::uint64_t key_ = 0;
};

constexpr int k_diverging = 3;

TEST_F(HeatmapTest, EachCellsCenterIsTheTablesColorToTheByte) {
    const Matrix matrix = waves(7, 11);
    for (int table = 0; table < static_cast<int>(colormaps().size()); ++table) {
        const Colormap& map = colormaps()[static_cast<std::size_t>(table)];
        const ColorScale scale{.map = &map, .min = -0.9, .max = 1.1};
        const HeatmapLook look{.table = table, .min = scale.min, .max = scale.max};
        for (const double cell : {3.0, 17.0, 31.3}) {
            const Box box{20.25F, 30.5F, static_cast<float>(20.25 + 11 * cell),
                          static_cast<float>(30.5 + 7 * cell)};
            const gl::Pixels pixels = picture(matrix, box, look);
            for (int r = 0; r < 7; ++r) {
                for (int c = 0; c < 11; ++c) {
                    const int x = static_cast<int>(20.25 + (c + 0.5) * cell);
                    const int y = static_cast<int>(30.5 + (r + 0.5) * cell);
                    ASSERT_EQ(pixels.at(x, y), packed(scale.color(matrix(r, c))))
                        << map.name << r << ", " << c;
                }
            }
        }
    }
}

TEST_F(HeatmapTest, AValueOnTheEdgeOfAStepIsOnTheSideThatExportedPicturesPutIt) {
    const struct {
        double min, max;
    } ranges[] = {{0, 1}, {-85.3, 85.3}, {-1e-7, 1e-7}, {1000000, 1000001}, {-3e30, 3e30}, {0, 0.1}};
    const Colormap& map = colormaps()[k_diverging];
    for (const auto& range : ranges) {
        const ColorScale scale{.map = &map, .min = range.min, .max = range.max};
        Matrix matrix(3, 257);
        for (int i = 0; i < 257; ++i) {
            const auto edge = static_cast<float>(range.min + (range.max - range.min) * i / 256);
            matrix(0, i) = std::nextafter(edge, -k_infinity);
            matrix(1, i) = edge;
            matrix(2, i) = std::nextafter(edge, k_infinity);
        }
        const gl::Pixels pixels = picture(matrix, {10, 20, 10 + 2 * 257, 20 + 3 * 2},
                                          {.table = k_diverging, .min = scale.min, .max = scale.max});
        for (int r = 0; r < 3; ++r) {
            for (int c = 0; c < 257; ++c) {
                ASSERT_EQ(pixels.at(10 + 2 * c, 20 + 2 * r), packed(scale.color(matrix(r, c))))
                    << range.min << " … " << range.max << ": " << r << ", " << c;
            }
        }
    }
}

TEST_F(HeatmapTest, AStepOfOneColorInOneCellIsSeen) {
    Matrix matrix = Matrix::Constant(8, 8, 0.5F);
    const HeatmapLook look{.min = 0, .max = 1};
    const gl::Pixels before = picture(matrix, {100, 100, 228, 228}, look);
    matrix(3, 5) += 1.0F / 256;
    const gl::Pixels after = picture(matrix, {100, 100, 228, 228}, look);
    const int x = 100 + 5 * 16 + 8;
    const int y = 100 + 3 * 16 + 8;
    EXPECT_EQ(before.at(x, y), packed(colormaps()[0].colors[128]));
    EXPECT_EQ(after.at(x, y), packed(colormaps()[0].colors[129]));
}

TEST_F(HeatmapTest, ClosedCellsAreHatchedAlikeAtEveryZoom) {
    const Matrix matrix = Matrix::Constant(4, 4, 0.5F);
    Matrix open = Matrix::Ones(4, 4);
    open.row(2).setZero();
    for (const float cell : {2.0F, 5.0F, 24.0F, 60.0F}) {
        HeatmapSource source = HeatmapSource::of(view(matrix), ++key_);
        source.open = [&](int) { return view(open); };
        const Box box{50, 40, 50 + 4 * cell, 40 + 4 * cell};
        const gl::Pixels pixels = picture(source, box, {.gaps = false});
        EXPECT_EQ(pixels.at(50, 40), packed(colormaps()[0].colors[128]));
        const Box closed{50, 40 + 2 * cell, 50 + 4 * cell, 40 + 3 * cell};
        expect_only(pixels, closed, {packed(theme().hatch), packed(theme().masked)});
        const int y = static_cast<int>(closed.top);
        for (int x = 50; x < static_cast<int>(closed.right); ++x) {
            const bool line = (x - 50 + y - 40) % 6 == 0;
            ASSERT_EQ(pixels.at(x, y), packed(line ? theme().hatch : theme().masked));
        }
    }
}

TEST_F(HeatmapTest, WhatIsNotFiniteHasMarksOfItsOwn) {
    Matrix matrix(1, 4);
    matrix << k_nan, k_infinity, -k_infinity, 0.5F;
    const gl::Pixels pixels = picture(matrix, {40, 40, 200, 80}, {.gaps = false});
    const std::uint32_t mark = packed(theme().on_light);
    const std::uint32_t around[] = {packed(theme().nan), packed(theme().plus_infinity),
                                    packed(theme().minus_infinity)};
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(pixels.at(40 + 40 * i + 20, 60), mark);
        EXPECT_EQ(pixels.at(40 + 40 * i + 1, 41), around[i]);
    }
    EXPECT_EQ(pixels.at(40 + 20 - 6, 60 - 6), mark);   // an arm of the cross
    EXPECT_EQ(pixels.at(40 + 20, 60 - 6), around[0]);  // and between two
    EXPECT_EQ(pixels.at(80 + 20 - 5, 60 + 6), mark);   // the foot of the triangle
    EXPECT_EQ(pixels.at(80 + 20 - 5, 60 - 6), around[1]);
    EXPECT_EQ(pixels.at(120 + 20 - 5, 60 - 6), mark);  // the other way up
    EXPECT_EQ(pixels.at(120 + 20 - 5, 60 + 6), around[2]);
}

TEST_F(HeatmapTest, ASinglePixelThatIsNotFiniteIsSeen) {
    Matrix matrix = Matrix::Constant(300, 300, 0.5F);
    matrix(17, 200) = k_nan;
    matrix(18, 100) = k_infinity;
    matrix(19, 50) = -k_infinity;
    const gl::Pixels pixels = picture(matrix, {10, 10, 310, 310}, {});
    EXPECT_EQ(pixels.at(210, 27), packed(theme().nan));
    EXPECT_EQ(pixels.at(110, 28), packed(theme().plus_infinity));
    EXPECT_EQ(pixels.at(60, 29), packed(theme().minus_infinity));
}

TEST_F(HeatmapTest, APeakOf4096TokensSurvivesIn200Pixels) {
    Tensor tensor({.heads = 1, .rows = 4096, .columns = 4096});
    tensor.head(0).setConstant(0.25F);
    const int peaks[][2] = {{0, 0}, {4095, 4095}, {1234, 3210}, {2047, 2048}};
    for (const auto& peak : peaks) tensor.head(0)(peak[0], peak[1]) = 1;
    tensor.head(0)(3000, 500) = k_nan;
    const Buffer buffer(std::move(tensor));
    HeatmapSource source = HeatmapSource::of(buffer.pooled(0, 0), 1);
    const gl::Pixels from_matrix = picture(source, {50, 50, 250, 250}, {});
    source.values = [&](int level) { return buffer.pooled(0, level); };
    source.levels = buffer.levels();
    source.key = 2;
    const gl::Pixels from_levels = picture(source, {50, 50, 250, 250}, {});
    EXPECT_EQ(from_matrix, from_levels);
    const auto at = [&](int row, int column) {
        return from_levels.at(50 + column * 200 / 4096, 50 + row * 200 / 4096);
    };
    for (const auto& peak : peaks) EXPECT_EQ(at(peak[0], peak[1]), packed(colormaps()[0].colors[255]));
    EXPECT_EQ(at(3000, 500), packed(theme().nan));
    EXPECT_EQ(at(100, 2000), packed(colormaps()[0].colors[64]));
}

TEST_F(HeatmapTest, WhatIsNotKnownYetIsPlainUntilItIs) {
    Tensor tensor({.heads = 1, .rows = 512, .columns = 512});
    tensor.head(0).setConstant(1);
    const Buffer buffer(std::move(tensor));
    HeatmapSource source;
    source.rows = source.columns = 512;
    source.levels = buffer.levels() + 1;
    source.values = [&](int level) { return buffer.known_pooled(0, level); };
    const Box box{50, 50, 150, 150};
    expect_only(picture(source, box, {.gaps = false}), box, {packed(theme().raised)});
    EXPECT_EQ(heatmaps().tiles().uploads(), 0U);
    buffer.pooled(0, buffer.levels());
    expect_only(picture(source, box, {.gaps = false}), box, {packed(colormaps()[0].colors[255])});
}

TEST_F(HeatmapTest, AxesArePooledEachByItsOwnNeed) {
    // 2000 tokens × 4 features in a strip's thumbnail: no column is lost.
    Matrix matrix = Matrix::Zero(2000, 4);
    for (int c = 0; c < 4; ++c) matrix(500 * c + 7, c) = 1;
    const gl::Pixels pixels = picture(matrix, {20, 20, 84, 120}, {.gaps = false});
    const std::uint32_t peak = packed(colormaps()[0].colors[255]);
    const std::uint32_t rest = packed(colormaps()[0].colors[0]);
    for (int c = 0; c < 4; ++c) {
        for (int other = 0; other < 4; ++other) {
            const int y = 20 + (500 * other + 7) * 100 / 2000;
            ASSERT_EQ(pixels.at(20 + 16 * c + 8, y), other == c ? peak : rest) << c << ", " << other;
        }
    }
}

TEST_F(HeatmapTest, PooledMasksAreClosedOnlyWhereNothingIsOpen) {
    Matrix matrix = Matrix::Constant(400, 400, -k_infinity);
    Matrix open = Matrix::Zero(400, 400);
    matrix(100, 100) = 0.75F;
    open(100, 100) = 1;
    HeatmapSource source = HeatmapSource::of(view(matrix), 1);
    source.open = [&](int) { return view(open); };
    const gl::Pixels pixels = picture(source, {0, 50, 100, 150}, {});
    EXPECT_EQ(pixels.at(25, 75), packed(colormaps()[0].colors[192]));
    expect_only(pixels, {0, 100, 100, 150}, {packed(theme().hatch), packed(theme().masked)});
}

TEST_F(HeatmapTest, OnlyWhatIsInSightIsUploadedAndOnlyOnce) {
    Matrix matrix = Matrix::Zero(8192, 8192);
    matrix(5000, 6000) = 1;
    const HeatmapSource source = HeatmapSource::of(view(matrix), 1);
    const float cell = 20;
    const Box box{320 - 6000 * cell, 200 - 5000 * cell, 320 + 2192 * cell, 200 + 3192 * cell};
    const gl::Pixels pixels = picture(source, box, {});
    EXPECT_EQ(pixels.at(330, 210), packed(colormaps()[0].colors[255]));
    EXPECT_EQ(pixels.at(310, 210), packed(colormaps()[0].colors[0]));
    EXPECT_LE(heatmaps().tiles().bytes(), 4U * 256 * 256 * 4);
    const std::size_t uploads = heatmaps().tiles().uploads();
    EXPECT_EQ(picture(source, box, {}), pixels);
    EXPECT_EQ(heatmaps().tiles().uploads(), uploads);
}

TEST_F(HeatmapTest, TilesMeetWithoutASeam) {
    const Matrix matrix = waves(600, 600);
    const ColorScale scale{.map = &colormaps()[k_diverging], .min = -1, .max = 1};
    const double cell = 1.371829;
    const float left = -200.3F;
    const float top = -150.7F;
    const Box box{left, top, static_cast<float>(left + 600 * cell), static_cast<float>(top + 600 * cell)};
    const gl::Pixels pixels = picture(matrix, box, {.table = k_diverging, .min = -1, .max = 1});
    const double width = (static_cast<double>(box.right) - box.left) / 600;
    int different = 0;
    for (int y = 10; y < k_height; ++y) {
        for (int x = 10; x < k_width && x + 0.5 < box.right; ++x) {
            const int column = static_cast<int>((x + 0.5 - left) / width);
            const int row = static_cast<int>((y + 0.5 - top) / width);
            different += pixels.at(x, y) != packed(scale.color(matrix(row, column)));
        }
    }
    // Where a pixel's center falls on the edge of two cells, either is right.
    EXPECT_LE(different, 20);
}

TEST_F(HeatmapTest, RespectsTheClipRectangle) {
    const Matrix matrix = Matrix::Ones(4, 4);
    const gl::Pixels pixels =
        picture(HeatmapSource::of(view(matrix), 1), {20, 20, 220, 220}, {.gaps = false}, {50, 60, 100, 110});
    int drawn = 0;
    for (int y = 0; y < k_height; ++y) {
        for (int x = 0; x < k_width; ++x) drawn += pixels.at(x, y) == packed(colormaps()[0].colors[255]);
    }
    EXPECT_EQ(drawn, 50 * 50);
    EXPECT_EQ(pixels.at(50, 60), packed(colormaps()[0].colors[255]));
}

TEST_F(HeatmapTest, LargeCellsAreAPixelApart) {
    const Matrix matrix = Matrix::Ones(2, 2);
    const std::uint32_t value = packed(colormaps()[0].colors[255]);
    const std::uint32_t gap = packed(theme().background);
    const gl::Pixels large = picture(matrix, {20, 20, 40, 40}, {});
    EXPECT_EQ(large.at(28, 22), value);
    EXPECT_EQ(large.at(29, 22), gap);
    EXPECT_EQ(large.at(30, 22), value);
    EXPECT_EQ(large.at(39, 22), value);  // none behind the last one
    EXPECT_EQ(large.at(22, 29), gap);
    const gl::Pixels small = picture(matrix, {20, 20, 30, 30}, {});
    EXPECT_EQ(small.at(24, 22), value);
}

TEST_F(HeatmapTest, BooleansAreDotsAndHatches) {
    Matrix matrix(1, 2);
    matrix << 1, 0;
    const HeatmapLook look{.style = HeatmapLook::Style::dots, .gaps = false};
    const gl::Pixels large = picture(matrix, {40, 40, 80, 60}, look);
    EXPECT_EQ(large.at(50, 50), packed(theme().secondary));
    EXPECT_EQ(large.at(42, 42), packed(theme().raised));
    expect_only(large, {60, 40, 80, 60}, {packed(theme().hatch), packed(theme().masked)});
    const gl::Pixels small = picture(matrix, {40, 40, 48, 44}, look);
    EXPECT_EQ(small.at(41, 41), packed(theme().secondary));
}

TEST_F(HeatmapTest, TransposesWithoutAnotherMatrix) {
    const Matrix matrix = waves(3, 5);
    HeatmapSource source = HeatmapSource::of(view(matrix), 1);
    source.transposed = true;
    const ColorScale scale{.map = &colormaps()[k_diverging], .min = -1, .max = 1};
    const gl::Pixels pixels = picture(source, {30, 30, 90, 130}, {.table = k_diverging, .min = -1, .max = 1});
    for (int r = 0; r < 5; ++r) {
        for (int c = 0; c < 3; ++c) {
            ASSERT_EQ(pixels.at(30 + 20 * c + 10, 30 + 20 * r + 10), packed(scale.color(matrix(c, r))));
        }
    }
}

TEST_F(HeatmapTest, AnotherOwnersMatrixIsNeverTakenForThisOne) {
    Matrix matrix = Matrix::Zero(2, 2);
    HeatmapSource source = HeatmapSource::of(view(matrix), 1);
    source.owner = std::make_shared<int>(0);
    const Box box{40, 40, 80, 80};
    EXPECT_EQ(picture(source, box, {}).at(50, 50), packed(colormaps()[0].colors[0]));
    matrix.setOnes();
    source.owner.reset();
    source.owner = std::make_shared<int>(0);  // as a rule at the address of the one before
    EXPECT_EQ(picture(source, box, {}).at(50, 50), packed(colormaps()[0].colors[255]));
}

TEST_F(HeatmapTest, ForgetsTilesThatAreNotDrawnAnyMore) {
    for (int i = 0; i < 50; ++i) picture(waves(256, 256), {0, 10, 256, 266}, {});
    EXPECT_EQ(heatmaps().tiles().bytes(), 50U * 256 * 256 * 4);
    FrameCallbacks nothing;
    nothing.draw = [](FrameInput&) {};
    for (int i = 0; i < 70; ++i) window->step(nothing);
    EXPECT_EQ(heatmaps().tiles().bytes(), 0U);
}

TEST_F(HeatmapTest, TheColorBarShowsTheTable) {
    FrameCallbacks callbacks;
    callbacks.draw = [](FrameInput& frame) {
        frame.heatmaps.draw_table(*ImGui::GetBackgroundDrawList(), 0, {20, 20}, {40, 276});
        frame.heatmaps.draw_table(*ImGui::GetBackgroundDrawList(), k_diverging, {60, 20}, {316, 40}, false);
    };
    window->step(callbacks);
    const gl::Pixels pixels = window->pixels();
    for (int i = 0; i < 256; ++i) {
        const auto step = static_cast<std::size_t>(i);
        ASSERT_EQ(pixels.at(30, 275 - i), packed(colormaps()[0].colors[step]));
        ASSERT_EQ(pixels.at(60 + i, 30), packed(colormaps()[k_diverging].colors[step]));
    }
}

TEST(PoolingTest, TakesTheStrongestOfEachBlock) {
    Matrix matrix(2, 8);
    matrix << 1, -3, 2, -2, k_nan, 1, -k_infinity, -k_infinity,  //
        0, 0, 0, 0, k_infinity, 2, -k_infinity, -k_infinity;
    const auto cells = pooled_cells(HeatmapSource::of(view(matrix), 0), {.rows = 1, .columns = 1},
                                    {.row = 0, .column = 0, .rows = 1, .columns = 4})
                           .value();
    ASSERT_EQ(cells.size(), 4U);
    EXPECT_EQ(cells[0], -3);
    EXPECT_EQ(cells[1], 2);  // of two alike the positive one
    EXPECT_TRUE(std::isnan(cells[2]));
    EXPECT_EQ(cells[3], -k_infinity);
}

/// The pooled cells of a matrix as their definition says, one after the other.
std::vector<float> pooled_one_by_one(const Matrix& values, const Matrix* open, bool transposed,
                                     Pooling pooling, const Region& range) {
    std::vector<float> cells;
    for (int r = range.row; r < range.end_row(); ++r)
        for (int c = range.column; c < range.end_column(); ++c) {
            float cell = k_closed_cell;
            bool any = false;
            for (int i = r << pooling.rows; i < (r + 1) << pooling.rows; ++i)
                for (int j = c << pooling.columns; j < (c + 1) << pooling.columns; ++j) {
                    const int row = transposed ? j : i, column = transposed ? i : j;
                    if (row >= values.rows() || column >= values.cols()) continue;
                    if (open && (*open)(row, column) == 0) continue;
                    cell = any ? dominant(cell, values(row, column)) : values(row, column);
                    any = true;
                }
            cells.push_back(cell);
        }
    return cells;
}

TEST(PoolingTest, EveryPoolingOfAMatrixWithAndWithoutAMaskEitherWayRound) {
    std::mt19937 random(3);
    Matrix values(21, 13), open(21, 13);
    for (float& each : std::span(values.data(), 21 * 13)) each = static_cast<float>(random() % 200) - 100;
    for (float& each : std::span(open.data(), 21 * 13)) each = random() % 3 == 0 ? 0.0F : 1.0F;
    values(4, 7) = k_nan;
    values(15, 2) = k_infinity;
    values.row(9).setConstant(-k_infinity);
    open.topLeftCorner(8, 8).setZero();
    for (const bool masked : {false, true})
        for (const bool transposed : {false, true})
            for (int rows = 0; rows <= 4; ++rows)
                for (int columns = 0; columns <= 4; ++columns) {
                    HeatmapSource source = HeatmapSource::of(view(values), 0);
                    source.transposed = transposed;
                    if (masked) source.open = [&](int) { return view(open); };
                    const Pooling pooling{.rows = rows, .columns = columns};
                    const Region all{0, 0, pooled_size(source.drawn_rows(), rows),
                                     pooled_size(source.drawn_columns(), columns)};
                    const Region part{all.rows / 2, all.columns / 3, all.rows - all.rows / 2,
                                      all.columns - all.columns / 3};
                    for (const Region& range : {all, part}) {
                        const std::vector<float> found = pooled_cells(source, pooling, range).value();
                        const std::vector<float> expected =
                            pooled_one_by_one(values, masked ? &open : nullptr, transposed, pooling, range);
                        ASSERT_EQ(found.size(), expected.size());
                        for (std::size_t i = 0; i < found.size(); ++i)
                            EXPECT_TRUE(found[i] == expected[i] ||
                                        (std::isnan(found[i]) && std::isnan(expected[i])))
                                << masked << transposed << rows << columns << " " << i << ": " << found[i]
                                << " instead of " << expected[i];
                    }
                }
}

TEST(PoolingTest, IsTheLeastWithCellsOfAPixel) {
    EXPECT_EQ(pooling_for(1.0, 20.0), (Pooling{.rows = 0, .columns = 0}));
    EXPECT_EQ(pooling_for(0.99, 0.25), (Pooling{.rows = 2, .columns = 1}));
    EXPECT_EQ(pooling_for(200.0 / 4096, 1), (Pooling{.rows = 0, .columns = 5}));
}

}  // namespace
}  // namespace attnscope
