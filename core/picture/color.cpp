#include "core/picture/color.h"

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

Rgb8 contrasting(Rgb8 background, Rgb8 dark, Rgb8 light) {
    // Contrast by WCAG's formula is equal at 0.18; on saturated middle tones light text is read better than
    // that formula says, and keeps a contrast of 3.6 : 1 or more up to here.
    constexpr double k_middle = 0.24;
    return luminance(background) > k_middle ? dark : light;
}

}  // namespace attnscope
