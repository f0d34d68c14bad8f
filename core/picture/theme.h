// The colors of everything except data: one table for the window and for pictures.
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
    // Cells that hold no number.
    Rgb8 masked;  ///< behind the hatching
    Rgb8 hatch;
    Rgb8 nan;
    Rgb8 plus_infinity;
    Rgb8 minus_infinity;
    Rgb8 warning;  ///< text that needs attention
    // Numbers in a cell, whichever has more contrast with its color.
    Rgb8 on_light;
    Rgb8 on_dark;
    // One hue per dimension, along the edges of a matrix.
    Rgb8 tokens;
    Rgb8 features;
    Rgb8 heads;
};

std::span<const Theme> themes();
const Theme& theme_of(ThemeKind choice);

}  // namespace attnscope
