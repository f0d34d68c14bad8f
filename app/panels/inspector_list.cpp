#include "app/panels/inspector_list.h"

#include <fmt/format.h>

#include <cmath>

#include "app/ui/widgets.h"

namespace attnscope {

BarScale bar_scale(float left, float right, double smallest, double largest) {
    smallest = std::min(smallest, 0.0);
    largest = std::max(largest, 0.0);
    const double span = largest - smallest;
    const float per_unit = span > 0 ? static_cast<float>((right - left) / span) : 0;
    return {left - static_cast<float>(smallest) * per_unit, per_unit};
}

void bar(const Column& c, const BarScale& scale, float y, float height, double value, Rgb8 color) {
    if (!std::isfinite(value)) return;
    const float end = scale.zero + static_cast<float>(value) * scale.per_unit;
    const float left = std::min(end, scale.zero), right = std::max({end, scale.zero, left + 1});
    value_bar(c.ui, *c.list, {{left, y}, {right, y + height}}, color);
}

void rest_of_list(Desk& desk, const Column& c, const char* id, int count, const std::string& others,
                  const ListLength& length) {
    if (count <= length.most) return;
    bool& whole = desk.state.whole_row;
    const std::string label = whole ? "Show the largest" : fmt::format("Show all {}", count);
    const float width = text_width(c.ui.fonts.body, label) + c.ui.px(16);
    const float room = c.width() - width - c.ui.px(8);
    if (!whole)
        draw_text(c.list, c.ui.fonts.caption, {c.left, c.y() + c.ui.px(5)}, ink(c.ui.theme.secondary), others,
                  Align::left, room);
    ImGui::SetCursorScreenPos({c.right - width, c.y()});
    if (small_button(c.ui, id, label.c_str(), "All of a list, or the largest alone", width)) whole = !whole;
    ImGui::SetCursorScreenPos({c.left, ImGui::GetCursorScreenPos().y});
    c.advance(4);
}

}  // namespace attnscope
