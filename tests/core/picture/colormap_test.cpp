#include "core/picture/colormap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <set>
#include <string>

#include "core/picture/theme.h"

namespace attnscope {
namespace {

struct KnownEntry {
    const char* map;
    std::size_t index;
    Rgb8 color;
};

/// Entries of matplotlib's tables that are no anchors of ours.
constexpr KnownEntry k_known[] = {
    {"viridis", 0, rgb8(0x440154)},    {"viridis", 32, {71, 45, 123}},   {"viridis", 64, {59, 82, 139}},
    {"viridis", 96, {44, 114, 142}},   {"viridis", 128, rgb8(0x21918c)}, {"viridis", 160, {40, 174, 128}},
    {"viridis", 192, {94, 201, 98}},   {"viridis", 224, {173, 220, 48}}, {"viridis", 255, rgb8(0xfde725)},
    {"cividis", 0, rgb8(0x00224e)},    {"cividis", 64, {67, 78, 108}},   {"cividis", 128, {125, 124, 120}},
    {"cividis", 192, {188, 174, 108}}, {"cividis", 255, rgb8(0xfee838)}, {"magma", 0, rgb8(0x000004)},
    {"magma", 64, {81, 18, 124}},      {"magma", 128, {183, 55, 121}},   {"magma", 192, {252, 137, 97}},
    {"magma", 255, rgb8(0xfcfdbf)}};

TEST(colormap_test, sequential_maps_are_matplotlibs_to_one_level) {
    for (const KnownEntry& known : k_known) {
        const Colormap* map = find_colormap(known.map);
        ASSERT_NE(map, nullptr);
        const Rgb8 color = map->colors[known.index];
        EXPECT_LE(std::abs(color.red - known.color.red), 1) << known.map << " " << known.index;
        EXPECT_LE(std::abs(color.green - known.color.green), 1) << known.map << " " << known.index;
        EXPECT_LE(std::abs(color.blue - known.color.blue), 1) << known.map << " " << known.index;
    }
}

TEST(colormap_test, sequential_maps_grow_lighter_from_end_to_end) {
    for (const Colormap& map : colormaps()) {
        if (map.diverging) continue;
        for (std::size_t i = 4; i < map.colors.size(); ++i) {
            EXPECT_GE(luminance(map.colors[i]), luminance(map.colors[i - 4])) << map.name << " " << i;
        }
    }
}

TEST(colormap_test, the_diverging_map_is_neutral_in_the_middle_and_both_arms_are_equally_light) {
    const Colormap& map = diverging_colormap();
    EXPECT_TRUE(map.diverging);
    EXPECT_EQ(map.colors[127], map.colors[128]);
    EXPECT_EQ(map.colors[128], rgb8(0xe6e6e8));
    EXPECT_GT(map.colors[0].blue, map.colors[0].red);
    EXPECT_GT(map.colors[255].red, map.colors[255].blue);
    for (std::size_t i = 0; i < 128; ++i) {
        const double blue = luminance(map.colors[i]);
        const double red = luminance(map.colors[255 - i]);
        EXPECT_NEAR(blue, red, 0.02) << i;
        if (i > 0) {
            EXPECT_GE(blue, luminance(map.colors[i - 1])) << i;
        }
    }
}

TEST(colormap_test, neighbours_differ_little_so_that_no_edge_is_invented) {
    for (const Colormap& map : colormaps()) {
        for (std::size_t i = 1; i < map.colors.size(); ++i) {
            const Rgb8 a = map.colors[i - 1];
            const Rgb8 b = map.colors[i];
            EXPECT_LE(std::abs(a.red - b.red) + std::abs(a.green - b.green) + std::abs(a.blue - b.blue), 20)
                << map.name << " " << i;
        }
    }
}

TEST(colormap_test, maps_are_found_by_name_alone) {
    std::set<std::string_view> names;
    for (const Colormap& map : colormaps()) {
        EXPECT_EQ(find_colormap(map.name), &map);
        names.insert(map.name);
    }
    EXPECT_EQ(names.size(), colormaps().size());
    EXPECT_EQ(find_colormap("Viridis"), nullptr);
    EXPECT_EQ(find_colormap(""), nullptr);
}

TEST(theme_test, text_is_legible_on_every_surface) {
    const auto contrast = [](Rgb8 a, Rgb8 b) {
        const double x = luminance(a) + 0.05;
        const double y = luminance(b) + 0.05;
        return x > y ? x / y : y / x;
    };
    for (const Theme& theme : themes()) {
        EXPECT_EQ(find_theme(theme.name), &theme);
        for (const Rgb8 surface : {theme.background, theme.panel, theme.raised}) {
            EXPECT_GE(contrast(theme.text, surface), 7) << theme.name;
            EXPECT_GE(contrast(theme.secondary, surface), 4.5) << theme.name;
            EXPECT_GE(contrast(theme.warning, surface), 4) << theme.name;
        }
        EXPECT_GE(contrast(theme.faint, theme.background), 3) << theme.name;
    }
    EXPECT_EQ(find_theme("print")->background, rgb8(0xffffff));
    EXPECT_EQ(find_theme("none"), nullptr);
}

TEST(theme_test, numbers_are_legible_on_every_colour_of_every_map) {
    for (const Theme& theme : themes()) {
        for (const Colormap& map : colormaps()) {
            for (const Rgb8 under : map.colors) {
                const Rgb8 text = contrasting(under, theme.on_light, theme.on_dark);
                const double a = luminance(under) + 0.05;
                const double b = luminance(text) + 0.05;
                EXPECT_GE(std::max(a, b) / std::min(a, b), 3) << map.name;
            }
        }
    }
}

}  // namespace
}  // namespace attnscope
