#include "core/picture/colormap.h"

#include <cmath>
#include <cstdint>
#include <vector>

namespace attnscope {
namespace {

struct Anchor {
    double position;  ///< 0 … 255
    std::uint32_t hex;
};

// Entries of matplotlib's tables (CC0), chosen so that linear interpolation misses no channel of any other
// entry by more than one level.
constexpr Anchor k_viridis[] = {{0, 0x440154},   {20, 0x481d6f},  {35, 0x46307e},  {59, 0x3d4d8a},
                                {93, 0x2d708e},  {132, 0x1f948c}, {147, 0x1fa287}, {162, 0x2ab07f},
                                {179, 0x44bf70}, {198, 0x6ccd5a}, {223, 0xaadc32}, {237, 0xd0e11c},
                                {244, 0xe2e418}, {253, 0xf8e621}, {255, 0xfde725}};
constexpr Anchor k_cividis[] = {{0, 0x00224e},   {20, 0x003070},  {23, 0x013271},  {29, 0x143670},
                                {41, 0x293f6e},  {65, 0x444f6c},  {102, 0x666970}, {130, 0x7e7d78},
                                {163, 0x9e9676}, {199, 0xc3b369}, {226, 0xe0cb56}, {244, 0xf5dc41},
                                {251, 0xfde334}, {255, 0xfee838}};
constexpr Anchor k_magma[] = {{0, 0x000004},   {7, 0x03030f},   {20, 0x0e0b2b},  {38, 0x251255},
                              {48, 0x36106b},  {58, 0x471078},  {75, 0x621980},  {105, 0x912b81},
                              {133, 0xbf3a77}, {152, 0xdc4869}, {168, 0xef5d5e}, {182, 0xf8765c},
                              {195, 0xfc8e64}, {213, 0xfeb078}, {239, 0xfde0a1}, {255, 0xfcfdbf}};
constexpr Anchor k_gray[] = {{0, 0x000000}, {255, 0xffffff}};
constexpr Anchor k_ink[] = {{0, 0xffffff}, {255, 0x000000}};
// White, then the blue arm of the map below: L* falls in equal steps from 100 to 29.
constexpr Anchor k_blues[] = {{0, 0xffffff},     {66, 0xb6cedf},  {109.5, 0x82afd1},
                              {161.6, 0x5587ba}, {210, 0x31649f}, {255, 0x24427e}};
// Lightness L* 29, 41.5, 55, 69.5, 81.5 on both arms, 91 in the middle. The middle spans entries 127 and 128:
// 0 itself is drawn neutral, and the table is symmetric.
constexpr Anchor k_blue_red[] = {{0, 0x24427e},     {25.4, 0x31649f},  {50.8, 0x5587ba},  {76.2, 0x82afd1},
                                 {101.6, 0xb6cedf}, {127, 0xe6e6e8},   {128, 0xe6e6e8},   {153.4, 0xebc2a9},
                                 {178.8, 0xe39876}, {204.2, 0xce654d}, {229.6, 0xad3a39}, {255, 0x87152b}};

struct SequentialMap {
    ColormapKind choice;
    std::span<const Anchor> anchors;
};
constexpr std::array<SequentialMap, 6> k_sequential{{{ColormapKind::viridis, k_viridis},
                                                     {ColormapKind::cividis, k_cividis},
                                                     {ColormapKind::magma, k_magma},
                                                     {ColormapKind::gray, k_gray},
                                                     {ColormapKind::blues, k_blues},
                                                     {ColormapKind::ink, k_ink}}};
static_assert(is_table_of<ColormapKind>(k_sequential));

std::uint8_t between(std::uint8_t a, std::uint8_t b, double t) {
    return static_cast<std::uint8_t>(std::floor(a + (b - a) * t + 0.5));
}

Colormap build(std::string_view name, bool diverging, std::span<const Anchor> anchors) {
    Colormap map{.name = name, .diverging = diverging, .colors = {}};
    std::size_t next = 1;
    for (std::size_t i = 0; i < map.colors.size(); ++i) {
        const double position = static_cast<double>(i);
        while (anchors[next].position < position) ++next;
        const Anchor& from = anchors[next - 1];
        const Anchor& to = anchors[next];
        const double t = (position - from.position) / (to.position - from.position);
        const Rgb8 a = rgb8(from.hex);
        const Rgb8 b = rgb8(to.hex);
        map.colors[i] = {between(a.red, b.red, t), between(a.green, b.green, t), between(a.blue, b.blue, t)};
    }
    return map;
}

}  // namespace

std::span<const Colormap> colormaps() {
    static const std::vector<Colormap> maps = [] {
        std::vector<Colormap> built;
        for (const SequentialMap& map : k_sequential)
            built.push_back(build(name_of(map.choice), false, map.anchors));
        built.push_back(build("blue-red", true, k_blue_red));
        return built;
    }();
    return maps;
}

const Colormap& colormap_of(ColormapKind choice) { return colormaps()[static_cast<std::size_t>(choice)]; }

const Colormap& diverging_colormap() { return colormaps().back(); }

}  // namespace attnscope
