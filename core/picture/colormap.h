// The color maps: the same tables on screen and in exported pictures.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "core/choice.h"
#include "core/picture/color.h"

namespace attnscope {

/// The sequential maps, for probabilities; signed values use the diverging map.
enum class ColormapKind { viridis, cividis, magma, gray, blues, ink };
constexpr auto choice_names(ColormapKind) {
    using enum ColormapKind;
    return std::to_array<ChoiceName<ColormapKind>>({{viridis, "viridis"},
                                                    {cividis, "cividis"},
                                                    {magma, "magma"},
                                                    {gray, "gray"},
                                                    {blues, "blues"},
                                                    {ink, "ink"}});
}

struct Colormap {
    std::string_view name;
    bool diverging;                ///< centered on 0: entries 127 and 128 are the neutral middle
    std::array<Rgb8, 256> colors;  ///< from the smallest value to the largest
};

/// In the order of the menus: viridis, cividis, magma, gray, blues, ink (sequential), blue-red (diverging).
///
/// viridis and magma (S. van der Walt, N. Smith, 2015) and cividis (J. Nuñez, C. Anderton, R. Renslow, 2018,
/// doi:10.1371/journal.pone.0199239) are perceptually uniform, released under CC0 with matplotlib; each of
/// their channels is within one level of matplotlib's table. gray, for slides in one color, goes from black
/// to white in equal steps of sRGB. blues and ink are for paper: they begin at white, so that a small weight
/// leaves it white; the steps of blues are equal in lightness. In blue-red the two arms have the same
/// lightness (CIELAB L*) at the same distance from 0, so that neither sign looks stronger.
std::span<const Colormap> colormaps();
const Colormap& colormap_of(ColormapKind choice);
/// The map for signed values.
const Colormap& diverging_colormap();

}  // namespace attnscope
