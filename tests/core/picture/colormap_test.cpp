#include "core/picture/colormap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "core/picture/theme.h"

namespace attnscope {
namespace {

struct KnownEntry {
    ColormapKind map;
    std::size_t index;
    Rgb8 color;
};

/// Entries of matplotlib's tables that are not anchors of ours.
constexpr KnownEntry k_known[] = {
    {ColormapKind::viridis, 0, rgb8(0x440154)},    {ColormapKind::viridis, 32, {71, 45, 123}},
    {ColormapKind::viridis, 64, {59, 82, 139}},    {ColormapKind::viridis, 96, {44, 114, 142}},
    {ColormapKind::viridis, 128, rgb8(0x21918c)},  {ColormapKind::viridis, 160, {40, 174, 128}},
    {ColormapKind::viridis, 192, {94, 201, 98}},   {ColormapKind::viridis, 224, {173, 220, 48}},
    {ColormapKind::viridis, 255, rgb8(0xfde725)},  {ColormapKind::cividis, 0, rgb8(0x00224e)},
    {ColormapKind::cividis, 64, {67, 78, 108}},    {ColormapKind::cividis, 128, {125, 124, 120}},
    {ColormapKind::cividis, 192, {188, 174, 108}}, {ColormapKind::cividis, 255, rgb8(0xfee838)},
    {ColormapKind::magma, 0, rgb8(0x000004)},      {ColormapKind::magma, 64, {81, 18, 124}},
    {ColormapKind::magma, 128, {183, 55, 121}},    {ColormapKind::magma, 192, {252, 137, 97}},
    {ColormapKind::magma, 255, rgb8(0xfcfdbf)},    {ColormapKind::gray, 100, rgb8(0x646464)}};

TEST(ColormapTest, SequentialMapsAreMatplotlibsToOneLevel) {
    for (const KnownEntry& known : k_known) {
        const Colormap& map = colormap_of(known.map);
        const Rgb8 color = map.colors[known.index];
        EXPECT_LE(std::abs(color.red - known.color.red), 1) << map.name << " " << known.index;
        EXPECT_LE(std::abs(color.green - known.color.green), 1) << map.name << " " << known.index;
        EXPECT_LE(std::abs(color.blue - known.color.blue), 1) << map.name << " " << known.index;
    }
}

TEST(ColormapTest, SequentialMapsGrowLighterFromEndToEndAndThoseForPaperDarkerFromWhite) {
    int for_paper = 0;
    for (const Colormap& map : colormaps()) {
        if (map.diverging) continue;
        const bool darkens = map.colors.front() == rgb8(0xffffff);
        for_paper += darkens;
        for (std::size_t i = 4; i < map.colors.size(); ++i) {
            const double step = luminance(map.colors[i]) - luminance(map.colors[i - 4]);
            EXPECT_GE(darkens ? -step : step, 0) << map.name << " " << i;
        }
    }
    EXPECT_EQ(for_paper, 2);
}

TEST(ColormapTest, TheDivergingMapIsNeutralInTheMiddleAndBothArmsAreEquallyLight) {
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

TEST(ColormapTest, NeighborsDifferLittleSoThatNoEdgeIsInvented) {
    for (const Colormap& map : colormaps()) {
        for (std::size_t i = 1; i < map.colors.size(); ++i) {
            const Rgb8 a = map.colors[i - 1];
            const Rgb8 b = map.colors[i];
            EXPECT_LE(std::abs(a.red - b.red) + std::abs(a.green - b.green) + std::abs(a.blue - b.blue), 20)
                << map.name << " " << i;
        }
    }
}

TEST(ColormapTest, AChoiceNamesItsMap) {
    for (const auto& [choice, name] : choices<ColormapKind>()) EXPECT_EQ(colormap_of(choice).name, name);
    EXPECT_EQ(colormaps().size(), choices<ColormapKind>().size() + 1);
    EXPECT_EQ(diverging_colormap().name, "blue-red");
}

TEST(ThemeTest, EveryTextHasTheContrastThatSmallTextNeeds) {
    for (const Theme& theme : themes()) {
        const std::pair<const char*, Rgb8> texts[] = {{"text", theme.text},
                                                      {"secondary", theme.secondary},
                                                      {"faint", theme.faint},
                                                      {"accent", theme.accent},
                                                      {"warning", theme.warning}};
        for (const Rgb8 surface : {theme.background, theme.panel, theme.raised})
            for (const auto& [name, color] : texts)
                EXPECT_GE(contrast_ratio(color, surface), k_least_contrast)
                    << name_of(theme.choice) << " " << name;
        for (const Rgb8 surface : {theme.background, theme.panel, theme.raised})
            EXPECT_GE(contrast_ratio(theme.text, surface), 7) << name_of(theme.choice);
        // A lit chip, what is chosen or under the mouse in a list, a field filled by its value.
        for (const Rgb8 lit :
             {mixed(theme.background, theme.accent, 0.25), mixed(theme.panel, theme.accent, 0.2)})
            for (const Rgb8 color : {theme.text, theme.secondary})
                EXPECT_GE(contrast_ratio(color, lit), k_least_contrast) << name_of(theme.choice);
        EXPECT_GE(contrast_ratio(theme.text, mixed(theme.raised, theme.accent, 0.28)), k_least_contrast);
        EXPECT_GE(contrast_ratio(theme.secondary, mixed(theme.raised, theme.text, 0.07)), k_least_contrast);
    }
    EXPECT_EQ(theme_of(ThemeKind::print).background, rgb8(0xffffff));
}

TEST(ThemeTest, NumbersAreLegibleOnEveryColorOfEveryMap) {
    for (const Theme& theme : themes())
        for (const Colormap& map : colormaps())
            for (const Rgb8 under : map.colors)
                EXPECT_GE(contrast_ratio(under, contrasting(under, theme.on_light, theme.on_dark)),
                          k_least_contrast)
                    << name_of(theme.choice) << " " << map.name;
}

TEST(ThemeTest, AValueInItsColorIsLegibleOnThePanel) {
    for (const Theme& theme : themes())
        for (const Colormap& map : colormaps())
            for (const Rgb8 color : map.colors)
                EXPECT_GE(contrast_ratio(legible_color(color, theme.panel, theme.text), theme.panel),
                          k_least_contrast)
                    << name_of(theme.choice) << " " << map.name;
    EXPECT_EQ(legible_color(rgb8(0xffffff), rgb8(0), rgb8(0xff0000)), rgb8(0xffffff)) << "as it is";
}

}  // namespace
}  // namespace attnscope
