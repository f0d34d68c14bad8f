// The colours of everything that is not data; one table for the window and for pictures.
#pragma once

#include <array>
#include <span>

#include "core/choice.h"
#include "core/picture/color.h"

namespace attnscope {

/// contrast is on pure black, print on pure white.
enum class ThemeKind { dark, light, contrast, print };
constexpr auto choice_names(ThemeKind) {
    using enum ThemeKind;
    return std::to_array<ChoiceName<ThemeKind>>(
        {{dark, "dark"}, {light, "light"}, {contrast, "contrast"}, {print, "print"}});
}

struct Theme {
    ThemeKind choice;
    // Surfaces, from back to front.
    Rgb8 background;
    Rgb8 panel;
    Rgb8 raised;
    Rgb8 line;
    // Text, from strong to weak.
    Rgb8 text;
    Rgb8 secondary;
    Rgb8 faint;
    Rgb8 accent;  ///< focus and selection
    // Cells that hold no number to colour.
    Rgb8 masked;  ///< under the hatch
    Rgb8 hatch;
    Rgb8 nan;
    Rgb8 plus_infinity;
    Rgb8 minus_infinity;
    Rgb8 warning;  ///< text of what needs attention
    // Written into a cell, whichever stands out against its colour.
    Rgb8 on_light;
    Rgb8 on_dark;
    // One hue per dimension, on the edges of a matrix.
    Rgb8 tokens;
    Rgb8 features;
    Rgb8 heads;
};

std::span<const Theme> themes();
const Theme& theme_of(ThemeKind choice);

}  // namespace attnscope
