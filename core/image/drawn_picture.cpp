// The built-in picture, in integer arithmetic: each point has a color, and a pixel is the mean of 16 points.
#include <algorithm>
#include <array>
#include <cstddef>

#include "core/image/image.h"

namespace attnscope {
namespace {

constexpr int k_side = 224;
constexpr int k_unit = 8;  ///< units per pixel: points lie on odd eighths

struct Point {
    int x, y;  ///< in units
};
using Color = std::array<int, 3>;

constexpr int units(int pixels) { return pixels * k_unit; }

bool in_rectangle(Point p, int left, int top, int right, int bottom) {
    return p.x >= units(left) && p.x < units(right) && p.y >= units(top) && p.y < units(bottom);
}

/// An ellipse with half-axes a and b.
bool in_ellipse(Point p, int x, int y, int a, int b) {
    const std::int64_t dx = (p.x - units(x)) * std::int64_t{b}, dy = (p.y - units(y)) * std::int64_t{a};
    const std::int64_t reach = std::int64_t{units(a)} * b;
    return dx * dx + dy * dy <= reach * reach;
}

bool in_circle(Point p, int x, int y, int radius) { return in_ellipse(p, x, y, radius, radius); }

/// A triangle: above the line of the base, below the two sides that meet at the apex.
bool in_gable(Point p, int apex_x, int apex_y, int half_width, int base_y) {
    const int below = p.y - units(apex_y);
    return below >= 0 && p.y < units(base_y) &&
           std::abs(p.x - units(apex_x)) * (base_y - apex_y) <= below * half_width;
}

/// A stroke of the given width (pixels) from one end to the other, its ends square to the axes.
bool in_stroke(Point p, int x0, int y0, int x1, int y1, int width) {
    const std::int64_t dx = x1 - x0, dy = y1 - y0;
    const std::int64_t ax = p.x - units(x0), ay = p.y - units(y0);
    const std::int64_t length = dx * dx + dy * dy, along = ax * dx + ay * dy, across = ax * dy - ay * dx;
    return along >= 0 && along <= length * k_unit &&
           4 * across * across <= length * units(width) * units(width);
}

Color mixed(const Color& from, const Color& to, int part, int whole) {
    Color color{};
    for (std::size_t c = 0; c < 3; ++c)
        color[c] = from[c] + (to[c] - from[c]) * std::clamp(part, 0, whole) / whole;
    return color;
}

Color sky(Point p) {
    if (in_circle(p, 182, 40, 19)) return {255, 214, 77};
    const int dx = p.x - units(182), dy = p.y - units(40);
    const int distance = (dx * dx + dy * dy) / (k_unit * k_unit);
    const Color blue = mixed({92, 160, 224}, {205, 229, 247}, p.y, units(150));
    const bool cloud = in_ellipse(p, 52, 42, 24, 9) || in_circle(p, 46, 36, 11) || in_circle(p, 62, 37, 9) ||
                       in_ellipse(p, 122, 26, 17, 6) || in_circle(p, 119, 22, 7);
    if (cloud) return {250, 252, 255};
    return mixed({255, 238, 176}, blue, distance - 19 * 19, 1500);
}

/// The far hills, one parabola each, and the meadow.
Color land(Point p) {
    const auto under = [&](int x, int y, int flatness) {
        const std::int64_t dx = p.x - units(x);
        return p.y > units(y) + dx * dx / units(flatness);
    };
    if (p.y > units(150)) return mixed({133, 190, 92}, {74, 140, 66}, p.y - units(150), units(74));
    if (under(60, 128, 520)) return {112, 172, 104};
    if (under(190, 118, 420)) return {128, 178, 142};
    return sky(p);
}

/// Sets the color and returns true where the house is.
bool house(Point p, Color& color) {
    if (in_gable(p, 74, 78, 52, 116)) return color = {176, 66, 54}, true;
    if (in_rectangle(p, 94, 80, 104, 100)) return color = {148, 82, 66}, true;
    if (!in_rectangle(p, 32, 116, 116, 174)) return false;
    const bool window = in_rectangle(p, 42, 126, 62, 146) || in_rectangle(p, 88, 126, 108, 146);
    const bool bar = in_rectangle(p, 51, 126, 53, 146) || in_rectangle(p, 97, 126, 99, 146) ||
                     in_rectangle(p, 42, 135, 62, 137) || in_rectangle(p, 88, 135, 108, 137);
    if (window) return color = bar ? Color{120, 84, 58} : Color{168, 216, 240}, true;
    if (in_circle(p, 81, 157, 1)) return color = {240, 206, 96}, true;
    if (in_rectangle(p, 66, 138, 84, 174)) return color = {122, 74, 46}, true;
    return color = {240, 222, 186}, true;
}

bool tree(Point p, Color& color) {
    if (in_circle(p, 152, 98, 5) || in_circle(p, 176, 112, 5) || in_circle(p, 158, 122, 5))
        return color = {214, 52, 48}, true;
    if (in_circle(p, 162, 92, 22) || in_circle(p, 148, 110, 19) || in_circle(p, 178, 110, 19) ||
        in_circle(p, 163, 118, 18))
        return color = {52, 122, 58}, true;
    if (in_rectangle(p, 157, 124, 169, 178)) return color = {112, 76, 48}, true;
    return false;
}

bool person(Point p, Color& color) {
    if (in_ellipse(p, 134, 147, 7, 4) && p.y < units(148)) return color = {84, 52, 32}, true;
    if (in_circle(p, 134, 152, 7)) return color = {240, 196, 160}, true;
    if (in_rectangle(p, 128, 159, 140, 180)) return color = {58, 92, 176}, true;
    if (in_stroke(p, 128, 162, 119, 174, 4) || in_stroke(p, 140, 162, 150, 154, 4))
        return color = {58, 92, 176}, true;
    if (in_circle(p, 118, 175, 2) || in_circle(p, 151, 153, 2)) return color = {240, 196, 160}, true;
    if (in_rectangle(p, 128, 180, 133, 198) || in_rectangle(p, 135, 180, 140, 198))
        return color = {66, 60, 76}, true;
    return false;
}

/// The path to the door, wider toward the front.
bool path(Point p) {
    const int below = p.y - units(174);
    return below >= 0 && std::abs(p.x - units(75) - below / 3) <= units(9) + below / 4;
}

Color scene(Point p) {
    Color color{};
    if (person(p, color) || tree(p, color) || house(p, color)) return color;
    if (in_ellipse(p, 134, 198, 12, 3) || in_ellipse(p, 164, 178, 26, 4)) return {70, 122, 58};
    return path(p) ? Color{214, 190, 146} : land(p);
}

Image draw() {
    Image image{k_side, k_side, {}};
    image.rgb.reserve(std::size_t{3} * k_side * k_side);
    for (int y = 0; y < k_side; ++y)
        for (int x = 0; x < k_side; ++x) {
            Color sum{};
            for (int point = 0; point < 16; ++point) {
                const Color color = scene({units(x) + 1 + 2 * (point % 4), units(y) + 1 + 2 * (point / 4)});
                for (std::size_t c = 0; c < 3; ++c) sum[c] += color[c];
            }
            for (const int channel : sum) image.rgb.push_back(static_cast<std::uint8_t>((channel + 8) / 16));
        }
    return image;
}

}  // namespace

const CustomImage& drawn_picture() {
    static const CustomImage picture(draw());
    return picture;
}

}  // namespace attnscope
