#include "app/views/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "app/platform/imgui_compat.h"
#include "app/ui/widgets.h"
#include "core/number_text.h"

namespace attnscope {
namespace {

float x_of(const Area& plot, double step, int last) {
    return plot.min.x + plot.width() * static_cast<float>(step / std::max(1, last));
}

void scales(const Ui& ui, const Area& plot, Decades decades) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    ImFont* font = ui.fonts.mono_small;
    const float half = compat::font_size(*font) / 2;
    const int stride = std::max(1, static_cast<int>(std::ceil(static_cast<float>(decades.high - decades.low) *
                                                              ui.px(16) / plot.height())));
    for (int decade = decades.low; decade <= decades.high; decade += stride) {
        const float y = plot.max.y - plot.height() * static_cast<float>(decade - decades.low) /
                                         static_cast<float>(decades.high - decades.low);
        list->AddLine({plot.min.x, y}, {plot.max.x, y}, ink(ui.theme.line, 0.6f));
        draw_text(list, font, {plot.min.x - ui.px(8), y - half}, ink(ui.theme.secondary),
                  fmt::format("{:g}", std::pow(10, decade)), Align::right);
    }
    for (const int percent : {0, 50, 100})
        draw_text(
            list, font,
            {plot.max.x + ui.px(8), plot.max.y - plot.height() * static_cast<float>(percent) / 100 - half},
            ink(ui.theme.secondary), fmt::format("{} %", percent));
}

/// Four units drawn, three left out, along a line.
void dashed(const Ui& ui, const std::vector<ImVec2>& points, ImU32 color) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float period = ui.px(7), drawn = ui.px(4);
    float at = 0;
    for (std::size_t i = 1; i < points.size(); ++i) {
        const ImVec2 a = points[i - 1], b = points[i];
        const float length = std::hypot(b.x - a.x, b.y - a.y);
        for (float begin = 0; begin < length;) {
            const float phase = std::fmod(at + begin, period);
            const float end = std::min(length, begin + (phase < drawn ? drawn : period) - phase + 1e-3f);
            const auto on = [&](float share) {
                return ImVec2{a.x + (b.x - a.x) * share / length, a.y + (b.y - a.y) * share / length};
            };
            if (phase < drawn) list->AddLine(on(begin), on(end), color, ui.px(1.4f));
            begin = end;
        }
        at += length;
    }
}

void dash(const Ui& ui, ImVec2 from, ImVec2 to, const Curve& curve) {
    if (curve.is_dashed) return dashed(ui, {from, to}, ink(curve.color));
    ImGui::GetWindowDrawList()->AddLine(from, to, ink(curve.color), ui.px(2));
}

/// Names in their colors, side by side above the plot's lower edge.
void legend(const Ui& ui, const Area& plot, const std::vector<Curve>& curves) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    float width = 0;
    std::vector<Curve> named;
    std::ranges::copy_if(curves, std::back_inserter(named),
                         [](const Curve& curve) { return !curve.name.empty(); });
    for (const Curve& curve : named) width += text_width(ui.fonts.caption, curve.name) + ui.px(34);
    float x = plot.max.x - width;
    const float y = plot.min.y - ui.px(18);
    for (const Curve& curve : named) {
        dash(ui, {x, y + ui.px(7)}, {x + ui.px(14), y + ui.px(7)}, curve);
        x += ui.px(20) +
             draw_text(list, ui.fonts.caption, {x + ui.px(20), y}, ink(ui.theme.secondary), curve.name) +
             ui.px(14);
    }
}

/// The numbers of the step under the mouse, and what the two scales are.
void curve_help(const Ui& ui, const Area& plot, const std::vector<Curve>& curves, int last) {
    const float x = ImGui::GetIO().MousePos.x, share = (x - plot.min.x) / plot.width();
    const int step = std::clamp(static_cast<int>(std::lround(share * static_cast<float>(last))), 1, last);
    std::string text = fmt::format("step {}", step), left, right;
    for (const Curve& curve : curves) {
        const auto at = static_cast<std::size_t>(step - 1);
        if (curve.name.empty()) continue;
        // The first curve of the run beside is named for the run, whose other curves are dashed.
        const std::string name = curve.is_dashed ? curves.front().name + ", " + curve.name : curve.name;
        (curve.is_logarithmic ? left : right) += "\n" + name;
        if (at < curve.values.size())
            text += fmt::format("\n{}   {}", name,
                                curve.is_logarithmic ? exact_text(curve.values[at])
                                                     : fmt::format("{:.1f} %", 100 * curve.values[at]));
    }
    const float beside = ui.px(44);
    help_over(ui, plot, text);
    help_over(ui, {{plot.min.x - beside, plot.min.y}, {plot.min.x, plot.max.y}}, "Logarithmic:" + left);
    help_over(ui, {{plot.max.x, plot.min.y}, {plot.max.x + beside, plot.max.y}}, "In percent:" + right);
}

}  // namespace

void draw_curves(const Ui& ui, const Area& plot, const std::vector<Curve>& curves, int marked) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddRect(plot.min, plot.max, ink(ui.theme.line), ui.px(3));
    if (curves.empty()) return;
    const int last = last_step(curves);
    const Decades decades = decades_of(curves);
    scales(ui, plot, decades);
    if (const std::optional<int> fall = steepest_fall(curves.front().values)) {
        const float x = x_of(plot, *fall, last);
        for (float y = plot.min.y; y < plot.max.y; y += ui.px(6))
            list->AddLine({x, y}, {x, std::min(y + ui.px(3), plot.max.y)}, ink(ui.theme.secondary));
        draw_text(list, ui.fonts.caption, {x + ui.px(6), plot.min.y + ui.px(4)}, ink(ui.theme.secondary),
                  fmt::format("falls fastest: step {}", *fall));
    }
    for (const Curve& curve : curves) {
        std::vector<ImVec2> points;
        const float width = plot.width() * static_cast<float>(curve.values.size()) / static_cast<float>(last);
        for (const CurvePoint& point : points_of(curve, decades, std::max(1, static_cast<int>(width))))
            points.emplace_back(plot.min.x + static_cast<float>(point.x) * width,
                                plot.max.y - static_cast<float>(point.y) * plot.height());
        if (curve.is_dashed)
            dashed(ui, points, ink(curve.color));
        else
            list->AddPolyline(points.data(), static_cast<int>(points.size()), ink(curve.color), 0,
                              ui.px(1.6f));
    }
    if (marked > 0 && marked <= last) {
        const float x = x_of(plot, marked, last);
        list->AddLine({x, plot.min.y}, {x, plot.max.y}, ink(ui.theme.text, 0.5f), ui.px(1));
    }
    legend(ui, plot, curves);
    if (last > 0) curve_help(ui, plot, curves, last);
}

void draw_step_ticks(const Ui& ui, const Area& area, int last) {
    if (last == 0) return;
    ImDrawList* list = ImGui::GetWindowDrawList();
    for (const int step : step_ticks(last))
        draw_text(list, ui.fonts.mono_small, {x_of(area, step, last), area.min.y}, ink(ui.theme.secondary),
                  std::to_string(step), Align::center);
}

}  // namespace attnscope
