// A color of a screen or a picture: sRGB, 8 bits a channel.
#pragma once

#include <cstdint>

namespace attnscope {

struct Rgb8 {
    std::uint8_t red = 0;
    std::uint8_t green = 0;
    std::uint8_t blue = 0;
    bool operator==(const Rgb8&) const = default;
};

/// The color 0xrrggbb.
constexpr Rgb8 rgb8(std::uint32_t hex) {
    return {static_cast<std::uint8_t>(hex >> 16 & 0xff), static_cast<std::uint8_t>(hex >> 8 & 0xff),
            static_cast<std::uint8_t>(hex & 0xff)};
}

/// Relative luminance, 0 (black) … 1 (white), as WCAG 2.1 defines it.
double luminance(Rgb8 color);

/// The contrast of a text and its background, 1 … 21, as WCAG 2.1 defines it.
double contrast_ratio(Rgb8 a, Rgb8 b);
/// The minimum contrast of every text (WCAG 2.1, level AA).
inline constexpr double k_least_contrast = 4.5;
/// The minimum contrast of a shape that bears meaning (WCAG 2.1, 1.4.11).
inline constexpr double k_least_shape_contrast = 3;

/// `color`, mixed with as much of `text` as it needs to have k_least_contrast on `background`.
Rgb8 legible_color(Rgb8 color, Rgb8 background, Rgb8 text);

/// `front` over `behind` with opacity `part` (0 … 1).
Rgb8 mixed(Rgb8 behind, Rgb8 front, double part);

/// The one of `dark` and `light` text that has more contrast on `background`.
Rgb8 contrasting(Rgb8 background, Rgb8 dark, Rgb8 light);

}  // namespace attnscope
