#include "app/views/ribbons.h"

#include <algorithm>
#include <cmath>

#include "app/ui/widgets.h"

namespace attnscope {
namespace {

constexpr float k_edge = 1;  ///< pixels beside a line in which it fades
constexpr float k_widest = 32;

ImU32 with_alpha(ImU32 color, float part) {
    const auto alpha = static_cast<float>(color >> IM_COL32_A_SHIFT & 0xff);
    return (color & ~IM_COL32_A_MASK) | static_cast<ImU32>(std::lround(alpha * part)) << IM_COL32_A_SHIFT;
}

/// The atlas holds a line of each whole width, seen across, with smooth edges.
ImVec4 across_line(float width) {
    const ImVec4* lines = ImGui::GetIO().Fonts->TexUvLines;
    const int whole = static_cast<int>(width);
    const float part = width - static_cast<float>(whole);
    const ImVec4 &a = lines[whole], &b = lines[whole + 1];
    const auto between = [&](float from, float to) { return from + part * (to - from); };
    return {between(a.x, b.x), between(a.y, b.y), between(a.z, b.z), between(a.w, b.w)};
}

}  // namespace

Ribbons::Ribbons(ImDrawList& list, float left, float right, int segments) : list_(list) {
    const float width = std::max(1.0f, right - left);
    for (int i = 0; i <= segments; ++i) {
        // Closer at both ends, where the curve bends; its middle is almost straight.
        const float u = static_cast<float>(i) / static_cast<float>(segments), t = u * u * (3 - 2 * u);
        const float x = t * (1.5f + t * (t - 1.5f)), dx = 1.5f + t * (3 * t - 3);
        points_.push_back({left + x * width, t * t * (3 - 2 * t), 6 * t * (1 - t) / (dx * width)});
    }
}

void Ribbons::add(float from, float to, float width, ImU32 color) const {
    const float drawn = std::clamp(width, 1.0f, k_widest), half = drawn / 2 + k_edge;
    const ImU32 faded = with_alpha(color, std::min(1.0f, width));
    const ImVec4 uv = across_line(drawn);
    const int points = static_cast<int>(points_.size());
    list_.PrimReserve((points - 1) * 6, points * 2);
    const unsigned first = list_._VtxCurrentIdx;
    for (const Point& point : points_) {
        const float y = from + point.part * (to - from), slope = point.slope * (to - from);
        const float upright = half * std::sqrt(1 + slope * slope);
        list_.PrimWriteVtx({point.x, y - upright}, {uv.x, uv.y}, faded);
        list_.PrimWriteVtx({point.x, y + upright}, {uv.z, uv.w}, faded);
    }
    for (unsigned at = first; at < first + 2 * static_cast<unsigned>(points - 1); at += 2)
        for (const unsigned index : {at, at + 2, at + 3, at, at + 3, at + 1})
            list_.PrimWriteIdx(static_cast<ImDrawIdx>(index));
}

float words_room(const Ui& ui, const std::vector<std::string>& words, float margin, float most) {
    constexpr std::size_t k_measured = 512;
    float width = ui.px(44);
    for (std::size_t i = 0; i < std::min(words.size(), k_measured); ++i)
        width = std::max(width, text_width(ui.fonts.strong, legible(words[i])) + margin);
    return std::min(width, most);
}

}  // namespace attnscope
