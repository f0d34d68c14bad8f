#include "core/picture/theme.h"

#include <algorithm>
#include <array>

namespace attnscope {
namespace {

constexpr Theme k_dark{
    .name = "dark",
    .background = rgb8(0x101318),
    .panel = rgb8(0x161a21),
    .raised = rgb8(0x1f252e),
    .line = rgb8(0x2b333e),
    .text = rgb8(0xe8ebf0),
    .secondary = rgb8(0x9aa5b4),
    .faint = rgb8(0x818d9d),
    .accent = rgb8(0x6cb6ff),
    .masked = rgb8(0x1a1f27),
    .hatch = rgb8(0x4a5564),
    .nan = rgb8(0xff4fc3),
    .plus_infinity = rgb8(0xff9d3e),
    .minus_infinity = rgb8(0x3ec9ff),
    .warning = rgb8(0xffb454),
    .on_light = rgb8(0x000000),
    .on_dark = rgb8(0xffffff),
    .tokens = rgb8(0x4c7aa8),
    .features = rgb8(0xa17a48),
    .heads = rgb8(0x6a9c66),
};

constexpr Theme k_light{
    .name = "light",
    .background = rgb8(0xf4f5f8),
    .panel = rgb8(0xfbfcfd),
    .raised = rgb8(0xe6e9ee),
    .line = rgb8(0xcfd5dd),
    .text = rgb8(0x161a21),
    .secondary = rgb8(0x4d5868),
    .faint = rgb8(0x5c6878),
    .accent = rgb8(0x1162bd),
    .masked = rgb8(0xeceff3),
    .hatch = rgb8(0xa9b3c0),
    .nan = rgb8(0xd6128f),
    .plus_infinity = rgb8(0xe07800),
    .minus_infinity = rgb8(0x0091d0),
    .warning = rgb8(0x925500),
    .on_light = rgb8(0x000000),
    .on_dark = rgb8(0xffffff),
    .tokens = rgb8(0x6f9fd0),
    .features = rgb8(0xc79a5f),
    .heads = rgb8(0x7fb37a),
};

constexpr Theme k_contrast{
    .name = "contrast",
    .background = rgb8(0x000000),
    .panel = rgb8(0x000000),
    .raised = rgb8(0x1c1c1c),
    .line = rgb8(0xb4bac2),
    .text = rgb8(0xffffff),
    .secondary = rgb8(0xf0f2f5),
    .faint = rgb8(0xd0d6dd),
    .accent = rgb8(0x5cd6ff),
    .masked = rgb8(0x000000),
    .hatch = rgb8(0xc4cad2),
    .nan = rgb8(0xff6fd0),
    .plus_infinity = rgb8(0xffa94d),
    .minus_infinity = rgb8(0x5cd6ff),
    .warning = rgb8(0xffd24d),
    .on_light = rgb8(0x000000),
    .on_dark = rgb8(0xffffff),
    .tokens = rgb8(0x7db4ee),
    .features = rgb8(0xe0ad6a),
    .heads = rgb8(0x92d68c),
};

constexpr Theme k_print{
    .name = "print",
    .background = rgb8(0xffffff),
    .panel = rgb8(0xffffff),
    .raised = rgb8(0xeef0f3),
    .line = rgb8(0xc4cad2),
    .text = rgb8(0x000000),
    .secondary = rgb8(0x2e3640),
    .faint = rgb8(0x606a76),
    .accent = rgb8(0x1058ae),
    .masked = rgb8(0xf4f5f7),
    .hatch = rgb8(0x9aa4b0),
    .nan = rgb8(0xd6128f),
    .plus_infinity = rgb8(0xe07800),
    .minus_infinity = rgb8(0x0091d0),
    .warning = rgb8(0x8a4b00),
    .on_light = rgb8(0x000000),
    .on_dark = rgb8(0xffffff),
    .tokens = rgb8(0x6f9fd0),
    .features = rgb8(0xc79a5f),
    .heads = rgb8(0x7fb37a),
};

constexpr std::array k_themes{k_dark, k_light, k_contrast, k_print};

}  // namespace

std::span<const Theme> themes() { return k_themes; }

const Theme* find_theme(std::string_view name) {
    const auto found = std::find_if(k_themes.begin(), k_themes.end(),
                                    [&](const Theme& theme) { return theme.name == name; });
    return found == k_themes.end() ? nullptr : &*found;
}

}  // namespace attnscope
