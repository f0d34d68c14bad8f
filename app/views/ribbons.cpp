#include "app/views/ribbons.h"

#include <algorithm>
#include <cmath>

namespace attnscope {
namespace {

constexpr float k_edge = 1;  ///< pixels over which an edge fades

ImU32 with_alpha(ImU32 color, float part) {
    const auto alpha = static_cast<float>(color >> IM_COL32_A_SHIFT & 0xff);
    return (color & ~IM_COL32_A_MASK) | static_cast<ImU32>(std::lround(alpha * part)) << IM_COL32_A_SHIFT;
}

}  // namespace

Ribbons::Ribbons(ImDrawList& list, float left, float right, int segments) : list_(list) {
    const float width = std::max(1.0f, right - left);
    for (int i = 0; i <= segments; ++i) {
        const float t = static_cast<float>(i) / static_cast<float>(segments);
        const float x = t * (1.5f + t * (t - 1.5f)), dx = 1.5f + t * (3 * t - 3);
        points_.push_back({left + x * width, t * t * (3 - 2 * t), 6 * t * (1 - t) / (dx * width)});
    }
}

void Ribbons::add(float from, float to, float width, ImU32 color) const {
    const float inner = std::max(0.0f, (width - k_edge) / 2), outer = inner + k_edge;
    const ImU32 inside = with_alpha(color, std::min(1.0f, width / k_edge)), none = with_alpha(color, 0);
    const ImVec2 white = ImGui::GetFontTexUvWhitePixel();
    // Across a line: both outer edges, and between them both inner edges or, of a thin line, its middle.
    const int points = static_cast<int>(points_.size()), across = inner > 0 ? 4 : 3;
    list_.PrimReserve((points - 1) * (across - 1) * 6, points * across);
    const unsigned first = list_._VtxCurrentIdx;
    for (const Point& point : points_) {
        const float y = from + point.part * (to - from), slope = point.slope * (to - from);
        const float upright = std::sqrt(1 + slope * slope);  // per pixel across the line
        list_.PrimWriteVtx({point.x, y - outer * upright}, white, none);
        list_.PrimWriteVtx({point.x, y - inner * upright}, white, inside);
        if (inner > 0) list_.PrimWriteVtx({point.x, y + inner * upright}, white, inside);
        list_.PrimWriteVtx({point.x, y + outer * upright}, white, none);
    }
    const auto write = [&](int index) {
        list_.PrimWriteIdx(static_cast<ImDrawIdx>(first + static_cast<unsigned>(index)));
    };
    for (int point = 0; point + 1 < points; ++point)
        for (int strip = 0; strip + 1 < across; ++strip) {
            const int here = point * across + strip, next = here + across;
            for (const int index : {here, next, next + 1, here, next + 1, here + 1}) write(index);
        }
}

}  // namespace attnscope
