#include "core/picture/render_png.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <clocale>
#include <cmath>
#include <limits>
#include <string>

#include "core/cpu/row_blocks.h"
#include "core/error.h"
#include "core/files/file.h"
#include "tests/picture_fixture.h"

namespace attnscope {
namespace {

using namespace test;

Rgb8 middle_of(const Pixels& pixels, const Box& cell) {
    return pixel(pixels, cell.x + cell.width / 2, cell.y + cell.height / 2);
}

Figure figure_of(const StageInfo& info, int n, int cell_size, ThemeKind theme, ColormapKind colormap,
                 bool values, const Formula& formula) {
    const StagePtr stage = make_stage(info, 1, n, n, formula);
    Presentation presentation;
    presentation.cell_size = cell_size;
    presentation.theme = theme;
    presentation.colormap = colormap;
    presentation.values = values;
    return make_figure(make_trace(words(n), {stage}), *stage, k_first, presentation);
}

TEST(RenderPngTest, TheMiddleOfEveryCellHasExactlyTheColorOfItsValue) {
    const TextFace face;
    for (const Colormap& map : colormaps()) {
        const StageInfo& info = map.diverging ? k_scores : k_weights;
        for (const ThemeKind theme : {ThemeKind::dark, ThemeKind::light, ThemeKind::print}) {
            for (const int cell_size : {1, 2, 7, 23, 24, 25, 48}) {
                const auto kind = find_choice<ColormapKind>(map.name).value_or(ColormapKind::viridis);
                const Figure figure =
                    figure_of(info, 17, cell_size, theme, kind, false, [&](int, int r, int c) {
                        return map.diverging ? 40 * noise(r, c) : std::abs(noise(r, c));
                    });
                const FigureLayout layout = lay_out(figure, face);
                const Pixels pixels = render_pixels(figure, face);
                for (int r = 0; r < figure.rows; ++r) {
                    for (int c = 0; c < figure.columns; ++c) {
                        const Rgb8 color = figure.scale.color(figure.values[figure.cell(r, c)]);
                        ASSERT_EQ(middle_of(pixels, layout.cell(figure, r, c)), color)
                            << map.name << " " << name_of(theme) << " " << cell_size << " cell " << r << ","
                            << c;
                    }
                }
            }
        }
    }
}

TEST(RenderPngTest, EveryEntryOfAMapComesOutAsItIsInTheTable) {
    const TextFace face;
    for (const int cell_size : {4, 16}) {
        const Figure figure =
            figure_of(k_weights, 16, cell_size, ThemeKind::dark, ColormapKind::viridis, false,
                      [](int, int r, int c) { return static_cast<float>(16 * r + c) / 255; });
        const FigureLayout layout = lay_out(figure, face);
        const Pixels pixels = render_pixels(figure, face);
        for (int i = 0; i < 256; ++i) {
            const Box cell = layout.cell(figure, i / 16, i % 16);
            const int entry = figure.scale.index(static_cast<float>(i) / 255);
            EXPECT_NEAR(entry, i, 1);
            EXPECT_EQ(middle_of(pixels, cell), figure.scale.map->colors[static_cast<std::size_t>(entry)]);
        }
    }
}

TEST(RenderPngTest, AStepOfOneColorInOneCellIsSeenInThatCellAlone) {
    const TextFace face;
    const Figure before = figure_of(k_weights, 8, 16, ThemeKind::dark, ColormapKind::viridis, false,
                                    [](int, int r, int c) { return r == 0 && c == 0 ? 1.f : 0.5f; });
    Figure after = before;
    after.values[after.cell(3, 5)] = 0.5f + 1.f / 256;
    const FigureLayout layout = lay_out(before, face);
    const Pixels a = render_pixels(before, face);
    const Pixels b = render_pixels(after, face);
    const Box changed = layout.cell(before, 3, 5);
    for (int y = 0; y < a.height; ++y) {
        for (int x = 0; x < a.width; ++x) {
            const bool inside =
                x >= changed.x && x < changed.right() && y >= changed.y && y < changed.bottom();
            ASSERT_EQ(pixel(a, x, y) != pixel(b, x, y), inside) << x << "," << y;
        }
    }
}

TEST(RenderPngTest, CellsAsShapesAndAsAnImageAreTheSamePixels) {
    const TextFace face;
    const Formula formula = [](int, int r, int c) { return noise(r, c); };
    // One more row and column than fits in shapes.
    const Figure large =
        figure_of(k_scores, 257, 24, ThemeKind::print, ColormapKind::viridis, false, formula);
    Figure small = figure_of(k_scores, 100, 24, ThemeKind::print, ColormapKind::viridis, false, formula);
    small.scale = large.scale;
    const FigureLayout large_layout = lay_out(large, face);
    const FigureLayout small_layout = lay_out(small, face);
    const Pixels a = render_pixels(large, face);
    const Pixels b = render_pixels(small, face);
    for (int y = 0; y < small_layout.matrix.height; ++y) {
        for (int x = 0; x < small_layout.matrix.width; ++x) {
            ASSERT_EQ(pixel(a, large_layout.matrix.x + x, large_layout.matrix.y + y),
                      pixel(b, small_layout.matrix.x + x, small_layout.matrix.y + y))
                << x << "," << y;
        }
    }
}

/// Distinct colors of a cell.
std::size_t colors_in(const Pixels& pixels, const Box& cell) {
    std::vector<Rgb8> seen;
    for (int y = cell.y; y < cell.bottom(); ++y) {
        for (int x = cell.x; x < cell.right(); ++x) {
            const Rgb8 color = pixel(pixels, x, y);
            if (std::find(seen.begin(), seen.end(), color) == seen.end()) seen.push_back(color);
        }
    }
    return seen.size();
}

TEST(RenderPngTest, MaskedCellsAreHatchedAndTheirNeighborsAreNot) {
    const TextFace face;
    for (const int cell_size : {4, 8, 12, 48}) {
        const StagePtr mask =
            make_stage(k_mask, 1, 8, 8, [](int, int r, int c) { return c <= r ? 1.f : 0.f; });
        const StagePtr weights =
            make_stage(k_weights, 1, 8, 8, [](int, int r, int c) { return c <= r ? 0.7f : 0.f; });
        const Trace trace = make_trace(sentence(), {mask, weights});
        Presentation presentation;
        presentation.cell_size = cell_size;
        presentation.values = false;
        const Figure figure = make_figure(trace, *weights, k_first, presentation);
        const FigureLayout layout = lay_out(figure, face);
        const Pixels pixels = render_pixels(figure, face);
        std::size_t hatched = 0;
        for (int r = 0; r < 8; ++r) {
            for (int c = 0; c < 8; ++c) {
                const std::size_t colors = colors_in(pixels, layout.cell(figure, r, c));
                if (c <= r) {
                    EXPECT_EQ(colors, 1u) << cell_size << " " << r << "," << c;
                } else {
                    hatched += colors > 1;
                }
            }
        }
        // A very small cell may lie between two lines.
        EXPECT_GE(hatched, cell_size >= 6 ? 28u : 20u) << cell_size;
    }
}

TEST(RenderPngTest, MarksOfWhatIsNotFiniteDifferFromEachOtherAndFromEveryValue) {
    const TextFace face;
    for (const int cell_size : {2, 9, 24, 48}) {
        for (const bool values : {false, true}) {
            const Figure figure =
                figure_of(k_scores, 2, cell_size, ThemeKind::dark, ColormapKind::viridis, values,
                          [](int, int r, int c) {
                              const float all[] = {std::nanf(""), k_infinity, -k_infinity, 3};
                              return all[2 * r + c];
                          });
            const FigureLayout layout = lay_out(figure, face);
            const Pixels pixels = render_pixels(figure, face);
            const auto corner = [&](int r, int c) {
                const Box cell = layout.cell(figure, r, c);
                return pixel(pixels, cell.x, cell.y);
            };
            EXPECT_EQ(corner(0, 0), figure.theme->nan);
            EXPECT_EQ(corner(0, 1), figure.theme->plus_infinity);
            EXPECT_EQ(corner(1, 0), figure.theme->minus_infinity);
            if (cell_size >= 9) {
                EXPECT_GT(colors_in(pixels, layout.cell(figure, 0, 0)), 1u) << cell_size;
            }
            for (const Colormap& map : colormaps()) {
                for (const Rgb8 color : map.colors) EXPECT_NE(color, figure.theme->nan);
            }
        }
    }
}

TEST(RenderPngTest, ValuesAreWrittenLightOnDarkCellsAndDarkOnLightOnes) {
    const TextFace face;
    const Figure figure = figure_of(k_weights, 2, 48, ThemeKind::print, ColormapKind::viridis, true,
                                    [](int, int, int c) { return c == 0 ? 0.001f : 1.f; });
    const FigureLayout layout = lay_out(figure, face);
    const Pixels pixels = render_pixels(figure, face);
    const auto brightest = [&](const Box& cell, bool dark) {
        double extreme = dark ? 1 : 0;
        for (int y = cell.y; y < cell.bottom(); ++y) {
            for (int x = cell.x; x < cell.right(); ++x) {
                const double l = luminance(pixel(pixels, x, y));
                extreme = dark ? std::min(extreme, l) : std::max(extreme, l);
            }
        }
        return extreme;
    };
    EXPECT_GT(brightest(layout.cell(figure, 0, 0), false), 0.5);
    EXPECT_LT(brightest(layout.cell(figure, 0, 1), true), 0.1);
}

TEST(RenderPngTest, TheColorBarShowsTheWholeTableFromBottomToTop) {
    const TextFace face;
    const Figure figure = figure_of(k_weights, 8, 48, ThemeKind::dark, ColormapKind::magma, true,
                                    [](int, int r, int c) { return r == c ? 1.f : 0.f; });
    const FigureLayout layout = lay_out(figure, face);
    const Pixels pixels = render_pixels(figure, face);
    const int x = layout.bar.x + layout.bar.width / 2;
    EXPECT_EQ(pixel(pixels, x, layout.bar.y), figure.scale.map->colors[255]);
    EXPECT_EQ(pixel(pixels, x, layout.bar.bottom() - 1), figure.scale.map->colors[0]);
    EXPECT_EQ(layout.bar.height, layout.matrix.height);
    for (int y = layout.bar.y + 1; y < layout.bar.bottom(); ++y) {
        EXPECT_LE(luminance(pixel(pixels, x, y)), luminance(pixel(pixels, x, y - 1)) + 0.01);
    }
}

TEST(RenderPngTest, ThePictureHasTheMeasuredSizeAndItsMarginsAreEmpty) {
    const TextFace face;
    std::vector<std::string> odd = {"Donaudampfschifffahrtsgesellschaftskapitän",
                                    "שלום",
                                    "مرحبا",
                                    "你好",
                                    "\U0001F600",
                                    "\n",
                                    "\xff",
                                    ""};
    for (const int cell_size : {3, 12, 20, 48}) {
        const StagePtr mask = make_stage(k_mask, 1, 8, 8, [](int, int r, int) { return r == 2 ? 0.f : 1.f; });
        const StagePtr weights = make_stage(k_weights, 1, 8, 8, [](int, int, int) { return 0.125f; });
        Presentation presentation;
        presentation.cell_size = cell_size;
        presentation.title =
            "A long title, 你好, that has to go on in a further line when the matrix is a small one";
        const Figure figure = make_figure(make_trace(odd, {mask, weights}), *weights, k_first, presentation);
        const Pixels pixels = render_pixels(figure, face);
        EXPECT_EQ((Size{pixels.width, pixels.height}), measure(figure, face));
        for (int i = 0; i < 12; ++i) {
            for (int x = 0; x < pixels.width; ++x) {
                ASSERT_EQ(pixel(pixels, x, i), figure.theme->background);
                ASSERT_EQ(pixel(pixels, x, pixels.height - 1 - i), figure.theme->background);
            }
            for (int y = 0; y < pixels.height; ++y) {
                ASSERT_EQ(pixel(pixels, i, y), figure.theme->background);
                ASSERT_EQ(pixel(pixels, pixels.width - 1 - i, y), figure.theme->background);
            }
        }
    }
}

Figure example() {
    return figure_of(k_weights, 8, 48, ThemeKind::dark, ColormapKind::viridis, true,
                     [](int, int r, int c) { return std::abs(noise(r, c)); });
}

TEST(RenderPngTest, TheSessionIsInside) {
    EXPECT_EQ(read_png_session(render_png(example(), "{\"version\": 1}\n"), "test"), "{\"version\": 1}\n");
    EXPECT_THROW(read_png_session(render_png(example(), ""), "test"), Error);
}

TEST(RenderPngTest, EqualFiguresAreEqualBytesInEveryFaceProcessAndLocale) {
    const std::string bytes = render_png(example(), "{}");
    const TextFace face;
    for (int time = 0; time < 2; ++time)
        EXPECT_EQ(collected([&](const ByteSink& to) { write_png(page_of(example(), face), "{}", to); }),
                  bytes);
    const std::string path = testing::TempDir() + "attnscope-render-" + std::to_string(::getpid()) + ".png";
    const pid_t child = ::fork();
    if (child == 0) {
        std::setlocale(LC_ALL, "de_DE.UTF-8");
        ::setenv("LANG", "ar_EG.UTF-8", 1);
        ::setenv("PANGO_LANGUAGE", "ja", 1);
        ::setenv("FONTCONFIG_FILE", "/nonexistent", 1);
        write_file(path, render_png(example(), "{}"));
        std::_Exit(0);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
    EXPECT_EQ(read_file(path), bytes);
    ::unlink(path.c_str());
}

TEST(RenderPngTest, AnEmptyMatrixAndASingleCellArePicturesToo) {
    const TextFace face;
    for (const int n : {0, 1}) {
        const Figure figure = figure_of(k_weights, n, 48, ThemeKind::print, ColormapKind::viridis, true,
                                        [](int, int, int) { return 1.f; });
        const Pixels pixels = render_pixels(figure, face);
        EXPECT_GT(pixels.width, 100);
    }
}

TEST(RenderPngTest, AMillionCellsAreDrawn) {
    const TextFace face;
    const Figure figure =
        figure_of(k_scores, 1024, 1, ThemeKind::dark, ColormapKind::viridis, true,
                  [](int, int r, int c) { return r == 700 && c == 300 ? 9.f : noise(r, c); });
    const FigureLayout layout = lay_out(figure, face);
    const Pixels pixels = render_pixels(figure, face);
    EXPECT_EQ(middle_of(pixels, layout.cell(figure, 700, 300)), figure.scale.map->colors[255]);
}

TEST(RenderPngTest, ALargePictureIsTheSameFromBandToBandAndOnAnyNumberOfThreads) {
    const TextFace face;
    // 300 × 300 cells of 10 pixels: nine bands. Masked cells are hatched by the place of a pixel alone.
    const StagePtr mask =
        make_stage(k_mask, 1, 300, 300, [](int, int r, int c) { return c <= r ? 1.f : 0.f; });
    Presentation presentation;
    presentation.cell_size = 10;
    const Figure figure = make_figure(make_trace(words(300), {mask}), *mask, k_first, presentation);
    const FigureLayout layout = lay_out(figure, face);
    Pixels one, two;
    with_threads(1, [&] { one = render_pixels(figure, face); });
    with_threads(2, [&] { two = render_pixels(figure, face); });
    EXPECT_TRUE(one == two);
    for (int r = 0; r < 300; ++r)
        for (int c = r + 1; c < 300; ++c) {
            const Box cell = layout.cell(figure, r, c);
            for (int y = cell.y; y < cell.bottom(); ++y)
                for (int x = cell.x; x < cell.right(); ++x)
                    ASSERT_EQ(pixel(one, x, y), (x + y) % 6 == 0 ? figure.theme->hatch : figure.theme->masked)
                        << "cell " << r << ", " << c << " at " << x << ", " << y;
        }
}

TEST(RenderPngTest, TitlesAndWordsWithoutEndAreCut) {
    const TextFace face;
    Figure figure = example();
    for (int i = 0; i < 60000; ++i) figure.title += "wörter ";
    figure.row_labels[3] = std::string(1'000'000, 'x');
    const Pixels pixels = render_pixels(figure, face);
    EXPECT_LT(pixels.width, 1000);
    EXPECT_LT(pixels.height, 4000);
}

}  // namespace
}  // namespace attnscope
