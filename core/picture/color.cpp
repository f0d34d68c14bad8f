#include "core/picture/color.h"

#include <algorithm>
#include <cmath>

namespace attnscope {

double luminance(Rgb8 color) {
    const auto linear = [](std::uint8_t channel) {
        const double c = channel / 255.0;
        return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(color.red) + 0.7152 * linear(color.green) + 0.0722 * linear(color.blue);
}

Rgb8 mixed(Rgb8 behind, Rgb8 front, double part) {
    const auto channel = [&](std::uint8_t a, std::uint8_t b) {
        return static_cast<std::uint8_t>(std::lround(a + part * (b - a)));
    };
    return {channel(behind.red, front.red), channel(behind.green, front.green),
            channel(behind.blue, front.blue)};
}

double contrast_ratio(Rgb8 a, Rgb8 b) {
    const auto [darker, lighter] = std::minmax({luminance(a), luminance(b)});
    return (lighter + 0.05) / (darker + 0.05);
}

Rgb8 legible_color(Rgb8 color, Rgb8 background, Rgb8 text) {
    constexpr int k_parts = 20;
    Rgb8 mixture = color;
    for (int part = 1; part <= k_parts && contrast_ratio(mixture, background) < k_least_contrast; ++part)
        mixture = mixed(color, text, part / double(k_parts));
    return mixture;
}

Rgb8 contrasting(Rgb8 background, Rgb8 dark, Rgb8 light) {
    return contrast_ratio(background, dark) > contrast_ratio(background, light) ? dark : light;
}

}  // namespace attnscope
