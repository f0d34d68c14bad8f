#include "app/views/axis_place.h"

#include <algorithm>
#include <cmath>

namespace attnscope {
namespace {

constexpr double k_zoom_per_notch = 1.2;

}  // namespace

int AxisPlace::first() const { return cell_at((view_min - origin) / step, count); }
int AxisPlace::last() const { return cell_at(std::ceil((view_max - origin) / step) - 1, count); }
int AxisPlace::at(float position) const { return cell_at((position - origin) / step, count); }

AxisPlace place_axis(int count, float cell, float low, float high, double factor, double center) {
    const double total = static_cast<double>(cell) * count * factor;
    const double view = std::min(total, static_cast<double>(high - low));
    const double offset = std::clamp(center * total - view / 2, 0.0, total - view);
    return {count, low, static_cast<float>(low + view), low - offset, total / count};
}

double largest_zoom(const MatrixPlace& place) {
    return std::max({1.0, double(place.rows.count), double(place.columns.count)});
}

void zoom_by(Zoom& zoom, const MatrixPlace& place, float notches) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const auto fraction = [](const AxisPlace& axis, float at) { return (at - axis.origin) / axis.size(); };
    const double x = fraction(place.columns, mouse.x), y = fraction(place.rows, mouse.y);
    const double factor =
        std::clamp(zoom.factor * std::pow(k_zoom_per_notch, notches), 1.0, largest_zoom(place));
    const double kept = zoom.factor / factor;
    zoom = {factor, x + (zoom.x - x) * kept, y + (zoom.y - y) * kept};
    if (factor == 1) zoom = {};
}

void pan(Zoom& zoom, const MatrixPlace& place) {
    const ImVec2 moved = ImGui::GetIO().MouseDelta;
    const auto step = [](double center, float pixels, const AxisPlace& axis) {
        const double total = axis.size(), half = (axis.view_max - axis.view_min) / 2 / total;
        return std::clamp(center - pixels / total, half, std::max(half, 1 - half));
    };
    zoom.x = step(zoom.x, moved.x, place.columns);
    zoom.y = step(zoom.y, moved.y, place.rows);
}

void show_cell(Zoom& zoom, const MatrixPlace& place, const Cell& cell, float least, float preferred) {
    const auto middle = [](const AxisPlace& axis, int at) { return (at + 0.5) / axis.count; };
    const auto in_sight = [](const AxisPlace& axis, int at) {
        return axis.begin(at) >= axis.view_min - 0.5f && axis.begin(at + 1) <= axis.view_max + 0.5f;
    };
    const float pitch = std::min(place.rows.pitch(), place.columns.pitch());
    const bool is_large = pitch >= least;
    if (is_large && in_sight(place.rows, cell.row) && in_sight(place.columns, cell.column)) return;
    const double factor = is_large ? zoom.factor : zoom.factor * preferred / pitch;
    zoom = {std::clamp(factor, 1.0, largest_zoom(place)), middle(place.columns, cell.column),
            middle(place.rows, cell.row)};
}

}  // namespace attnscope
