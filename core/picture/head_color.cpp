#include "core/picture/head_color.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace attnscope {
namespace {

constexpr double k_first_hue = 248;  ///< degrees; about that of the accent
constexpr int k_many_heads = 8;      ///< beyond, neighbors differ in lightness, too

std::uint8_t channel(double linear) {
    const double c = std::clamp(linear, 0.0, 1.0);
    const double encoded = c <= 0.0031308 ? 12.92 * c : 1.055 * std::pow(c, 1 / 2.4) - 0.055;
    return static_cast<std::uint8_t>(std::lround(255 * encoded));
}

/// A color of OKLCH (Ottosson 2020), with as much of its chroma as sRGB has.
Rgb8 oklch(double lightness, double chroma, double degrees) {
    const double hue = degrees * std::numbers::pi / 180;
    for (double c = chroma;; c -= 0.005) {
        const double a = c * std::cos(hue), b = c * std::sin(hue);
        const auto cube = [](double x) { return x * x * x; };
        const double l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b),
                     m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b),
                     s = cube(lightness - 0.0894841775 * a - 1.2914855480 * b);
        const double red = 4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
                     green = -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
                     blue = -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s;
        const auto [least, most] = std::minmax({red, green, blue});
        if ((least >= 0 && most <= 1) || c <= 0) return {channel(red), channel(green), channel(blue)};
    }
}

}  // namespace

Rgb8 head_color(const Theme& theme, int head, int heads) {
    if (head < 0) return theme.text;
    if (heads <= 1) return theme.accent;
    const bool dark = luminance(theme.background) < 0.2;
    const double step = heads > k_many_heads && head % 2 == 1 ? 0.09 : 0;
    const double lightness = dark ? 0.78 - step : 0.5 + step / 2;
    return oklch(lightness, 0.15, k_first_hue + 360.0 * head / heads);
}

}  // namespace attnscope
