#include "app/views/row_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/ui/widgets.h"
#include "core/graph/explain.h"
#include "core/number_text.h"

namespace attnscope {
namespace {

/// The finite values of a row that stand for the most and the least.
struct Ends {
    float low = 0, high = 0;

    float height_of(float value, float height) const {
        return high > low ? std::abs(value) / (high - low) * height : 0;
    }
};

Ends ends_of(const Eigen::RowVectorXf& values) {
    Ends ends;
    for (const float value : values)
        if (std::isfinite(value)) ends = {std::min(ends.low, value), std::max(ends.high, value)};
    return ends;
}

/// The value of the largest magnitude among columns, which is what a cell of their heatmap shows; 0 if none
/// is finite.
float strongest(const Eigen::RowVectorXf& values, int first, int end) {
    float found = 0;
    for (int j = first; j < end; ++j)
        if (std::isfinite(values(j))) found = dominant(found, values(j));
    return found;
}

}  // namespace

void row_profile(const Ui& ui, const ShownStage& shown, const MatrixPlace& place, const Area& area, int row,
                 const ColorScale& scale) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const bool has_row = row >= 0 && row < shown.rows();
    const Eigen::RowVectorXf values =
        has_row ? shown.row(row) : Eigen::RowVectorXf::Zero(shown.columns()).eval();
    const Ends ends = ends_of(values);
    const float zero = area.max.y - ends.height_of(ends.low, area.height());
    const AxisPlace& columns = place.columns;
    if (has_row && ends.high > ends.low)
        for (float x = std::floor(area.min.x); x < area.max.x;) {
            const int first = columns.at(x + 0.5f);
            const int end = std::max(first + 1, columns.at(x + 1.5f));
            const float right = std::min(area.max.x, std::max(x + 1, std::floor(columns.begin(end))));
            const float value = strongest(values, first, end);
            const float height = ends.height_of(value, area.height());
            if (value != 0)
                value_bar(ui, list,
                          {{x, value > 0 ? zero - std::max(1.0f, height) : zero},
                           {right, value > 0 ? zero : zero + std::max(1.0f, height)}},
                          scale.color(value));
            x = right;
        }
    list.AddLine({area.min.x, zero}, {area.max.x, zero}, ink(ui.theme.line));
    if (!has_row) {
        draw_text(&list, ui.fonts.caption, {area.min.x, area.max.y - ui.px(18)}, ink(ui.theme.faint),
                  "Point at a row to see its profile", Align::left, area.width());
        return;
    }
    const int column = columns.at(ImGui::GetIO().MousePos.x);
    help_over(
        ui, area,
        fmt::format("{} → {}   {}", legible(shown.row_label(row)), legible(shown.column_label(column)),
                    shown.closed(row, column) ? std::string(k_closed_by_mask) : exact_text(values(column))));
    draw_text(&list, ui.fonts.mono_small, {area.max.x + ui.px(8), area.min.y - ui.px(2)}, ink(ui.theme.faint),
              short_text(ends.high));
    help_over(ui, {{area.max.x, area.min.y - ui.px(4)}, {area.max.x + ui.px(60), area.max.y + ui.px(4)}},
              fmt::format("The scale of the bars: {} to {}", exact_text(ends.low), exact_text(ends.high)));
    if (ends.low < 0)
        draw_text(&list, ui.fonts.mono_small, {area.max.x + ui.px(8), area.max.y - ui.px(12)},
                  ink(ui.theme.faint), short_text(ends.low));
}

}  // namespace attnscope
